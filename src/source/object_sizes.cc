#include "source/object_sizes.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <unordered_map>

#include "base/page_size.h"
#include "base/text.h"
#include "source/namespaces.h"
#include "source/netlink/socket_memory.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::MemoryObject;
using model::ObjectKind;

using Bytes = model::Reading<uint64_t>;

Bytes unknown_bytes(std::string because) {
  return model::unknown<uint64_t>(std::move(because));
}

// cachestat(2), since 6.5; the headers we build with may be older.
#ifdef SYS_cachestat
constexpr long kCachestatCall = SYS_cachestat;
#else
constexpr long kCachestatCall = 451;
#endif
struct CacheRange {
  uint64_t offset;
  uint64_t length;  // 0: to the end
};

bool is_same(const struct stat& facts, const MemoryObject& object) {
  if (facts.st_ino != object.key.inode_id) return false;
  // Objects of the kernel's own file systems are known by the inode alone.
  if (object.key.device_major == 0 && object.key.device_minor == 0) return true;
  return major(facts.st_dev) == object.key.device_major &&
         minor(facts.st_dev) == object.key.device_minor;
}

base::Error no_longer_there() {
  return base::fail(ErrorKind::Gone,
                    "it was closed, or its process ended, before it was asked");
}

std::string_view family_name(uint8_t family) {
  switch (family) {
    case AF_UNIX:
      return "unix";
    case AF_INET:
      return "ip";
    case AF_INET6:
      return "ip6";
    case AF_NETLINK:
      return "netlink";
    default:
      return "packet";
  }
}

}  // namespace

base::Result<CacheStat> cachestat(int fd) {
  CacheRange range{};
  CacheStat stat{};
  if (::syscall(kCachestatCall, fd, &range, &stat, 0) == 0) return stat;
  if (errno == ENOSYS) {
    return base::fail(ErrorKind::Unsupported,
                      "this kernel has no cachestat (it came with 6.5)");
  }
  return base::fail_errno("cachestat", errno);
}

ObjectSizes::ObjectSizes(const Roots& roots, ObjectWalk& walk,
                         bool swap_is_used)
    : roots_(roots), walk_(walk), swap_is_used_(swap_is_used) {}

void ObjectSizes::measure(size_t index) {
  MemoryObject& object = walk_.table().object(index);
  const ObjectReach& reach = walk_.table().reach(index);
  if (object.is_found_by_pages) {
    object.swap_bytes = object.is_shmem && swap_is_used_
                            ? unknown_bytes("only its pages in RAM were found")
                            : model::known<uint64_t>(0);
    return;
  }
  switch (object.kind) {
    case ObjectKind::File:
    case ObjectKind::DeletedFile:
    case ObjectKind::Tmpfs:
    case ObjectKind::Memfd:
    case ObjectKind::SharedAnon:
      measure_file(object, reach);
      return;
    case ObjectKind::Sysv:
      // Its namespace's table has told all, or could not be read.
      if (!object.swap_bytes && object.swap_bytes.unknown_because.empty()) {
        object.swap_bytes = swap_is_used_
                                ? unknown_bytes("sysvipc/shm does not list it")
                                : model::known<uint64_t>(0);
      }
      return;
    case ObjectKind::Hugetlb:
    case ObjectKind::DmaBuf:
      object.swap_bytes = model::known<uint64_t>(0);  // neither can be
      return;
    case ObjectKind::Pipe:
      measure_pipe(object, reach);
      return;
    case ObjectKind::Device:
      object.size_bytes = unknown_bytes("a device has no size");
      object.alloc_bytes = unknown_bytes("device memory");
      object.swap_bytes = model::known<uint64_t>(0);
      return;
    default:
      return;
  }
}

// Opened for reading and only if it is a regular file that nobody else answers
// for: opening a FIFO waits, a device acts, a server may be away.
base::Result<base::Fd> ObjectSizes::open_regular(
    const MemoryObject& object, const ObjectReach& reach) const {
  const std::string name = std::to_string(reach.pid) + "/" + reach.name;
  // The link may by now lead to something else that must not be opened, so what
  // it leads to is looked at first.
  base::Fd place(
      ::openat(roots_.proc.fd.get(), name.c_str(), O_PATH | O_CLOEXEC));
  if (!place) {
    if (errno == ENOENT) return no_longer_there();
    return base::fail_errno(roots_.proc.join(name), errno);
  }
  struct stat facts {};
  if (::fstat(place.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      !is_same(facts, object)) {
    return no_longer_there();
  }
  const std::string again = "/proc/self/fd/" + std::to_string(place.get());
  base::Fd fd(
      ::open(again.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return base::fail_errno("opening " + roots_.proc.join(name), errno);
  return fd;
}

base::Result<base::Fd> ObjectSizes::borrow(const ObjectReach& reach) {
  constexpr std::string_view kDescriptor = "fd/";
  std::string_view name = reach.name;
  if (!roots_.is_live || !name.starts_with(kDescriptor)) {
    return no_longer_there();
  }
  name.remove_prefix(kDescriptor.size());
  const std::optional<uint64_t> number = base::parse_u64(name);
  if (lender_pid_ != reach.pid) {
    lender_pid_ = reach.pid;
    lender_ =
        base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, reach.pid, 0)));
    // A thread that is not the first of its process: since 6.9.
    constexpr int kThread = O_EXCL;
    if (!lender_) {
      lender_ = base::Fd(
          static_cast<int>(::syscall(SYS_pidfd_open, reach.pid, kThread)));
    }
  }
  if (!number || !lender_) return no_longer_there();
  base::Fd fd(static_cast<int>(
      ::syscall(SYS_pidfd_getfd, lender_.get(), static_cast<int>(*number), 0)));
  if (fd) return fd;
  if (errno == EBADF || errno == ESRCH) return no_longer_there();
  return base::fail_errno("pidfd_getfd", errno);
}

