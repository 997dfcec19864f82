#include "analysis/composition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/process_use.h"
#include "base/text_map.h"
#include "model/best_known.h"
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
  if (!fields.has(SmapsField::Pss)) bytes.bounded = bytes.rss - huge;
  bytes.pss = fields.get_or_zero(SmapsField::Pss) + bytes.bounded + huge;
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
  // Without PSS there is nothing to divide: all of it is a bound, in the rest.
  if (whole.bounded == 0) {
    totals.pss_anon = fields.get_or_zero(SmapsField::PssAnon);
    totals.pss_file = fields.get_or_zero(SmapsField::PssFile);
    totals.pss_shmem = fields.get_or_zero(SmapsField::PssShmem);
  }
  std::vector<CategoryShare> shares;
  for (const model::RollupShare& share : model::split_rollup(totals)) {
    const bool is_rest = share.category == Category::Unnamed;
    if (share.pss == 0 && !is_rest) continue;
    Bytes bytes = {share.rss, share.pss, share.uss, share.swap,
                   is_rest && whole.lacks_uss};
    if (is_rest) bytes.bounded = whole.bounded;
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

void add_mappings(const model::Sample& sample, const Process& process,
                  PartTable& parts, Holder& holder) {
  const NamedMappings names = names_of(sample, process);
  for (size_t i = 0; i < names.named.size(); ++i) {
    const Mapping& mapping = (*process.mappings)[i];
    const Named& named = names.named[i];
    const std::string_view name = model::object_name(named.kind, named.name);
    const auto add = [&](CategoryShare share) {
      if (process.is_estimated)
        share.bytes.estimated = share.bytes.pss - share.bytes.bounded;
      add_share(share, name, parts, holder);
    };
    if (named.kind != RegionKind::Rollup) {
      add({model::region_category(named.kind), bytes_of(mapping.fields)});
      continue;
    }
    for (const CategoryShare& share : shares_of_rollup(mapping.fields))
      add(share);
  }
}

void add_unsplit(const model::ResidentCounters& unsplit, PartTable& parts,
                 Holder& holder) {
  const model::BestShares shares = model::bounded_shares(unsplit, 1);
  for (Category category : model::kCategories) {
    const model::BestShare& share = shares[static_cast<size_t>(category)];
    if (share.rss == 0 && share.swap == 0) continue;
    add_share({category,
               {share.rss, share.pss, 0, share.swap, share.rss > 0,
                share.bounded, 0}},
              model::kUnsplitName, parts, holder);
  }
}

bool has_memory(const Process& process) {
  return process.state != model::ProcessState::Zombie &&
         process.state != model::ProcessState::KernelThread &&
         process.state != model::ProcessState::Gone;
}

bool has_split(const Process& process) {
  return process.mappings &&
         std::ranges::all_of(*process.mappings, [](const Mapping& mapping) {
           return mapping.fields.has(SmapsField::Pss);
         });
}

// The amounts of one category, of parts or of processes.
using Amounts = std::vector<Bytes*>;

Amounts of_category(std::vector<Part>& parts, Category category) {
  Amounts amounts;
  for (Part& part : parts) {
    if (part.category == category) amounts.push_back(&part.bytes);
  }
  return amounts;
}

Amounts of_category(std::vector<Holder>& holders, Category category) {
  Amounts amounts;
  for (Holder& holder : holders) {
    auto kind = holder.kinds.find(category);
    if (kind != holder.kinds.end()) amounts.push_back(&kind->second);
  }
  return amounts;
}

// In proportion to what each has of it.
void take_from(const Amounts& amounts, uint64_t Bytes::*of, uint64_t surplus) {
  uint64_t whole = 0;
  for (const Bytes* bytes : amounts)
    whole += bytes->*of;
  const uint64_t taken = std::min(surplus, whole);
  uint64_t left = taken;
  for (Bytes* bytes : amounts) {
    uint64_t& amount = bytes->*of;
    if (amount == 0) continue;
    const uint64_t less =
        std::min({left, amount,
                  static_cast<uint64_t>(std::ceil(
                      static_cast<double>(amount) * static_cast<double>(taken) /
                      static_cast<double>(whole)))});
    amount -= less;
    const double share_left = static_cast<double>(bytes->pss - less) /
                              static_cast<double>(bytes->pss);
    bytes->uss =
        static_cast<uint64_t>(static_cast<double>(bytes->uss) * share_left);
    bytes->pss -= less;
    left -= less;
  }
}

model::BestShare best_of(const Bytes& bytes) {
  return {bytes.rss,  bytes.pss,     bytes.uss,
          bytes.swap, bytes.bounded, bytes.estimated};
}

Bytes sum_of(const std::vector<Part>& parts) {
  Bytes sum;
  for (const Part& part : parts)
    sum.add(part.bytes);
  return sum;
}

// Memory that several processes share is in the bound of each of them; together
// they have no more of it than there is. Where estimates are more than there
// is, each is too high; a bound is right for each process alone.
void count_once(Composition& all) {
  model::BestShares sums{};
  for (const Part& part : all.parts)
    sums[static_cast<size_t>(part.category)].add(best_of(part.bytes));
  const model::BestShares before = sums;
  model::count_shared_once(all.limits, sums);
  if (sums == before) return;
  for (Category category : model::kCategories) {
    const auto at = static_cast<size_t>(category);
    const uint64_t bounded = before[at].bounded - sums[at].bounded;
    const uint64_t estimated = before[at].estimated - sums[at].estimated;
    const Amounts of_parts = of_category(all.parts, category);
    take_from(of_parts, &Bytes::bounded, bounded);
    take_from(of_parts, &Bytes::estimated, estimated);
    take_from(of_category(all.processes, category), &Bytes::estimated,
              estimated);
    all.counted_again_bytes += bounded;
  }
  all.total = sum_of(all.parts);
  for (Holder& holder : all.processes)
    holder.bytes = sum_of(holder.kinds);
}

// The processes of one of two moments.
class SideIndex {
 public:
  explicit SideIndex(const model::Sample& sample) : sample_(sample) {
    for (const Process& process : sample.processes) {
      if (!has_memory(process)) continue;
      known_.emplace(key_of(process), has_split(process));
    }
  }

  std::set<size_t> without_split(const SideIndex& other) const {
    std::set<std::string> names;
    for (const Process& process : other.sample_.processes) {
      if (has_memory(process) && !has_split(process) &&
          !known_.contains(key_of(process))) {
        names.insert(display_name(process));
      }
    }
    std::set<size_t> chosen;
    for (size_t i = 0; i < sample_.processes.size(); ++i) {
      const Process& process = sample_.processes[i];
      if (!has_memory(process)) continue;
      auto there = other.known_.find(key_of(process));
      const bool is_split_there = there != other.known_.end()
                                      ? there->second
                                      : !names.contains(display_name(process));
      if (!has_split(process) || !is_split_there) chosen.insert(i);
    }
    return chosen;
  }

 private:
  using Key = std::pair<int32_t, uint64_t>;
  static Key key_of(const Process& process) {
    return {process.id.pid, process.id.start_ticks};
  }

  const model::Sample& sample_;
  std::map<Key, bool> known_;  // whether its shares were read
};

Holder holder_of(const Process& process, uint64_t page_bytes) {
  Holder holder;
  holder.id = process.id;
  holder.name = display_name(process);
  holder.peak_rss_bytes = process.status.peak_rss_bytes;
  if (process.statm) {
    holder.resident_bytes = process.statm->resident_pages * page_bytes;
  }
  return holder;
}

}  // namespace

