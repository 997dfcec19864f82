#include "analysis/graph_objects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/graph_scan.h"
#include "base/arithmetic.h"

namespace tidemark::analysis {
namespace {

using model::Mapping;
using model::RegionKind;
using model::SmapsField;

// Of a mapping, or of a part of one.
struct MappingShare {
  uint64_t size_bytes = 0;
  uint64_t pss_bytes = 0;
  uint64_t rss_bytes = 0;
  uint64_t swap_bytes = 0;
  // The kernel does not divide these among who shares them.
  uint64_t shared_huge_bytes = 0;
};

class Finder {
 public:
  Finder(const model::Sample& sample, const model::ObjectScan* scan)
      : sample_(sample) {
    found_.references.resize(sample.processes.size());
    if (scan) scan_.emplace(sample, *scan);
  }

  GraphObjects find() {
    for (size_t i = 0; i < sample_.processes.size(); ++i)
      add_process(i);
    for (size_t i = 0; i < shared_huge_.size(); ++i)
      found_.objects[i].committed_bytes += shared_huge_[i];
    if (scan_) add_held();
    return std::move(found_);
  }

 private:
  void add_process(size_t index) {
    const model::Process& process = sample_.processes[index];
    if (!process.mappings) return;
    process_ = index;
    places_.clear();
    huge_of_process_.clear();
    const std::vector<Mapping>& mappings = *process.mappings;
    for (const model::Region& region : model::find_regions(
             mappings, model::region_hints(process, sample_.memory_devices))) {
      for (size_t i = 0; i < region.mapping_count; ++i)
        add_mapping(region, mappings[region.first_index + i]);
    }
    // Those who share huge pages see the same ones: the largest view of them is
    // the least there is.
    for (const auto& [object, bytes] : huge_of_process_)
      shared_huge_[object] = std::max(shared_huge_[object], bytes);
  }

  void add_mapping(const model::Region& region, const Mapping& mapping) {
    const uint64_t own_huge =
        mapping.fields.get_or_zero(SmapsField::PrivateHugetlb);
    MappingShare share;
    share.size_bytes = mapping.size_bytes();
    share.pss_bytes = mapping.fields.get_or_zero(SmapsField::Pss) + own_huge;
    share.rss_bytes = mapping.fields.get_or_zero(SmapsField::Rss) + own_huge;
    share.swap_bytes = mapping.fields.get_or_zero(SmapsField::SwapPss);
    share.shared_huge_bytes =
        mapping.fields.get_or_zero(SmapsField::SharedHugetlb);
    if (!mapping.is_file()) {
      const size_t object = private_object(
          region.kind, std::string(object_name(region.kind, region.name)));
      add(object, mapping, share);
      return;
    }
    // What was written privately is the process's own. Its size is known, its
    // share is not: pages that a fork left shared count for less.
    const uint64_t written = mapping.fields.get_or_zero(SmapsField::Anonymous);
    const size_t file = file_object(region.kind, mapping);
    const bool is_shared = mapping.permissions.shared;
    if (is_shared || (written == 0 && share.swap_bytes == 0)) {
      add(file, mapping, share);
      return;
    }
    MappingShare copy;
    copy.size_bytes = share.size_bytes;
    copy.pss_bytes = std::min(written, share.pss_bytes);
    copy.rss_bytes = std::min(written, share.rss_bytes);
    share.pss_bytes -= copy.pss_bytes;
    share.rss_bytes -= copy.rss_bytes;
    // A file's own pages are written back and not swapped.
    std::swap(copy.swap_bytes, share.swap_bytes);
    add(file, mapping, share);
    const size_t child = private_object(region.kind, mapping.name);
    if (found_.objects[child].parent_koid == 0) {
      found_.objects[child].parent_koid = file + 1;
      ++found_.objects[file].child_count;
    }
    add(child, mapping, copy);
  }

  size_t make(RegionKind kind, const std::string& name) {
    GraphObject& object = found_.objects.emplace_back();
    object.kind = kind;
    object.name = name;
    shared_huge_.push_back(0);
    return found_.objects.size() - 1;
  }

  size_t private_object(RegionKind kind, const std::string& name) {
    auto [known, is_new] =
        private_.try_emplace({process_, kind, name}, found_.objects.size());
    return is_new ? make(kind, name) : known->second;
  }

