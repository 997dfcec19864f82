#include "analysis/run_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::Mapping;
using model::Region;
using model::SmapsField;

// Sums by name, for the column that says who or what.
class Shares {
 public:
  // A process adds many regions; it counts once.
  void add(const std::string& name, int32_t pid, uint64_t bytes) {
    Share& share = by_name_[name];
    share.bytes += bytes;
    if (share.last_pid != pid) ++share.count;
    share.last_pid = pid;
  }

  // "cc1plus ×8, as, 3 others". The glyph is the renderer's business: here it
  // is " x8".
  std::string text(bool counts_repeats) const {
    std::vector<std::pair<std::string, Share>> list(by_name_.begin(),
                                                    by_name_.end());
    std::ranges::stable_sort(list, std::greater<>(),
                             [](const auto& row) { return row.second.bytes; });
    constexpr size_t kShown = 2;
    std::string out;
    for (size_t i = 0; i < std::min(kShown, list.size()); ++i) {
      if (list[i].second.bytes == 0) continue;
      if (!out.empty()) out += ", ";
      out += list[i].first;
      if (counts_repeats && list[i].second.count > 1) {
        out += " x" + std::to_string(list[i].second.count);
      }
    }
    if (list.size() > kShown) {
      const size_t rest = list.size() - kShown;
      out += ", " + std::to_string(rest) + (rest == 1 ? " other" : " others");
    }
    return out;
  }

 private:
  struct Share {
    uint64_t bytes = 0;
    uint64_t count = 0;
    int32_t last_pid = 0;
  };
  std::map<std::string, Share> by_name_;
};

// Kinds whose object says more than the process that maps it.
bool is_named_by_object(Category category) {
  return category == Category::Code || category == Category::File ||
         category == Category::Shm || category == Category::Huge;
}

// Files by their last part alone: the line is short.
std::string object_name(const Region& region) {
  const std::string name(model::object_name(region.kind, region.name));
  const bool is_path = name.starts_with('/');
  return is_path ? std::string(base::base_name(name)) : name;
}

struct Sums {
  std::array<uint64_t, model::kCategoryCount> bytes{};
  std::array<Shares, model::kCategoryCount> shares;
  std::map<std::pair<Category, std::string>, RunMapping> mappings;
  uint64_t file_bytes = 0;  // PSS of page cache that is mapped
  uint64_t shm_bytes = 0;
  uint64_t page_table_bytes = 0;
  uint64_t all_bytes = 0;
  uint64_t readable_count = 0;
  uint64_t unreadable_count = 0;
};

uint64_t bytes_of(const Mapping& mapping, bool in_pss) {
  return mapping.fields.get_or_zero(in_pss ? SmapsField::Pss : SmapsField::Rss);
}

// Of a private mapping of a file the pages that were written to are the
// process's own; smaps tells their number, not their share.
uint64_t cached_part(const Mapping& mapping) {
  const uint64_t pss = mapping.fields.get_or_zero(SmapsField::Pss);
  const uint64_t own = mapping.fields.get_or_zero(SmapsField::Anonymous);
  return pss - std::min(pss, own);
}

struct Owner {
  int32_t pid = 0;
  std::string name;
  bool in_pss = true;
};

void add_region(Sums& sums, const std::vector<Mapping>& mappings,
                const Region& region, const Owner& owner) {
  const Category category = model::region_category(region.kind);
  uint64_t bytes = 0;
  uint64_t rss = 0;
  for (size_t i = 0; i < region.mapping_count; ++i) {
    const Mapping& mapping = mappings[region.first_index + i];
    bytes += bytes_of(mapping, owner.in_pss);
    rss += mapping.fields.get_or_zero(SmapsField::Rss);
    if (category == Category::Shm) {
      sums.shm_bytes += cached_part(mapping);
    } else if (mapping.is_file()) {
      sums.file_bytes += cached_part(mapping);
    }
  }
  if (bytes == 0 && rss == 0) return;
  const std::string object = object_name(region);
  const auto index = static_cast<size_t>(category);
  sums.bytes[index] += bytes;
  sums.all_bytes += bytes;
  sums.shares[index].add(is_named_by_object(category) ? object : owner.name,
                         owner.pid, bytes);
  RunMapping& row = sums.mappings[{category, object}];
  row.name = object;
  row.category = category;
  row.bytes += bytes;
  row.rss_bytes += rss;
}

// How many processes map an object: counted once for each.
void count_mapper(Sums& sums, const std::vector<Region>& regions) {
  std::map<std::pair<Category, std::string>, bool> here;
  for (const Region& region : regions) {
    here[{model::region_category(region.kind), object_name(region)}] = true;
  }
  for (const auto& [key, yes] : here) {
    auto row = sums.mappings.find(key);
    if (row != sums.mappings.end()) ++row->second.process_count;
  }
}

