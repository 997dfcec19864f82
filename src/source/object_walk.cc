#include "source/object_walk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/page_size.h"
#include "base/text.h"
#include "parse/process_files.h"
#include "source/namespaces.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::MemoryObject;
using model::ObjectKind;
using model::ObjectRights;

constexpr ObjectRights kReadWrite = {true, true, false};

// Descriptors are read so many at a time: a process may have a million.
constexpr size_t kBatch = 16384;
constexpr uint32_t kAll = UINT32_MAX;

bool is_procfs(const base::Directory& directory) {
  struct statfs facts {};
  return ::fstatfs(directory.fd.get(), &facts) == 0 &&
         facts.f_type == PROC_SUPER_MAGIC;
}

std::string bpf_map_name(const parse::ObjectFdInfo& info) {
  constexpr std::string_view kTypes[] = {
      "map",           "hash",        "array",        "prog array",
      "perf events",   "percpu hash", "percpu array", "stack traces",
      "cgroup array",  "lru hash",    "lru per cpu",  "lpm trie",
      "array of maps", "hash of maps"};
  const uint64_t type = info.map_type.value_or(0);
  std::string name(type < std::size(kTypes) ? kTypes[type] : kTypes[0]);
  if (info.key_bytes && info.value_bytes && info.entry_count) {
    name += " of " + std::to_string(*info.entry_count) + " x " +
            std::to_string(*info.key_bytes + *info.value_bytes) + " B";
  }
  return name;
}

// What the kernel takes for the rings: 64 bytes for each submission, 16 for
// each completion, 4 for each index, a head of 320; in whole pages each.
uint64_t io_uring_bytes(const parse::ObjectFdInfo& info) {
  const auto page = base::page_bytes();
  const auto whole = [&](uint64_t bytes) {
    return (bytes + page - 1) / page * page;
  };
  const uint64_t submissions = *info.submission_mask + 1;
  const uint64_t completions = *info.completion_mask + 1;
  return whole(submissions * 64) +
         whole(320 + completions * 16 + submissions * 4);
}

}  // namespace

ObjectRights ObjectWalk::Descriptor::rights() const {
  if (told) return {told->may_read, told->may_write, false};
  return read->rights;
}

ObjectWalk::ObjectWalk(const Roots& roots, const ObjectLists* lists)
    : roots_(roots),
      lists_(lists),
      links_are_live_(is_procfs(roots.proc)),
      file_systems_(links_are_live_) {}

void ObjectWalk::read_process(int32_t pid) {
  base::Result<base::Directory> directory =
      base::open_directory_at(roots_.proc, std::to_string(pid));
  base::Status status = directory
                            ? base::read_file_at(*directory, "stat", buffer_)
                            : base::Status(directory.error());
  base::Result<model::ProcessStat> stat =
      status ? parse::parse_stat(buffer_)
             : base::Result<model::ProcessStat>(status.error());
  model::ObjectProcess process;
  process.id.pid = pid;
  if (!stat) {
    if (stat.error().kind == ErrorKind::NotFound ||
        stat.error().kind == ErrorKind::Gone) {
      ++ended_count_;
      return;
    }
    process.state = state_of(stat.error());
    process.unknown_because = reason_of(stat.error());
    processes_.push_back(std::move(process));
    return;
  }
  std::optional<LivingThread> living = living_thread(*directory, *stat);
  if (stat->is_kernel_thread || has_no_memory(*stat)) return;
  process.id.start_ticks = stat->start_ticks;
  process.name = stat->comm;
  Reader reader;
  reader.pid = pid;
  reader.thread_id = living ? living->id : pid;
  reader.index = processes_.size();
  reader.directory = std::move(living ? living->directory : *directory);
  processes_.push_back(std::move(process));
  enter_namespaces(reader);
  status = take_descriptors(reader) ? base::Ok{} : read_descriptors(reader);
  // Copied trees need not have them.
  const bool is_left_out =
      !status && !roots_.is_live && status.error().kind == ErrorKind::NotFound;
  if (!status && !is_left_out) note_unreadable(reader, status.error());
  status = take_mappings(reader) ? base::Ok{} : read_mappings(reader);
  if (!status) note_unreadable(reader, status.error());
}

