#include "analysis/graph_scan.h"

#include <string_view>

namespace tidemark::analysis {
namespace {

using model::MemoryObject;
using model::ObjectKind;
using model::RegionKind;

// maps says "/memfd:x (deleted)" where the object is "memfd:x".
std::string_view bare_name(std::string_view name) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

// Of the kernel's own tmpfs, where a number is enough. Its names are escaped in
// maps, and not in links.
bool is_of_kernel(ObjectKind kind, std::string_view mapping_name) {
  return (kind == ObjectKind::Memfd && mapping_name.starts_with("/memfd:")) ||
         (kind == ObjectKind::Sysv && mapping_name.starts_with("/SYSV")) ||
         (kind == ObjectKind::SharedAnon &&
          mapping_name.starts_with("/dev/zero"));
}

}  // namespace

bool is_held_memory(ObjectKind kind) {
  return kind == ObjectKind::DeletedFile || kind == ObjectKind::Tmpfs ||
         kind == ObjectKind::Memfd || kind == ObjectKind::SharedAnon ||
         kind == ObjectKind::Sysv || kind == ObjectKind::Hugetlb;
}

RegionKind region_kind_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Tmpfs:
      return RegionKind::TmpFile;
    case ObjectKind::Memfd:
      return RegionKind::MemFd;
    case ObjectKind::SharedAnon:
      return RegionKind::SharedAnonymous;
    case ObjectKind::Sysv:
      return RegionKind::SysV;
    case ObjectKind::Hugetlb:
      return RegionKind::HugeTlb;
    case ObjectKind::Device:
    case ObjectKind::DmaBuf:
      return RegionKind::Device;
    default:
      return RegionKind::File;
  }
}

GraphScan::GraphScan(const model::Sample& sample, const model::ObjectScan& scan)
    : scan_(scan),
      processes_(scan.processes.size()),
      mapped_(sample.processes.size()) {
  std::map<int32_t, size_t> places;
  for (size_t i = 0; i < sample.processes.size(); ++i)
    places[sample.processes[i].id.pid] = i;
  for (size_t i = 0; i < scan.processes.size(); ++i) {
    const auto found = places.find(scan.processes[i].id.pid);
    // Else the number was given away between the two looks.
    if (found != places.end() &&
        sample.processes[found->second].id == scan.processes[i].id) {
      processes_[i] = found->second;
    }
  }
  for (size_t i = 0; i < scan.objects.size(); ++i) {
    for (const model::ObjectReference& one : scan.objects[i].references) {
      const std::optional<size_t> process = process_of(one);
      if (process && one.mapping_count > 0) mapped_[*process].push_back(i);
    }
  }
}

std::optional<size_t> GraphScan::object_of(
    size_t process, const model::Mapping& mapping) const {
  const std::string_view name = bare_name(mapping.name);
  std::optional<size_t> by_name;
  size_t name_count = 0;
  for (size_t index : mapped_[process]) {
    const MemoryObject& object = scan_.objects[index];
    const bool is_named = bare_name(object.name) == name;
    // The inode is right on btrfs too, where the device is not.
    if (object.key.inode_id == mapping.inode_id &&
        (is_named || is_of_kernel(object.kind, mapping.name))) {
      return index;
    }
    if (!is_named) continue;
    by_name = index;
    ++name_count;
  }
  return name_count == 1 ? by_name : std::nullopt;
}

}  // namespace tidemark::analysis