// A borrowed descriptor saves opening the file anew, which takes twice as long;
// where it cannot be had, or was opened for its path alone, that is done.
base::Result<CacheStat> ObjectSizes::ask_cache(const MemoryObject& object,
                                               const ObjectReach& reach) {
  if (reach.pid == 0) return no_longer_there();
  if (walk_.file_systems().type_of(object.key.device_major,
                                   object.key.device_minor) ==
      FileSystemType::Remote) {
    return base::fail(ErrorKind::Unsupported,
                      "on a file system that may wait for a server");
  }
  base::Result<base::Fd> fd = borrow(reach);
  struct stat facts {};
  if (fd && ::fstat(fd->get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
      is_same(facts, object)) {
    base::Result<CacheStat> stat = cachestat(fd->get());
    if (stat || stat.error().kind == ErrorKind::Unsupported) return stat;
  }
  fd = open_regular(object, reach);
  if (!fd) return fd.error();
  return cachestat(fd->get());
}

void ObjectSizes::measure_file(MemoryObject& object, const ObjectReach& reach) {
  // Only maps told of it.
  if (!object.size_bytes) return;
  if (object.is_shmem && !swap_is_used_) {
    object.swap_bytes = model::known<uint64_t>(0);
    return;  // the blocks were all there is to know
  }
  if (!object.is_shmem && object.alloc_bytes) {
    object.swap_bytes = model::known<uint64_t>(0);
    return;  // the walk was told already
  }
  base::Result<CacheStat> stat = ask_cache(object, reach);
  if (!object.is_shmem) {
    object.swap_bytes = model::known<uint64_t>(0);  // written back instead
    object.alloc_bytes =
        stat ? model::known(stat->cached_pages * base::page_bytes())
             : unknown_bytes(reason_of(stat.error()));
    return;
  }
  if (!stat) {
    object.swap_bytes =
        unknown_bytes(reason_of(stat.error()) + "; alloc counts it too");
    return;
  }
  object.alloc_bytes = model::known(stat->cached_pages * base::page_bytes());
  object.swap_bytes = model::known(stat->evicted_pages * base::page_bytes());
}

// A pipe can only be asked through a descriptor, so we borrow its holder's.
void ObjectSizes::measure_pipe(MemoryObject& object, const ObjectReach& reach) {
  const auto fail = [&](const std::string& because) {
    object.size_bytes = unknown_bytes(because);
    object.alloc_bytes = unknown_bytes(because);
  };
  object.swap_bytes = model::known<uint64_t>(0);
  if (object.alloc_bytes) return;  // the walk was told already
  if (!roots_.is_live) return fail("not a process of this machine");
  base::Result<base::Fd> fd = borrow(reach);
  if (!fd) return fail(reason_of(fd.error()));
  struct stat facts {};
  if (::fstat(fd->get(), &facts) != 0 || !is_same(facts, object)) {
    return fail(no_longer_there().what);
  }
  int waiting = 0;
  const int capacity = ::fcntl(fd->get(), F_GETPIPE_SZ);
  // An O_PATH descriptor of a FIFO says no to both.
  if (capacity < 0 || ::ioctl(fd->get(), FIONREAD, &waiting) != 0) {
    return fail(base::fail_errno("asking the pipe", errno).what);
  }
  object.size_bytes = model::known(static_cast<uint64_t>(capacity));
  // It keeps whole pages.
  const uint64_t pages =
      (static_cast<uint64_t>(waiting) + base::page_bytes() - 1) /
      base::page_bytes();
  object.alloc_bytes = model::known(pages * base::page_bytes());
}

std::vector<std::string> measure_sockets(const Roots& roots, ObjectWalk& walk) {
  std::vector<std::string> notes;
  std::unordered_map<uint64_t, parse::SocketMemory> found;
  std::string because = "sock_diag does not list it";
  base::Result<uint64_t> own = 0;
  if (base::Result<base::Directory> self =
          base::open_directory_at(roots.proc, "self")) {
    own = read_namespace(*self, "net");
  }
  const auto take = [&] {
    SocketMemoryAnswer answer = read_socket_memory();
    because = answer.unknown_because;
    for (parse::SocketMemory& socket : answer.sockets) {
      found.emplace(socket.inode_id, std::move(socket));
    }
  };
  if (roots.is_live) take();
  for (const auto& [number, pid] : walk.net_namespaces()) {
    if (!roots.is_live || (own && number == *own)) continue;
    base::Result<base::Directory> process =
        base::open_directory_at(roots.proc, std::to_string(pid));
    if (!process) continue;  // it has ended
    base::Status status = within_namespace(*process, "net", take);
    if (!status) {
      notes.push_back("sockets of network namespace " + std::to_string(number) +
                      " not asked: " + reason_of(status.error()));
    }
  }
  if (!roots.is_live) because = "not a process of this machine";
  for (size_t i = 0; i < walk.table().size(); ++i) {
    MemoryObject& object = walk.table().object(i);
    if (object.kind != ObjectKind::Socket) continue;
    object.swap_bytes = model::known<uint64_t>(0);
    const auto socket = found.find(object.key.inode_id);
    if (socket == found.end()) {
      object.name = "socket";
      object.size_bytes = unknown_bytes(because);
      object.alloc_bytes = unknown_bytes(because);
      continue;
    }
    object.name = family_name(socket->second.family);
    if (!socket->second.name.empty()) object.name += " " + socket->second.name;
    object.size_bytes = model::known(socket->second.limit_bytes);
    object.alloc_bytes = model::known(socket->second.used_bytes);
  }
  return notes;
}

}  // namespace tidemark::source
