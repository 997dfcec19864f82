#include "store/machine_rows.h"

#include "base/units.h"

namespace tidemark::store {
namespace {

using model::GroupStat;
using model::Machine;
using model::MemInfo;
using model::VmStat;

constexpr uint64_t kNsPerUs = 1000;

constexpr std::optional<uint64_t> MemInfo::*kMemInfo[] = {
    &MemInfo::total_bytes,
    &MemInfo::free_bytes,
    &MemInfo::available_bytes,
    &MemInfo::buffers_bytes,
    &MemInfo::cached_bytes,
    &MemInfo::swap_cached_bytes,
    &MemInfo::swap_total_bytes,
    &MemInfo::swap_free_bytes,
    &MemInfo::zswap_bytes,
    &MemInfo::anon_pages_bytes,
    &MemInfo::mapped_bytes,
    &MemInfo::shmem_bytes,
    &MemInfo::slab_reclaimable_bytes,
    &MemInfo::slab_unreclaimable_bytes,
    &MemInfo::kernel_stack_bytes,
    &MemInfo::page_tables_bytes,
    &MemInfo::secondary_page_tables_bytes,
    &MemInfo::vmalloc_used_bytes,
    &MemInfo::percpu_bytes,
    &MemInfo::hugetlb_bytes,
    &MemInfo::huge_page_size_bytes,
};
constexpr std::optional<uint64_t> VmStat::*kVmStat[] = {
    &VmStat::fault_count,         &VmStat::major_fault_count,
    &VmStat::swapped_in_pages,    &VmStat::swapped_out_pages,
    &VmStat::scanned_pages,       &VmStat::reclaimed_pages,
    &VmStat::stall_count,         &VmStat::refault_anon_pages,
    &VmStat::refault_file_pages,  &VmStat::huge_fault_count,
    &VmStat::compact_stall_count, &VmStat::oom_kill_count,
};
constexpr std::optional<uint64_t> GroupStat::*kGroupStat[] = {
    &GroupStat::anon_bytes,        &GroupStat::file_bytes,
    &GroupStat::shmem_bytes,       &GroupStat::file_mapped_bytes,
    &GroupStat::kernel_bytes,      &GroupStat::slab_bytes,
    &GroupStat::page_tables_bytes, &GroupStat::kernel_stack_bytes,
    &GroupStat::percpu_bytes,      &GroupStat::socket_bytes,
    &GroupStat::vmalloc_bytes,     &GroupStat::swap_bytes,
};

std::optional<int64_t> divided(std::optional<uint64_t> value, uint64_t unit) {
  if (!value) return std::nullopt;
  return static_cast<int64_t>(*value / unit);
}

std::optional<uint64_t> multiplied(std::optional<int64_t> value,
                                   uint64_t unit) {
  if (!value) return std::nullopt;
  return static_cast<uint64_t>(*value) * unit;
}

}  // namespace

MachineRow machine_row(const Machine& machine) {
  MachineRow row;
  size_t at = 0;
  for (auto field : kMemInfo)
    row[at++] = divided(machine.meminfo.*field, base::kKib);
  if (machine.zoneinfo) {
    row[at] = divided(machine.zoneinfo->free_pages, 1);
    row[at + 1] = divided(machine.zoneinfo->managed_pages, 1);
    row[at + 2] = divided(machine.zoneinfo->per_cpu_free_pages, 1);
  }
  at += 3;
  for (auto field : kVmStat)
    row[at++] = divided(machine.vmstat.*field, 1);
  row[at++] = divided(machine.pressure.some_ns, kNsPerUs);
  row[at++] = divided(machine.pressure.full_ns, kNsPerUs);
  if (machine.zram) {
    row[at] = divided(machine.zram->stored_bytes, base::kKib);
    row[at + 1] = divided(machine.zram->memory_bytes, base::kKib);
  }
  static_assert(std::size(kMemInfo) + 3 + std::size(kVmStat) + 4 ==
                kMachineColumns);
  return row;
}

void fill_machine(const MachineRow& row, Machine& machine) {
  size_t at = 0;
  for (auto field : kMemInfo)
    machine.meminfo.*field = multiplied(row[at++], base::kKib);
  if (row[at]) {
    machine.zoneinfo = model::ZoneInfo();
    machine.zoneinfo->free_pages = multiplied(row[at], 1).value_or(0);
    machine.zoneinfo->managed_pages = multiplied(row[at + 1], 1).value_or(0);
    machine.zoneinfo->per_cpu_free_pages =
        multiplied(row[at + 2], 1).value_or(0);
  }
  at += 3;
  for (auto field : kVmStat)
    machine.vmstat.*field = multiplied(row[at++], 1);
  machine.pressure.some_ns = multiplied(row[at++], kNsPerUs);
  machine.pressure.full_ns = multiplied(row[at++], kNsPerUs);
  if (row[at]) {
    machine.zram = model::Zram{multiplied(row[at], base::kKib).value_or(0),
                               multiplied(row[at + 1], base::kKib).value_or(0)};
  }
}

CgroupRow cgroup_row(const model::Cgroup& cgroup) {
  CgroupRow row;
  row[0] = divided(cgroup.charged_bytes.value, base::kKib);
  row[1] = divided(cgroup.peak_bytes.value, base::kKib);
  row[2] = divided(cgroup.limit_bytes, base::kKib);
  size_t at = 3;
  for (auto field : kGroupStat)
    row[at++] = divided(cgroup.stat.*field, base::kKib);
  static_assert(std::size(kGroupStat) + 3 == kCgroupColumns);
  return row;
}

void fill_cgroup(const CgroupRow& row, model::Cgroup& cgroup) {
  const auto reading = [](std::optional<int64_t> kib) {
    std::optional<uint64_t> bytes = multiplied(kib, base::kKib);
    return bytes ? model::known(*bytes)
                 : model::unknown<uint64_t>("not in the recording");
  };
  cgroup.charged_bytes = reading(row[0]);
  cgroup.peak_bytes = reading(row[1]);
  cgroup.limit_bytes = multiplied(row[2], base::kKib);
  size_t at = 3;
  for (auto field : kGroupStat)
    cgroup.stat.*field = multiplied(row[at++], base::kKib);
}

}  // namespace tidemark::store