  size_t file_object(RegionKind kind, const Mapping& mapping) {
    const std::optional<size_t> scanned =
        scan_ ? scan_->object_of(process_, mapping) : std::nullopt;
    const size_t next = found_.objects.size();
    const size_t known =
        scanned ? scanned_.try_emplace(*scanned, next).first->second
                : files_
                      .try_emplace({mapping.device_major, mapping.device_minor,
                                    mapping.inode_id, mapping.name},
                                   next)
                      .first->second;
    if (known != next) return known;
    const size_t place = make(kind, mapping.name);
    GraphObject& object = found_.objects[place];
    object.device_major = mapping.device_major;
    object.device_minor = mapping.device_minor;
    object.inode_id = mapping.inode_id;
    if (scanned) set_numbers(object, scan_->object(*scanned).key);
    return place;
  }

  // As stat tells them. The kernel's own tmpfs has no numbers there.
  static void set_numbers(GraphObject& object, const model::ObjectKey& key) {
    if (key.device_major != 0 || key.device_minor != 0) {
      object.device_major = key.device_major;
      object.device_minor = key.device_minor;
    }
    object.inode_id = key.inode_id;
  }

  // Memory that lasts by being held: who holds it, and all there is of it.
  void add_held() {
    for (size_t i = 0; i < scan_->object_count(); ++i) {
      const model::MemoryObject& object = scan_->object(i);
      if (!is_held_memory(object.kind)) continue;
      for (const model::ObjectReference& one : object.references) {
        const std::optional<size_t> process = scan_->process_of(one);
        if (process && one.descriptor_count > 0) add_holder(i, *process, one);
      }
      const auto known = scanned_.find(i);
      if (known == scanned_.end()) continue;
      GraphObject& to = found_.objects[known->second];
      to.size_bytes =
          std::max(to.size_bytes, object.size_bytes.value.value_or(0));
      to.committed_bytes =
          std::max(to.committed_bytes, object.alloc_bytes.value.value_or(0));
      to.swap_bytes =
          std::max(to.swap_bytes, object.swap_bytes.value.value_or(0));
      if (to.mapping_count == 0) --to.share_count;
    }
  }

  void add_holder(size_t scanned, size_t process,
                  const model::ObjectReference& from) {
    const model::MemoryObject& object = scan_->object(scanned);
    auto [known, is_new] = scanned_.try_emplace(scanned, found_.objects.size());
    if (is_new) {
      make(region_kind_of(object.kind), object.name);
      set_numbers(found_.objects.back(), object.key);
    }
    std::vector<GraphReference>& references = found_.references[process];
    auto reference =
        std::ranges::find(references, known->second, &GraphReference::object);
    if (reference == references.end()) {
      reference = references.insert(references.end(), GraphReference());
      reference->object = known->second;
      reference->can_read = from.rights.read;
      reference->can_write = from.rights.write;
      ++found_.objects[known->second].share_count;
    }
    reference->descriptor_count = from.descriptor_count;
  }

  void add(size_t place, const Mapping& mapping, const MappingShare& share) {
    GraphObject& object = found_.objects[place];
    if (object.inode_id != 0) {
      object.size_bytes = std::max(
          object.size_bytes,
          base::saturating_sum(mapping.offset_bytes, share.size_bytes));
    } else {
      object.size_bytes += share.size_bytes;
    }
    object.committed_bytes =
        base::saturating_sum(object.committed_bytes, share.pss_bytes);
    object.swap_bytes += share.swap_bytes;
    ++object.mapping_count;
    std::vector<GraphReference>& references = found_.references[process_];
    auto [known, is_new] = places_.try_emplace(place, references.size());
    if (is_new) {
      references.emplace_back().object = place;
      ++object.share_count;
    }
    GraphReference& reference = references[known->second];
    ++reference.mapping_count;
    reference.pss_bytes += share.pss_bytes;
    reference.rss_bytes += share.rss_bytes;
    reference.can_read |= mapping.permissions.read;
    reference.can_write |= mapping.permissions.write;
    reference.can_execute |= mapping.permissions.execute;
    huge_of_process_[place] += share.shared_huge_bytes;
  }

  const model::Sample& sample_;
  std::optional<GraphScan> scan_;
  GraphObjects found_;
  size_t process_ = 0;
  std::map<std::tuple<size_t, RegionKind, std::string>, size_t> private_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, std::string>, size_t>
      files_;
  std::map<size_t, size_t> scanned_;  // by place in the scan
  std::map<size_t, size_t> places_;   // of the references of this process
  std::map<size_t, uint64_t> huge_of_process_;
  std::vector<uint64_t> shared_huge_;  // of each object
};

}  // namespace

GraphObjects find_objects(const model::Sample& sample,
                          const model::ObjectScan* scan) {
  return Finder(sample, scan).find();
}

}  // namespace tidemark::analysis