void Bytes::add(const Bytes& other) {
  rss += other.rss;
  pss += other.pss;
  uss += other.uss;
  lacks_uss |= other.lacks_uss;
  swap += other.swap;
  bounded += other.bounded;
  estimated += other.estimated;
}

void count_once(const model::SharedLimits& limits, Kinds& kinds) {
  model::BestShares sums{};
  for (const auto& [category, bytes] : kinds)
    sums[static_cast<size_t>(category)] = best_of(bytes);
  const model::BestShares before = sums;
  model::count_shared_once(limits, sums);
  for (auto& [category, bytes] : kinds) {
    const auto at = static_cast<size_t>(category);
    if (sums[at] == before[at]) continue;
    bytes.pss = sums[at].pss;
    bytes.uss = sums[at].uss;
    bytes.bounded = sums[at].bounded;
    bytes.estimated = sums[at].estimated;
  }
}

Bytes sum_of(const Kinds& kinds) {
  Bytes sum;
  for (const auto& [category, bytes] : kinds)
    sum.add(bytes);
  return sum;
}

Bytes bytes_from(const Composition& composition, size_t first) {
  Kinds kinds;
  for (size_t i = first; i < composition.processes.size(); ++i) {
    for (const auto& [category, bytes] : composition.processes[i].kinds)
      kinds[category].add(bytes);
  }
  count_once(composition.limits, kinds);
  return sum_of(kinds);
}

