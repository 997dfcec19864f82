#include "analysis/composition.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/process_use.h"
#include "base/text_map.h"
#include "model/rollup.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::Mapping;
using model::Process;
using model::RegionKind;
using model::SmapsField;

Bytes bytes_of(const model::SmapsFields& fields) {
  const uint64_t huge = model::hugetlb_bytes(fields).value_or(0);
  Bytes bytes;
  bytes.rss = fields.get_or_zero(SmapsField::Rss) + huge;
  bytes.pss = fields.get_or_zero(SmapsField::Pss) + huge;
  bytes.lacks_uss = !model::uss_bytes(fields) && bytes.rss > 0;
  bytes.uss = model::uss_bytes(fields).value_or(0) +
              fields.get_or_zero(SmapsField::PrivateHugetlb);
  bytes.swap = fields.get(SmapsField::SwapPss)
                   .value_or(fields.get_or_zero(SmapsField::Swap));
  return bytes;
}

// The name is of the sample, or of the regions that were found in it.
struct Named {
  RegionKind kind = RegionKind::Anonymous;
  std::string_view name;
};

struct NamedMappings {
  std::vector<model::Region> regions;  // what the names point into
  std::vector<Named> named;            // one for each mapping
};

// A recording keeps the kind of each mapping; what belongs to an image and has
// no name, its bss, follows it.
std::vector<Named> recorded_names(const Process& process) {
  std::vector<Named> named;
  named.reserve(process.mappings->size());
  std::string_view image;
  for (size_t i = 0; i < process.mappings->size(); ++i) {
    const Mapping& mapping = (*process.mappings)[i];
    const RegionKind kind = process.kinds[i];
    const bool is_bss = kind == RegionKind::Image && mapping.name.empty();
    // By its name, not its inode: what was imported may not have one.
    if (kind == RegionKind::Image && !is_bss) image = mapping.name;
    named.push_back({kind, is_bss ? image : mapping.name});
  }
  return named;
}

NamedMappings names_of(const model::Sample& sample, const Process& process) {
  NamedMappings names;
  if (process.kinds.size() == process.mappings->size()) {
    names.named = recorded_names(process);
    return names;
  }
  names.named.resize(process.mappings->size());
  names.regions = model::find_regions(
      *process.mappings, model::region_hints(process, sample.memory_devices));
  for (const model::Region& region : names.regions) {
    for (size_t i = 0; i < region.mapping_count; ++i)
      names.named[region.first_index + i] = {region.kind, region.name};
  }
  return names;
}

struct CategoryShare {
  Category category = Category::Anon;
  Bytes bytes;
};

std::vector<CategoryShare> shares_of_rollup(const model::SmapsFields& fields) {
  const Bytes whole = bytes_of(fields);
  model::RollupTotals totals;
  totals.hugetlb = model::hugetlb_bytes(fields).value_or(0);
  totals.private_hugetlb = fields.get_or_zero(SmapsField::PrivateHugetlb);
  totals.rss = whole.rss - totals.hugetlb;
  totals.pss = whole.pss - totals.hugetlb;
  totals.uss = whole.uss - totals.private_hugetlb;
  totals.swap = whole.swap;
  totals.pss_anon = fields.get_or_zero(SmapsField::PssAnon);
  totals.pss_file = fields.get_or_zero(SmapsField::PssFile);
  totals.pss_shmem = fields.get_or_zero(SmapsField::PssShmem);
  std::vector<CategoryShare> shares;
  for (const model::RollupShare& share : model::split_rollup(totals)) {
    const bool is_rest = share.category == Category::Unnamed;
    if (share.pss == 0 && !is_rest) continue;
    Bytes bytes = {share.rss, share.pss, share.uss, share.swap};
    bytes.lacks_uss = is_rest && whole.lacks_uss;
    shares.push_back({share.category, bytes});
  }
  return shares;
}

// The parts so far. Neighbours in an address space are often of one object, so
// the last one is tried first.
class PartTable {
 public:
  Part& at(Category category, std::string_view name) {
    if (last_ && last_->category == category && last_->name == name) {
      return *last_;
    }
    base::TextMap<Part>& of_category = parts_[static_cast<size_t>(category)];
    auto found = of_category.find(name);
    if (found == of_category.end()) {
      found = of_category.try_emplace(std::string(name)).first;
      found->second.category = category;
      found->second.name = name;
    }
    last_ = &found->second;
    return *last_;
  }

  std::vector<Part> take() {
    std::vector<Part> all;
    for (base::TextMap<Part>& of_category : parts_) {
      for (auto& [name, part] : of_category)
        all.push_back(std::move(part));
    }
    std::ranges::sort(all, [](const Part& left, const Part& right) {
      return std::tie(right.bytes.pss, left.category, left.name) <
             std::tie(left.bytes.pss, right.category, right.name);
    });
    return all;
  }

 private:
  std::array<base::TextMap<Part>, model::kCategoryCount> parts_;
  Part* last_ = nullptr;  // elements of the maps stay where they are
};

void add_share(const CategoryShare& share, std::string_view name,
               PartTable& parts, Holder& holder) {
  holder.bytes.add(share.bytes);
  holder.kinds[share.category].add(share.bytes);
  Part& part = parts.at(share.category, name);
  part.bytes.add(share.bytes);
  ++part.mapping_count;
}

void add_mapping(const Mapping& mapping, const Named& named, PartTable& parts,
                 Holder& holder) {
  holder.is_scanned |= !mapping.fields.has(SmapsField::Pss);
  const std::string_view name = model::object_name(named.kind, named.name);
  if (named.kind != RegionKind::Rollup) {
    add_share({model::region_category(named.kind), bytes_of(mapping.fields)},
              name, parts, holder);
    return;
  }
  for (const CategoryShare& share : shares_of_rollup(mapping.fields))
    add_share(share, name, parts, holder);
}

bool has_memory(const Process& process) {
  return process.state != model::ProcessState::Zombie &&
         process.state != model::ProcessState::KernelThread &&
         process.state != model::ProcessState::Gone;
}

}  // namespace

void Bytes::add(const Bytes& other) {
  rss += other.rss;
  pss += other.pss;
  uss += other.uss;
  lacks_uss |= other.lacks_uss;
  swap += other.swap;
}

Composition compose(const model::Sample& sample) {
  Composition all;
  PartTable parts;
  const uint64_t page_bytes =
      sample.machine ? sample.machine->page_size_bytes : 4096;
  for (const Process& process : sample.processes) {
    if (!has_memory(process)) continue;
    Holder holder;
    holder.id = process.id;
    holder.name = display_name(process);
    holder.peak_rss_bytes = process.status.peak_rss_bytes;
    if (process.statm) {
      holder.resident_bytes = process.statm->resident_pages * page_bytes;
    }
    all.page_table_bytes += process.status.page_table_bytes.value_or(0);
    if (!process.mappings) {
      ++all.undetailed_count;
      all.undetailed_bytes += holder.resident_bytes.value_or(0);
      all.processes.push_back(std::move(holder));
      continue;
    }
    holder.has_detail = true;
    const NamedMappings names = names_of(sample, process);
    for (size_t i = 0; i < names.named.size(); ++i)
      add_mapping((*process.mappings)[i], names.named[i], parts, holder);
    if (holder.is_scanned) ++all.scanned_count;
    all.total.add(holder.bytes);
    all.processes.push_back(std::move(holder));
  }
  all.parts = parts.take();
  std::ranges::stable_sort(
      all.processes, std::greater<>(),
      [](const Holder& holder) { return holder.bytes.pss; });
  return all;
}

}  // namespace tidemark::analysis
