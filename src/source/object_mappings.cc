// The half of the walk that reads mappings.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/page_size.h"
#include "base/text.h"
#include "parse/smaps.h"
#include "source/object_walk.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::MemoryObject;
using model::ObjectKey;
using model::ObjectKind;

constexpr std::string_view kDeleted = " (deleted)";

bool may_have_copies(ObjectKind kind) {
  return kind == ObjectKind::File || kind == ObjectKind::DeletedFile ||
         kind == ObjectKind::Tmpfs || kind == ObjectKind::Memfd;
}

// The first segment of an ipc namespace has the id 0, and so its inode.
bool is_of_object(const Mapping& mapping) {
  return mapping.is_file() || mapping.name.starts_with("/SYSV");
}

// A name may hold anything; where maps would break a line it writes \012.
void escape_lines(std::string_view link, std::string& name) {
  name.clear();
  while (true) {
    const size_t end = link.find('\n');
    name += link.substr(0, end);
    if (end == std::string_view::npos) return;
    name += "\\012";
    link.remove_prefix(end + 1);
  }
}

}  // namespace

std::string map_files_name(const Mapping& mapping) {
  std::array<char, 56> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "map_files/%llx-%llx",
                    static_cast<unsigned long long>(mapping.start_address),
                    static_cast<unsigned long long>(mapping.end_address));
  return {text.data(), static_cast<size_t>(length)};
}

std::string object_name(ObjectKind kind, std::string_view link) {
  std::string_view name = link;
  const auto without_deleted = [&] {
    if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  };
  switch (kind) {
    case ObjectKind::Memfd:
    case ObjectKind::Sysv:
    case ObjectKind::DmaBuf:
      without_deleted();
      return std::string(name.substr(name.starts_with('/') ? 1 : 0));
    case ObjectKind::SharedAnon:
      without_deleted();
      return name == "/dev/zero" ? "shared anonymous" : std::string(name);
    default:
      return std::string(name);
  }
}

bool ObjectWalk::take_mappings(const Reader& reader) {
  if (!lists_ || reader.mount_namespace == 0) return false;
  bool is_shown_otherwise = false;
  const bool is_listed =
      lists_->mappings_of(reader.pid, [&](const KernelMapping& told) {
        is_shown_otherwise = is_shown_otherwise || told.is_shown_otherwise;
      });
  if (!is_listed || is_shown_otherwise) return false;
  Mapping mapping;
  return lists_->mappings_of(reader.pid, [&](const KernelMapping& told) {
    mapping.start_address = told.start_address;
    mapping.end_address = told.end_address;
    mapping.permissions = told.permissions;
    mapping.device_major = told.file.facts.device_major;
    mapping.device_minor = told.file.facts.device_minor;
    mapping.inode_id = told.file.facts.inode_id;
    escape_lines(told.file.link, mapping.name);
    if (is_of_object(mapping)) add_mapping(reader, mapping, &told.file);
  });
}

base::Status ObjectWalk::read_mappings(const Reader& reader) {
  base::Status status = base::read_file_at(reader.directory, "maps", buffer_);
  if (!status) return status;
  if (buffer_.empty() && roots_.is_live) {
    return base::fail(ErrorKind::Gone,
                      reader.directory.path + ": it has ended");
  }
  Mapping mapping;
  // Resolving may read other files.
  const std::string text = std::move(buffer_);
  std::string_view rest = text;
  while (!rest.empty()) {
    base::Status parsed =
        parse::parse_mapping_line(base::take_line(rest), mapping);
    if (!parsed) return base::within(reader.directory.path, parsed.error());
    if (is_of_object(mapping)) add_mapping(reader, mapping, nullptr);
  }
  return base::Ok{};
}

void ObjectWalk::add_mapping(const Reader& reader, const Mapping& mapping,
                             const KernelFile* told) {
  const size_t index = object_of_mapping(reader, mapping, told);
  if (index == kNone) return;
  model::ObjectReference& reference = table_.reference(index, reader.index);
  ++reference.mapping_count;
  // What is written through a private mapping never reaches the object.
  reference.rights.add({mapping.permissions.read,
                        mapping.permissions.write && mapping.permissions.shared,
                        mapping.permissions.execute});
  MemoryObject& object = table_.object(index);
  if (!mapping.permissions.shared && mapping.permissions.write &&
      may_have_copies(object.kind)) {
    ++object.child_count;
  }
}