ByCounters by_counters(const model::Sample& before,
                       const model::Sample& after) {
  const SideIndex first(before);
  const SideIndex second(after);
  ByCounters chosen;
  chosen.before = first.without_split(second);
  chosen.after = second.without_split(first);
  for (size_t i : chosen.before) {
    chosen.names.insert(display_name(before.processes[i]));
    chosen.is_unsplit_before |= !has_split(before.processes[i]);
  }
  for (size_t i : chosen.after) {
    chosen.names.insert(display_name(after.processes[i]));
    chosen.is_unsplit_after |= !has_split(after.processes[i]);
  }
  return chosen;
}

Composition compose(const model::Sample& sample,
                    const std::set<size_t>& by_counters) {
  Composition all;
  PartTable parts;
  const uint64_t page_bytes =
      sample.machine ? sample.machine->page_size_bytes : 4096;
  uint64_t largest_unsplit = 0;
  for (size_t i = 0; i < sample.processes.size(); ++i) {
    const Process& process = sample.processes[i];
    if (!has_memory(process)) continue;
    Holder holder = holder_of(process, page_bytes);
    all.page_table_bytes += process.status.page_table_bytes.value_or(0);
    const bool takes_mappings = process.mappings && !by_counters.contains(i);
    holder.has_split = takes_mappings && has_split(process);
    if (!process.mappings) {
      holder.unknown_because = process.mappings.unknown_because;
      ++all.undetailed_count;
      all.undetailed_bytes += holder.resident_bytes.value_or(0);
    }
    const std::optional<model::ResidentCounters> counters =
        model::resident_counters(process, page_bytes);
    if (takes_mappings) {
      if (!holder.has_split) ++all.scanned_count;
      holder.split_age_ns = process.split_age_ns;
      add_mappings(sample, process, parts, holder);
      add_unsplit(process.unsplit, parts, holder);
    } else if (counters) {
      add_unsplit(*counters, parts, holder);
    } else {
      holder.is_unknown = true;
      ++all.unknown_count;
    }
    if (holder.bytes.estimated > 0) {
      ++all.estimated_count;
      all.oldest_split_ns = std::max(all.oldest_split_ns, holder.split_age_ns);
    }
    if (!holder.has_split) ++all.unsplit_count;
    if (!holder.has_split && holder.bytes.rss >= largest_unsplit) {
      largest_unsplit = holder.bytes.rss;
      all.unsplit_because = holder.unknown_because;
    }
    all.total.add(holder.bytes);
    all.processes.push_back(std::move(holder));
  }
  all.parts = parts.take();
  if (sample.machine) {
    all.limits = {sample.machine->meminfo.mapped_bytes,
                  sample.machine->meminfo.shmem_bytes};
  }
  count_once(all);
  std::ranges::stable_sort(all.parts, std::greater<>(),
                           [](const Part& part) { return part.bytes.pss; });
  std::ranges::stable_sort(
      all.processes, std::greater<>(),
      [](const Holder& holder) { return holder.bytes.pss; });
  return all;
}

}  // namespace tidemark::analysis