// It has ended, or it stands in the list with the reason and what statm, which
// anyone may read, tells of its size.
void ObjectWalk::note_unreadable(const Reader& reader,
                                 const base::Error& error) {
  model::ObjectProcess& process = processes_[reader.index];
  const bool is_gone =
      error.kind == ErrorKind::Gone ||
      (error.kind == ErrorKind::NotFound && roots_.is_live &&
       !base::exists_at(roots_.proc, std::to_string(reader.pid) + "/stat"));
  if (is_gone) {
    if (process.state != model::ProcessState::Gone) ++ended_count_;
    process.state = model::ProcessState::Gone;
    return;
  }
  process.state = state_of(error);
  process.unknown_because = reason_of(error);
  if (!base::read_file_at(reader.directory, "statm", buffer_)) return;
  base::Result<model::Statm> statm = parse::parse_statm(buffer_);
  if (!statm) return;
  process.rss_bytes = statm->resident_pages * base::page_bytes();
}

void ObjectWalk::enter_namespaces(Reader& reader) {
  const auto enter = [&](const char* type, Members& members) -> uint64_t {
    base::Result<uint64_t> number = read_namespace(reader.directory, type);
    if (!number) return 0;
    members.emplace(*number, reader.thread_id);
    return *number;
  };
  const size_t seen = mount_namespaces_.size();
  reader.mount_namespace = enter("mnt", mount_namespaces_);
  reader.ipc_namespace = enter("ipc", ipc_namespaces_);
  enter("net", net_namespaces_);
  // One list of mounts for each namespace; of processes that do not tell theirs
  // it is read for each.
  if (reader.mount_namespace != 0 && mount_namespaces_.size() == seen) return;
  if (!base::read_file_at(reader.directory, "mountinfo", buffer_)) return;
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(buffer_);
  if (mounts) file_systems_.learn(*mounts);
}

// ---- descriptors ------------------------------------------------------------

// The lists tell of processes that /proc would not show us; one that does not
// tell its namespaces is such, and /proc says why.
bool ObjectWalk::take_descriptors(const Reader& reader) {
  if (!lists_ || reader.mount_namespace == 0) return false;
  return lists_->descriptors_of(
      reader.pid, [&](const KernelDescriptor& descriptor) {
        Descriptor found = {reader.directory,
                            std::to_string(descriptor.number),
                            "fd/",
                            descriptor.file.link,
                            &descriptor.file,
                            nullptr};
        found.path += found.number;
        add_found(reader, found);
      });
}

base::Status ObjectWalk::read_descriptors(const Reader& reader) {
  base::Result<base::Directory> fds =
      base::open_directory_at(reader.directory, "fd");
  if (!fds) return fds.error();
  const uint64_t count = count_of_descriptors(*fds);
  const uint32_t asked = read_row_of_descriptors(reader, *fds, count);
  if (asked == kAll) return base::Ok{};
  base::Result<std::vector<std::string>> names = base::list_directory(*fds);
  if (!names) return names.error();
  std::vector<uint32_t> numbers;
  for (const std::string& name : *names) {
    const std::optional<uint64_t> number = base::parse_u64(name);
    if (number && *number >= asked && *number <= INT32_MAX) {
      numbers.push_back(static_cast<uint32_t>(*number));
    }
  }
  for (size_t i = 0; i < numbers.size(); i += kBatch) {
    read_numbers(
        reader, *fds,
        std::span(numbers).subspan(i, std::min(kBatch, numbers.size() - i)));
  }
  return base::Ok{};
}

// Since 6.2 the directory's size tells how many there are; 0: not told.
uint64_t ObjectWalk::count_of_descriptors(const base::Directory& fds) const {
  if (!links_are_live_) return 0;
  base::Result<FileFacts> facts = stat_at(fds, ".", false);
  return facts ? facts->size_bytes : 0;
}