// The mount namespace belongs to the question: two containers on snapshots of
// one btrfs volume show the same numbers and the same path for two files. A
// process that does not tell its own is asked for each of its mappings.
size_t ObjectWalk::object_of_mapping(const Reader& reader,
                                     const Mapping& mapping,
                                     const KernelFile* told) {
  const auto append = [&](uint64_t number) {
    cache_key_.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  cache_key_.clear();
  append(reader.mount_namespace != 0 ? reader.mount_namespace
                                     : static_cast<uint64_t>(reader.pid));
  append(mapping.name.starts_with("/SYSV") ? reader.ipc_namespace : 0);
  append(uint64_t{mapping.device_major} << 32 | mapping.device_minor);
  append(mapping.inode_id);
  cache_key_ += mapping.name;
  const auto found = mapped_files_.find(cache_key_);
  if (found != mapped_files_.end()) return found->second;
  std::string key = cache_key_;
  const size_t index = resolve_mapping(reader, mapping, told);
  mapped_files_.emplace(std::move(key), index);
  return index;
}

size_t ObjectWalk::resolve_mapping(const Reader& reader, const Mapping& mapping,
                                   const KernelFile* told) {
  if (!mapping.name.starts_with('/')) return object_of_special(mapping);
  if (!links_are_live_) {
    return object_of_unseen(reader, mapping, "a copied tree does not tell it");
  }
  std::string link = map_files_name(mapping);
  const bool is_told = told && told->is_as_stat && S_ISREG(told->facts.mode);
  base::Result<FileFacts> facts = is_told
                                      ? base::Result<FileFacts>(told->facts)
                                      : stat_at(reader.directory, link, true);
  // The reason is the same for all, so it names none of them.
  std::string because;
  if (!facts) {
    because = facts.error().kind == ErrorKind::Denied
                  ? "denied: following map_files takes CAP_CHECKPOINT_RESTORE"
                  : "the mapping was gone before it was asked";
  }
  if (facts) {
    ask_unknown_device(reader.directory, link, *facts);
  } else if (!mapping.name.ends_with(kDeleted)) {
    // The path below the process's root stands in as long as it leads to the
    // same inode.
    std::string path = "root" + mapping.name;
    base::Result<FileFacts> by_path = stat_at(reader.directory, path, true);
    if (by_path && by_path->inode_id == mapping.inode_id) {
      facts = by_path;
      link = std::move(path);
    }
  }
  if (!facts) return object_of_unseen(reader, mapping, because);
  if (S_ISREG(facts->mode)) {
    const size_t index = object_of_file(reader, *facts, mapping.name, told);
    ObjectReach& reach = table_.reach(index);
    if (reach.pid == 0) reach = {reader.thread_id, link};
    return index;
  }
  // /dev/zero mapped privately is anonymous memory.
  constexpr uint32_t kMemoryMajor = 1;
  constexpr uint32_t kZeroMinor = 5;
  if (facts->special_major == kMemoryMajor &&
      facts->special_minor == kZeroMinor) {
    return kNone;
  }
  const size_t index =
      table_.find_or_add({ObjectKind::Device, facts->device_major,
                          facts->device_minor, facts->inode_id, 0});
  if (table_.is_new()) table_.object(index).name = mapping.name;
  return index;
}

// Mappings of things without a path: "socket:[7]", "anon_inode:[io_uring]".
size_t ObjectWalk::object_of_special(const Mapping& mapping) {
  using Type = parse::DescriptorLink::Type;
  const parse::DescriptorLink link = parse::parse_descriptor_link(mapping.name);
  if (link.type == Type::Socket) {
    return table_.find_or_add({ObjectKind::Socket, 0, 0, link.inode_id, 0});
  }
  if (link.type != Type::AnonInode) return kNone;
  if (link.name != kIoUring) return object_of_handle(link.name);
  const size_t index =
      table_.find_or_add({ObjectKind::IoUring, 0, 0, mapping.inode_id, 0});
  if (table_.is_new()) {
    table_.object(index).name = kIoUring;
    set_kernel_bytes(table_.object(index), std::nullopt,
                     "no descriptor of it tells its rings");
  }
  return index;
}

size_t ObjectWalk::object_of_file(const Reader& reader, const FileFacts& facts,
                                  std::string_view name,
                                  const KernelFile* told) {
  const bool is_dma_buf = name.starts_with("/dmabuf:");
  const ObjectKind kind =
      is_dma_buf
          ? ObjectKind::DmaBuf
          : file_systems_.kind_of(facts.device_major, facts.device_minor, name);
  const bool is_internal =
      is_dma_buf ||
      file_systems_.is_kernel_shmem(facts.device_major, facts.device_minor);
  ObjectKey key = {kind, facts.device_major, facts.device_minor, facts.inode_id,
                   0};
  if (is_internal) key.device_major = key.device_minor = 0;
  if (kind == ObjectKind::Sysv) {
    key = {kind, 0, 0, facts.inode_id, reader.ipc_namespace};
  }
  const size_t index = table_.find_or_add(key);
  MemoryObject& object = table_.object(index);
  if (object.size_bytes) return index;
  const FileSystemType type =
      file_systems_.type_of(facts.device_major, facts.device_minor);
  object.is_deleted = facts.link_count == 0;
  if (kind == ObjectKind::File && object.is_deleted) {
    object.kind = ObjectKind::DeletedFile;
  }
  object.name = object_name(kind, name);
  object.size_bytes = model::known(facts.size_bytes);
  object.is_shmem = type == FileSystemType::Shmem;
  if (object.is_shmem || type == FileSystemType::Hugetlb || is_dma_buf) {
    object.alloc_bytes = model::known(facts.block_bytes);
  }
  if (is_dma_buf) object.size_bytes = object.alloc_bytes;
  // What cachestat would count. tmpfs puts its blocks right only when it is
  // asked; the iterator has not asked, and its pages are what is in RAM.
  if (told && told->is_as_stat &&
      (object.is_shmem || type == FileSystemType::Local ||
       type == FileSystemType::Ramfs)) {
    object.alloc_bytes = model::known(told->cached_pages * base::page_bytes());
  }
  return index;
}

// Only maps tells of it. Numbers of the kernel's own tmpfs are right there too;
// others may be those of another file, so they name it and nothing more.
size_t ObjectWalk::object_of_unseen(const Reader& reader,
                                    const Mapping& mapping,
                                    const std::string& because) {
  const uint32_t major = mapping.device_major;
  const uint32_t minor = mapping.device_minor;
  const ObjectKind kind = file_systems_.kind_of(major, minor, mapping.name);
  ObjectKey key = {kind, major, minor, mapping.inode_id, 0};
  if (file_systems_.is_kernel_shmem(major, minor)) {
    key.device_major = key.device_minor = 0;
  }
  if (kind == ObjectKind::Sysv) {
    key = {kind, 0, 0, mapping.inode_id, reader.ipc_namespace};
  }
  const size_t index = table_.find_or_add(key);
  if (!table_.is_new()) return index;
  MemoryObject& object = table_.object(index);
  object.is_deleted = mapping.name.ends_with(kDeleted);
  if (kind == ObjectKind::File && object.is_deleted) {
    object.kind = ObjectKind::DeletedFile;
  }
  object.name = object_name(kind, mapping.name);
  object.is_shmem =
      file_systems_.type_of(major, minor) == FileSystemType::Shmem;
  object.size_bytes = model::unknown<uint64_t>(because);
  object.alloc_bytes = model::unknown<uint64_t>(because);
  object.swap_bytes = model::unknown<uint64_t>(because);
  return index;
}

void ObjectWalk::ask_unknown_device(const base::Directory& directory,
                                    const std::string& name,
                                    const FileFacts& facts) {
  if (file_systems_.type_of(facts.device_major, facts.device_minor) !=
      FileSystemType::Unknown) {
    return;
  }
  file_systems_.learn(facts.device_major, facts.device_minor,
                      ask_type(directory, name));
}

// ---- copies -----------------------------------------------------------------

void ObjectWalk::read_copies(int32_t pid) {
  const auto process = std::ranges::find_if(
      processes_, [&](const model::ObjectProcess& candidate) {
        return candidate.id.pid == pid;
      });
  base::Result<base::Directory> directory = open_process(roots_, pid);
  if (process == processes_.end() || !directory) return;
  if (!base::read_file_at(*directory, "smaps", buffer_)) return;
  base::Result<std::vector<Mapping>> mappings = parse::parse_smaps(buffer_);
  if (!mappings) return;
  Reader reader;
  reader.pid = pid;
  reader.thread_id = pid;
  reader.index = static_cast<size_t>(process - processes_.begin());
  reader.directory = std::move(*directory);
  enter_namespaces(reader);
  for (const Mapping& mapping : *mappings) {
    const uint64_t anon =
        mapping.fields.get_or_zero(model::SmapsField::Anonymous);
    const uint64_t swap = mapping.fields.get_or_zero(model::SmapsField::Swap);
    if (!mapping.is_file() || mapping.permissions.shared || anon + swap == 0) {
      continue;
    }
    const size_t file = object_of_mapping(reader, mapping, nullptr);
    if (file == kNone || !may_have_copies(table_.object(file).kind)) continue;
    const size_t index =
        table_.find_or_add({ObjectKind::PrivateCopy, 0, 0,
                            mapping.start_address, static_cast<uint64_t>(pid)});
    MemoryObject& copy = table_.object(index);
    copy.name = mapping.name;
    copy.parent = table_.object(file).key;
    copy.size_bytes = model::known(mapping.size_bytes());
    copy.alloc_bytes = model::known(anon);
    copy.swap_bytes = model::known(swap);
    model::ObjectReference& reference = table_.reference(index, reader.index);
    reference.mapping_count = 1;
    reference.rights = {mapping.permissions.read, mapping.permissions.write,
                        mapping.permissions.execute};
  }
}

}  // namespace tidemark::source
