#include "analysis/composition.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/process_use.h"

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
  bytes.private_ = model::uss_bytes(fields).value_or(0) +
                   fields.get_or_zero(SmapsField::PrivateHugetlb);
  bytes.swap = fields.get(SmapsField::SwapPss)
                   .value_or(fields.get_or_zero(SmapsField::Swap));
  return bytes;
}

struct Named {
  RegionKind kind = RegionKind::Anonymous;
  std::string name;
};

// A recording keeps the kind of each mapping; what belongs to an image and has
// no name, its bss, follows it.
std::vector<Named> recorded_names(const Process& process) {
  std::vector<Named> named;
  std::string image;
  for (size_t i = 0; i < process.mappings->size(); ++i) {
    const Mapping& mapping = (*process.mappings)[i];
    const RegionKind kind = process.kinds[i];
    if (kind == RegionKind::Image && mapping.is_file()) image = mapping.name;
    const bool is_bss = kind == RegionKind::Image && mapping.name.empty();
    named.push_back({kind, is_bss ? image : mapping.name});
  }
  return named;
}

std::vector<Named> names_of(const model::Sample& sample,
                            const Process& process) {
  if (process.kinds.size() == process.mappings->size()) {
    return recorded_names(process);
  }
  std::vector<Named> named(process.mappings->size());
  const std::vector<model::Region> regions = model::find_regions(
      *process.mappings, model::region_hints(process, sample.memory_devices));
  for (const model::Region& region : regions) {
    for (size_t i = 0; i < region.mapping_count; ++i)
      named[region.first_index + i] = {region.kind, region.name};
  }
  return named;
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
  private_ += other.private_;
  swap += other.swap;
}

Composition compose(const model::Sample& sample) {
  Composition all;
  std::map<std::pair<Category, std::string>, Part> parts;
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
    const std::vector<Named> named = names_of(sample, process);
    for (size_t i = 0; i < named.size(); ++i) {
      const Mapping& mapping = (*process.mappings)[i];
      const Bytes bytes = bytes_of(mapping.fields);
      holder.is_scanned |= !mapping.fields.has(SmapsField::Pss);
      holder.bytes.add(bytes);
      const Category category = model::region_category(named[i].kind);
      const std::string name = model::object_name(named[i].kind, named[i].name);
      Part& part = parts[{category, name}];
      part.category = category;
      part.name = name;
      part.bytes.add(bytes);
      ++part.mapping_count;
    }
    if (holder.is_scanned) ++all.scanned_count;
    all.total.add(holder.bytes);
    all.processes.push_back(std::move(holder));
  }
  for (auto& [key, part] : parts)
    all.parts.push_back(std::move(part));
  std::ranges::stable_sort(all.parts, std::greater<>(),
                           [](const Part& part) { return part.bytes.pss; });
  std::ranges::stable_sort(
      all.processes, std::greater<>(),
      [](const Holder& holder) { return holder.bytes.pss; });
  return all;
}

}  // namespace tidemark::analysis