// Those from 0 on, until all `count` are found: kAll. Nearly always there are
// few gaps between them, and the directory need not be listed, which costs the
// kernel a third of what reading the links does.
uint32_t ObjectWalk::read_row_of_descriptors(const Reader& reader,
                                             const base::Directory& fds,
                                             uint64_t count) {
  const uint64_t most = std::min<uint64_t>(count + count / 4, INT32_MAX);
  uint64_t left = count;
  uint64_t next = 0;
  std::vector<uint32_t> numbers;
  while (left > 0 && next < most) {
    // Beyond the count there is what fills the gaps before it, and no more.
    numbers.resize(std::min({left, most - next, uint64_t{kBatch}}));
    std::iota(numbers.begin(), numbers.end(), static_cast<uint32_t>(next));
    left -= std::min(left, read_numbers(reader, fds, numbers));
    next += numbers.size();
  }
  return count > 0 && left == 0 ? kAll : static_cast<uint32_t>(next);
}

uint64_t ObjectWalk::read_numbers(const Reader& reader,
                                  const base::Directory& fds,
                                  std::span<const uint32_t> numbers) {
  const std::vector<FoundDescriptor> all =
      source::read_descriptors(fds, numbers, links_are_live_);
  uint64_t count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_there) continue;
    const std::string number = std::to_string(numbers[i]);
    add_found(reader, {fds, number, number, all[i].link, nullptr, &all[i]});
    ++count;
  }
  return count;
}

void ObjectWalk::add_found(const Reader& reader, const Descriptor& found) {
  using Type = parse::DescriptorLink::Type;
  const parse::DescriptorLink link = parse::parse_descriptor_link(found.link);
  switch (link.type) {
    case Type::Socket: {
      const size_t index =
          table_.find_or_add({ObjectKind::Socket, 0, 0, link.inode_id, 0});
      add_descriptor(reader, index, found.number, kReadWrite);
      return;
    }
    case Type::Pipe:
      add_pipe(reader, found, {ObjectKind::Pipe, 0, 0, link.inode_id, 0},
               "pipe");
      return;
    case Type::AnonInode:
      add_anon_inode(reader, found, link.name);
      return;
    case Type::Namespace:
    case Type::Other:
      add_descriptor(reader, object_of_handle("namespace"), found.number,
                     {true, false, false});
      return;
    case Type::Path:
      if (links_are_live_) add_path(reader, found);
      return;
  }
}

void ObjectWalk::add_pipe(const Reader& reader, const Descriptor& found,
                          const model::ObjectKey& key, std::string_view name) {
  const size_t index = table_.find_or_add(key);
  MemoryObject& object = table_.object(index);
  if (table_.is_new()) {
    object.name = name;
    // One that holds something is asked how much.
    if (found.told && found.told->empty_pipe_pages) {
      object.size_bytes =
          model::known(*found.told->empty_pipe_pages * base::page_bytes());
      object.alloc_bytes = model::known<uint64_t>(0);
    }
  }
  add_descriptor(reader, index, found.number, found.rights());
}

void ObjectWalk::add_descriptor(const Reader& reader, size_t index,
                                const std::string& number,
                                ObjectRights rights) {
  model::ObjectReference& reference = table_.reference(index, reader.index);
  ++reference.descriptor_count;
  reference.rights.add(rights);
  ObjectReach& reach = table_.reach(index);
  // Handles are never measured.
  if (reach.pid == 0 && table_.object(index).kind != ObjectKind::Handle) {
    reach = {reader.thread_id, "fd/" + number};
  }
}