Sums sum_processes(const model::Capture& capture,
                   const std::vector<model::DeviceNumber>& devices,
                   bool in_pss) {
  Sums sums;
  for (const model::Process& process : capture.sample.processes) {
    sums.page_table_bytes += process.status.page_table_bytes.value_or(0);
    if (!process.mappings) {
      if (process.state != model::ProcessState::Zombie) ++sums.unreadable_count;
      continue;
    }
    ++sums.readable_count;
    const Owner owner{process.id.pid, display_name(process), in_pss};
    const std::vector<Region> regions = model::find_regions(
        *process.mappings, model::region_hints(process, devices));
    for (const Region& region : regions) {
      add_region(sums, *process.mappings, region, owner);
    }
    count_mapper(sums, regions);
  }
  return sums;
}

int64_t signed_of(uint64_t bytes) {
  return static_cast<int64_t>(bytes);
}

std::string count_text(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

void add_part(RunComposition& made, Category category, std::string label,
              int64_t bytes, std::string mostly) {
  if (bytes == 0) return;
  made.parts.push_back({category, std::move(label), bytes, std::move(mostly)});
}

void add_categories_of(const Sums& sums, RunComposition& made) {
  for (Category category : model::kCategories) {
    // Huge pages are in no charge; they stand beside the peak.
    if (category == Category::Huge) continue;
    const auto index = static_cast<size_t>(category);
    add_part(made, category, std::string(model::category_name(category)),
             signed_of(sums.bytes[index]),
             sums.shares[index].text(!is_named_by_object(category)));
  }
}

// Cache and shared memory are charged to who touched them first, which need not
// be who maps them.
void add_unmapped(const model::GroupStat& stat, const Sums& sums,
                  RunComposition& made) {
  if (!stat.file_bytes) return;
  const uint64_t shmem = stat.shmem_bytes.value_or(0);
  const int64_t file = signed_of(*stat.file_bytes) - signed_of(shmem) -
                       signed_of(sums.file_bytes);
  const int64_t shm = signed_of(shmem) - signed_of(sums.shm_bytes);
  if (file > 0) {
    add_part(made, Category::File, "page cache, not mapped", file,
             "charged to the cgroup");
  }
  if (shm > 0) {
    add_part(made, Category::Shm, "shared memory, not mapped", shm,
             "charged to the cgroup");
  }
  const int64_t elsewhere =
      std::min<int64_t>(file, 0) + std::min<int64_t>(shm, 0);
  add_part(made, Category::Unnamed, "charged elsewhere", elsewhere,
           "mapped here, read by others");
}

void add_kernel(const model::GroupStat& stat, const Sums& sums,
                RunComposition& made) {
  const uint64_t kernel = model::kernel_bytes(stat);
  // v1 tells only the sum; the processes tell their page tables.
  const uint64_t slab = std::min(stat.slab_bytes.value_or(0), kernel);
  const uint64_t tables = std::min(
      stat.page_tables_bytes.value_or(sums.page_table_bytes), kernel - slab);
  add_part(made, Category::Slab, std::string(category_name(Category::Slab)),
           signed_of(slab), "charged to the cgroup");
  add_part(made, Category::Ptab, std::string(category_name(Category::Ptab)),
           signed_of(tables),
           count_text(sums.readable_count, "process", "processes"));
  add_part(made, Category::Kern, std::string(category_name(Category::Kern)),
           signed_of(kernel - slab - tables),
           stat.slab_bytes ? "stacks, sockets, pipes"
                           : "slab, stacks, sockets, pipes");
}

}  // namespace

RunComposition compose(const model::Capture& capture,
                       const std::vector<model::DeviceNumber>& memory_devices,
                       RunMeasure measure) {
  const Sums sums =
      sum_processes(capture, memory_devices, measure != RunMeasure::Rss);
  RunComposition made;
  made.unreadable_count = sums.unreadable_count;
  add_categories_of(sums, made);
  made.captured_bytes = sums.all_bytes;
  const std::optional<uint64_t> held = model::held_bytes(capture);
  if (measure == RunMeasure::Charge && held) {
    made.captured_bytes = *held;
    add_unmapped(capture.stat, sums, made);
    add_kernel(capture.stat, sums, made);
  }
  made.not_explained_bytes = signed_of(made.captured_bytes);
  for (const RunPart& part : made.parts)
    made.not_explained_bytes -= part.bytes;
  std::ranges::stable_sort(made.parts, std::greater<>(), &RunPart::bytes);
  for (const auto& [key, row] : sums.mappings)
    made.mappings.push_back(row);
  std::ranges::stable_sort(made.mappings, std::greater<>(), &RunMapping::bytes);
  return made;
}

}  // namespace tidemark::analysis
