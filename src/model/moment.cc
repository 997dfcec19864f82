#include "model/moment.h"

namespace tidemark::model {
namespace {

std::optional<int64_t> signed_of(std::optional<uint64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

}  // namespace

NamedValues process_values(const Process& process, uint64_t page_size_bytes) {
  const SmapsFields none;
  const SmapsFields& sum = process.rollup ? *process.rollup : none;
  const auto pages = [&](uint64_t Statm::*field) {
    return process.statm ? signed_of((*process.statm).*field * page_size_bytes)
                         : std::nullopt;
  };
  const ProcessStatus& status = process.status;
  // A process has at least one thread: zero is what was not told.
  const std::optional<uint64_t> threads =
      process.stat.thread_count > 0 ? std::optional(process.stat.thread_count)
                                    : std::nullopt;
  const std::optional<uint64_t> mappings =
      process.mappings ? std::optional<uint64_t>(process.mappings->size())
                       : std::nullopt;
  return {
      {"rss_bytes", signed_of(sum.get(SmapsField::Rss))},
      {"pss_bytes", signed_of(sum.get(SmapsField::Pss))},
      {"uss_bytes", signed_of(uss_bytes(sum))},
      {"swap_bytes", signed_of(sum.get(SmapsField::Swap))},
      {"swap_pss_bytes", signed_of(sum.get(SmapsField::SwapPss))},
      {"hugetlb_bytes", signed_of(hugetlb_bytes(sum))},
      {"mapping_count", signed_of(mappings)},
      {"resident_bytes", pages(&Statm::resident_pages)},
      {"resident_shared_bytes", pages(&Statm::shared_pages)},
      {"size_bytes", pages(&Statm::size_pages)},
      {"peak_rss_bytes", signed_of(status.peak_rss_bytes)},
      {"rss_anon_bytes", signed_of(status.rss_anon_bytes)},
      {"rss_file_bytes", signed_of(status.rss_file_bytes)},
      {"rss_shmem_bytes", signed_of(status.rss_shmem_bytes)},
      {"page_table_bytes", signed_of(status.page_table_bytes)},
      {"locked_bytes", signed_of(status.locked_bytes)},
      {"thread_count", signed_of(threads)},
      {"oom_score", process.oom_score},
      {"oom_score_adjustment", process.oom_score_adjustment},
  };
}

NamedValues machine_values(const Machine& machine) {
  const MemInfo& info = machine.meminfo;
  const VmStat& events = machine.vmstat;
  const std::optional<uint64_t> zram_stored =
      machine.zram ? std::optional(machine.zram->stored_bytes) : std::nullopt;
  const std::optional<uint64_t> zram_memory =
      machine.zram ? std::optional(machine.zram->memory_bytes) : std::nullopt;
  return {
      {"total_bytes", signed_of(info.total_bytes)},
      {"free_bytes", signed_of(info.free_bytes)},
      {"available_bytes", signed_of(info.available_bytes)},
      {"buffers_bytes", signed_of(info.buffers_bytes)},
      {"cached_bytes", signed_of(info.cached_bytes)},
      {"swap_cached_bytes", signed_of(info.swap_cached_bytes)},
      {"swap_total_bytes", signed_of(info.swap_total_bytes)},
      {"swap_free_bytes", signed_of(info.swap_free_bytes)},
      {"zswap_bytes", signed_of(info.zswap_bytes)},
      {"anon_pages_bytes", signed_of(info.anon_pages_bytes)},
      {"mapped_bytes", signed_of(info.mapped_bytes)},
      {"shmem_bytes", signed_of(info.shmem_bytes)},
      {"slab_reclaimable_bytes", signed_of(info.slab_reclaimable_bytes)},
      {"slab_unreclaimable_bytes", signed_of(info.slab_unreclaimable_bytes)},
      {"kernel_stack_bytes", signed_of(info.kernel_stack_bytes)},
      {"page_tables_bytes", signed_of(info.page_tables_bytes)},
      {"vmalloc_used_bytes", signed_of(info.vmalloc_used_bytes)},
      {"percpu_bytes", signed_of(info.percpu_bytes)},
      {"hugetlb_bytes", signed_of(info.hugetlb_bytes)},
      {"faults", signed_of(events.fault_count)},
      {"major_faults", signed_of(events.major_fault_count)},
      {"swapped_in_pages", signed_of(events.swapped_in_pages)},
      {"swapped_out_pages", signed_of(events.swapped_out_pages)},
      {"scanned_pages", signed_of(events.scanned_pages)},
      {"reclaimed_pages", signed_of(events.reclaimed_pages)},
      {"stalls", signed_of(events.stall_count)},
      {"oom_kills", signed_of(events.oom_kill_count)},
      {"pressure_some_ns", signed_of(machine.pressure.some_ns)},
      {"pressure_full_ns", signed_of(machine.pressure.full_ns)},
      {"zram_stored_bytes", signed_of(zram_stored)},
      {"zram_memory_bytes", signed_of(zram_memory)},
  };
}

}  // namespace tidemark::model
