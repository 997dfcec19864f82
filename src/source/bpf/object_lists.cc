#include "source/bpf/object_lists.h"

#include <bpf/bpf.h>
// The order matters: skeleton and shared header need errno and the kernel's
// integer names.
#include <cerrno>

#include <bpf/objects.h>
#include <bpf/objects.skel.h>
#include <linux/magic.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "base/fd.h"
#include "source/bpf/loading.h"
#include "source/namespaces.h"

namespace tidemark::source {
namespace {

struct Destroy {
  void operator()(objects_bpf* skeleton) const {
    objects_bpf__destroy(skeleton);
  }
};

constexpr uint64_t kXfsMagic = 0x58465342;  // linux/magic.h has none

// File systems that leave stat to the kernel's own answer: device of the
// superblock, number, size and blocks of the inode.
bool answers_plainly(uint64_t magic) {
  constexpr uint64_t kPlain[] = {EXT4_SUPER_MAGIC, kXfsMagic, TMPFS_MAGIC,
                                 RAMFS_MAGIC, HUGETLBFS_MAGIC};
  return std::ranges::find(kPlain, magic) != std::end(kPlain);
}

// Opened in the name of another file: what overlayfs maps. Such files are not
// counted as open, which has had this bit since 4.19; that for files that stand
// behind others has moved.
bool is_stand_in(const tm_reference& record) {
  constexpr uint32_t kModeNotCounted = 1U << 29;
  return record.is_own == 0 || (record.open_mode & kModeNotCounted) != 0;
}

KernelFile file_of(const tm_reference& record, std::string_view link) {
  constexpr uint32_t kMinorBits = 20;
  constexpr uint64_t kBlockBytes = 512;
  constexpr uint32_t kModeRead = 1;
  constexpr uint32_t kModeWrite = 2;
  constexpr uint32_t kModePath = 1U << 14;
  KernelFile file;
  file.link = link;
  file.facts.mode = record.mode;
  file.facts.link_count = record.link_count;
  file.facts.device_major = record.device >> kMinorBits;
  file.facts.device_minor = record.device & ((1U << kMinorBits) - 1);
  file.facts.inode_id = record.inode;
  file.facts.size_bytes = record.size;
  file.facts.block_bytes = record.blocks * kBlockBytes;
  file.is_as_stat = answers_plainly(record.magic) && !is_stand_in(record);
  file.cached_pages = record.cached_pages;
  file.may_read = (record.open_mode & kModeRead) != 0;
  file.may_write = (record.open_mode & kModeWrite) != 0;
  // A descriptor for the path alone cannot be asked by others either.
  if (record.pipe_pages != 0 && record.pipe_slots == 0 &&
      (record.open_mode & kModePath) == 0) {
    file.empty_pipe_pages = record.pipe_pages;
  }
  return file;
}

// The record at `offset`; 0 when there is none.
struct Record {
  tm_reference head{};
  std::string_view link;
  size_t bytes = 0;
};
Record record_at(std::string_view bytes, size_t offset) {
  Record record;
  if (bytes.size() - offset < sizeof record.head) return record;
  std::memcpy(&record.head, bytes.data() + offset, sizeof record.head);
  const size_t length = record.head.link_bytes;
  if (length == 0 || length > bytes.size() - offset - sizeof record.head) {
    return record;
  }
  record.link = bytes.substr(offset + sizeof record.head, length - 1);
  record.bytes = sizeof record.head + length;
  return record;
}

base::Status read_all(int program, std::string& bytes) {
  const base::Fd link(::bpf_link_create(program, 0, BPF_TRACE_ITER, nullptr));
  if (!link) return bpf_error("cannot start a BPF iterator", errno);
  const base::Fd out(::bpf_iter_create(link.get()));
  if (!out) return bpf_error("cannot start a BPF iterator", errno);
  constexpr size_t kPiece = size_t{64} << 10;
  const auto piece = std::make_unique<char[]>(kPiece);
  while (true) {
    const ssize_t got = ::read(out.get(), piece.get(), kPiece);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return bpf_error("cannot read a BPF iterator", errno);
    if (got == 0) return base::Ok{};
    bytes.append(piece.get(), static_cast<size_t>(got));
  }
}

base::Status read_list(int program, ObjectLists::List& list) {
  base::Status status = read_all(program, list.bytes);
  if (!status) return status;
  for (size_t at = 0; at < list.bytes.size();) {
    const Record record = record_at(list.bytes, at);
    if (record.bytes == 0) break;
    ObjectLists::Span& span =
        list.processes
            .try_emplace(static_cast<int32_t>(record.head.pid),
                         ObjectLists::Span{at, at})
            .first->second;
    at += record.bytes;
    span.end = at;
  }
  list.processes.erase(static_cast<int32_t>(::getpid()));
  return base::Ok{};
}

template <typename Visit>
bool visit_records(const ObjectLists::List& list, int32_t pid,
                   const Visit& visit) {
  const auto span = list.processes.find(pid);
  if (span == list.processes.end()) return false;
  for (size_t at = span->second.begin; at < span->second.end;) {
    const Record record = record_at(list.bytes, at);
    if (record.bytes == 0) break;
    visit(record);
    at += record.bytes;
  }
  return true;
}

// The iterators number processes as the first namespace does.
base::Status check_numbers() {
  constexpr uint64_t kFirstPidNamespace = 0xeffffffc;
  base::Result<base::Directory> self = base::open_directory("/proc/self");
  if (!self) return self.error();
  base::Result<uint64_t> number = read_namespace(*self, "pid");
  if (!number) return number.error();
  if (*number == kFirstPidNamespace) return base::Ok{};
  return base::fail(base::ErrorKind::Unsupported,
                    "BPF iterators number processes as another pid namespace");
}

}  // namespace

base::Result<ObjectLists> ObjectLists::read() {
  base::Status status = check_numbers();
  if (!status) return status.error();
  const BpfLoading loading;
  const std::unique_ptr<objects_bpf, Destroy> skeleton(objects_bpf__open());
  if (!skeleton) return bpf_error("cannot open the BPF programs", ENOMEM);
  const int result = objects_bpf__load(skeleton.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  ObjectLists lists;
  status =
      read_list(skeleton->progs.list_descriptors.prog_fd, lists.descriptors_);
  if (!status) return status.error();
  status = read_list(skeleton->progs.list_mappings.prog_fd, lists.mappings_);
  if (!status) return status.error();
  return lists;
}

bool ObjectLists::descriptors_of(
    int32_t pid,
    const std::function<void(const KernelDescriptor&)>& visit) const {
  return visit_records(descriptors_, pid, [&](const Record& record) {
    visit({record.head.number, file_of(record.head, record.link)});
  });
}

std::unordered_set<uint64_t> ObjectLists::page_owners() const {
  std::unordered_set<uint64_t> owners;
  for (const List* list : {&descriptors_, &mappings_}) {
    for (size_t at = 0; at < list->bytes.size();) {
      const Record record = record_at(list->bytes, at);
      if (record.bytes == 0) break;
      owners.insert(record.head.pages);
      at += record.bytes;
    }
  }
  return owners;
}

bool ObjectLists::mappings_of(
    int32_t pid, const std::function<void(const KernelMapping&)>& visit) const {
  constexpr uint64_t kRead = 1;
  constexpr uint64_t kWrite = 2;
  constexpr uint64_t kExecute = 4;
  // Whether it may become shared; maps prints its letter by this bit too.
  constexpr uint64_t kMayShare = 0x80;
  return visit_records(mappings_, pid, [&](const Record& record) {
    KernelMapping mapping;
    mapping.start_address = record.head.start;
    mapping.end_address = record.head.end;
    const uint64_t flags = record.head.mapping_flags;
    mapping.permissions = {(flags & kRead) != 0, (flags & kWrite) != 0,
                           (flags & kExecute) != 0, (flags & kMayShare) != 0};
    mapping.is_shown_otherwise =
        record.head.is_renamed != 0 || is_stand_in(record.head);
    mapping.file = file_of(record.head, record.link);
    visit(mapping);
  });
}

}  // namespace tidemark::source
