#include "source/object_pages.h"

#include <algorithm>

#include "base/page_size.h"
#include "model/kernel_memory.h"
#include "source/bpf/page_structs.h"
#include "source/file_names.h"
#include "source/kernel_files.h"
#include "source/page_census.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::MemoryObject;
using model::ObjectKey;
using model::ObjectKind;

// Of these the word that tells the file means something else. Huge pages have a
// pool of their own and are in no line of the page cache.
constexpr uint64_t kNotOfAFile =
    model::kPageSlab | model::kPageBuddy | model::kPageAnon |
    model::kPageHugetlb | model::kPagePoisoned | model::kPageAbsent |
    model::kPageOffline | model::kPageTable | model::kPageReserved;

// A segment's inode is its id, which says nothing without its ipc namespace,
// and no page tells that. One of the id that was listed is taken to be it.
bool is_listed_segment(uint64_t segment_id, ObjectTable& table) {
  for (size_t i = 0; i < table.size(); ++i) {
    const ObjectKey& key = table.object(i).key;
    if (key.kind == ObjectKind::Sysv && key.inode_id == segment_id) return true;
  }
  return false;
}

ObjectKind kind_of(const model::CachedFile& file, const OwnedPages& pages,
                   const FileSystems& file_systems) {
  const ObjectKind kind =
      file_systems.kind_of(file.device_major, file.device_minor, file.path);
  // A file system that no process has mounted any more.
  if (kind == ObjectKind::File && pages.is_shmem) return ObjectKind::Tmpfs;
  return kind;
}

base::Result<PageOwners> walk_pages(const Roots& roots,
                                    const ObjectLists& lists,
                                    PageStructs& structs) {
  base::Result<PageCensus> census = PageCensus::open(roots.proc);
  if (!census) return census.error();
  const model::Reading<model::IoMemory> iomem = read_iomem(roots);
  if (!iomem) return base::fail(ErrorKind::Denied, iomem.unknown_because);
  if (iomem->addresses == model::AddressForm::Hidden) {
    return base::fail(ErrorKind::Denied,
                      "/proc/iomem hides the addresses of RAM");
  }
  const std::unordered_set<uint64_t> known = lists.page_owners();
  PageOwners owners;
  base::Status status =
      census->walk_owners(ram_frames(*iomem, base::page_bytes()), structs,
                          [&](const model::PageChunk& chunk) {
                            count_owned_pages(chunk, known, owners);
                          });
  if (!status) return status.error();
  return owners;
}

}  // namespace

void count_owned_pages(const model::PageChunk& chunk,
                       const std::unordered_set<uint64_t>& known,
                       PageOwners& owners) {
  for (size_t i = 0; i < chunk.structs.size(); ++i) {
    const uint64_t flags = chunk.flags[i];
    const model::PageStruct& page = chunk.structs[i];
    if (!page.is_known || page.owner == 0 ||
        page.type != model::PageType::None || (flags & kNotOfAFile) != 0 ||
        known.contains(page.owner)) {
      continue;
    }
    OwnedPages& owned = owners[page.owner];
    ++owned.page_count;
    owned.is_mapped = owned.is_mapped || (flags & model::kPageMapped) != 0;
    owned.is_shmem = owned.is_shmem || (flags & model::kPageSwapBacked) != 0;
  }
}

void add_found_by_pages(const model::CachedFile& file, const OwnedPages& pages,
                        const std::string& name, ObjectWalk& walk) {
  // Gone meanwhile, or the word was no address of a file's pages after all.
  if (file.inode_id == 0 && file.path.empty()) return;
  FileSystems& file_systems = walk.file_systems();
  ObjectTable& table = walk.table();
  const ObjectKind kind = kind_of(file, pages, file_systems);
  if (kind == ObjectKind::Sysv && is_listed_segment(file.inode_id, table)) {
    return;
  }
  ObjectKey key = {kind, file.device_major, file.device_minor, file.inode_id,
                   0};
  if (file_systems.is_kernel_shmem(file.device_major, file.device_minor)) {
    key.device_major = key.device_minor = 0;
  }
  const size_t index = table.find_or_add(key);
  if (!table.is_new()) return;
  MemoryObject& object = table.object(index);
  object.is_found_by_pages = true;
  object.is_deleted = file.link_count == 0;
  if (kind == ObjectKind::File && object.is_deleted) {
    object.kind = ObjectKind::DeletedFile;
  }
  object.name = object_name(kind, name);
  object.is_shmem = pages.is_shmem;
  object.size_bytes = model::known(file.size_bytes);
  object.alloc_bytes = model::known(pages.page_count * base::page_bytes());
  // By a process that could not be read: at least once.
  object.attach_count = pages.is_mapped ? 1 : 0;
}

base::Status find_by_pages(const Roots& roots, const ObjectLists& lists,
                           ObjectWalk& walk) {
  base::Result<PageStructs> structs = PageStructs::open();
  if (!structs) return structs.error();
  base::Result<PageOwners> owners = walk_pages(roots, lists, *structs);
  if (!owners) return owners.error();
  std::vector<uint64_t> addresses;
  addresses.reserve(owners->size());
  for (const auto& [address, pages] : *owners)
    addresses.push_back(address);
  base::Result<std::vector<model::CachedFile>> files =
      structs->name_files(addresses);
  if (!files) return files.error();
  const FileNames names(roots);
  for (const model::CachedFile& file : *files) {
    add_found_by_pages(file, owners->at(file.address), names.name(file), walk);
  }
  return base::Ok{};
}

}  // namespace tidemark::source