// Types of anonymous inodes share one inode, so each type is one row; BPF
// objects have numbers of their own and io_uring an inode.
void ObjectWalk::add_anon_inode(const Reader& reader, const Descriptor& found,
                                std::string_view type) {
  const bool is_bpf = type == "bpf-map" || type == "bpf-prog";
  const bool is_ring = type == kIoUring;
  base::Result<parse::ObjectFdInfo> info = parse::ObjectFdInfo();
  if (is_bpf || is_ring) {
    base::Status read =
        base::read_file_at(reader.directory, "fdinfo/" + found.number, buffer_);
    info = read ? parse::parse_object_fdinfo(buffer_)
                : base::Result<parse::ObjectFdInfo>(read.error());
  }
  size_t index = kNone;
  if (is_bpf && info && (info->map_id || info->program_id)) {
    index = object_of_bpf(*info);
  } else if (is_ring && links_are_live_) {
    base::Result<FileFacts> facts = stat_at(found.directory, found.path, true);
    if (!facts) return;  // closed meanwhile
    index = object_of_ring(*facts, info);
  } else {
    index = object_of_handle(type);
  }
  add_descriptor(reader, index, found.number, kReadWrite);
}

size_t ObjectWalk::object_of_bpf(const parse::ObjectFdInfo& info) {
  const ObjectKind kind =
      info.map_id ? ObjectKind::BpfMap : ObjectKind::BpfProgram;
  const size_t index = table_.find_or_add(
      {kind, 0, 0, info.map_id ? *info.map_id : *info.program_id, 0});
  if (table_.is_new()) {
    MemoryObject& object = table_.object(index);
    object.name = info.map_id ? bpf_map_name(info) : "program";
    set_kernel_bytes(object, info.memlock_bytes, "no memlock in its fdinfo");
  }
  return index;
}

size_t ObjectWalk::object_of_ring(
    const FileFacts& facts, const base::Result<parse::ObjectFdInfo>& info) {
  const size_t index =
      table_.find_or_add({ObjectKind::IoUring, 0, 0, facts.inode_id, 0});
  MemoryObject& object = table_.object(index);
  // A mapping may have found it first, which tells no size.
  if (object.size_bytes) return index;
  object.name = kIoUring;
  const bool has_rings = info && info->submission_mask && info->completion_mask;
  set_kernel_bytes(
      object, has_rings ? std::optional(io_uring_bytes(*info)) : std::nullopt,
      info ? "its fdinfo tells no rings" : reason_of(info.error()));
  return index;
}

void ObjectWalk::add_path(const Reader& reader, const Descriptor& found) {
  const auto has_memory = [](uint32_t mode) {
    return S_ISREG(mode) || S_ISFIFO(mode);
  };
  // Directories, terminals and the like have no memory to show.
  if (found.told && !has_memory(found.told->facts.mode)) return;
  std::optional<FileFacts> facts;
  if (found.read) {
    facts = found.read->target;
  } else if (found.told->is_as_stat) {
    facts = found.told->facts;
  } else if (base::Result<FileFacts> asked =
                 stat_at(found.directory, found.path, true)) {
    facts = *asked;
  }
  // Closed meanwhile, or nothing to show.
  if (!facts || !has_memory(facts->mode)) return;
  if (S_ISFIFO(facts->mode)) {
    add_pipe(reader, found,
             {ObjectKind::Pipe, facts->device_major, facts->device_minor,
              facts->inode_id, 0},
             found.link);
    return;
  }
  ask_unknown_device(found.directory, found.path, *facts);
  const size_t index = object_of_file(reader, *facts, found.link, found.told);
  add_descriptor(reader, index, found.number, found.rights());
}

size_t ObjectWalk::object_of_handle(std::string_view type) {
  auto found = std::ranges::find(handle_types_, type);
  if (found == handle_types_.end()) {
    handle_types_.emplace_back(type);
    found = handle_types_.end() - 1;
  }
  const auto number = static_cast<uint64_t>(found - handle_types_.begin());
  const size_t index =
      table_.find_or_add({ObjectKind::Handle, 0, 0, number, 0});
  if (table_.is_new()) {
    MemoryObject& object = table_.object(index);
    object.name = type;
    set_kernel_bytes(object, std::nullopt,
                     "the kernel does not tell the size of its handles");
  }
  return index;
}

}  // namespace tidemark::source
