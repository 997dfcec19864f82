#include "analysis/watcher_machine.h"

#include <algorithm>

namespace tidemark::analysis {
namespace {

using model::MemInfo;
using model::Process;

// The kernel's own arithmetic for /proc/PID/oom_adj, the scale of
// before 2.6.36.
int64_t oom_adj_of(int64_t oom_score_adj) {
  constexpr int64_t kMostAdj = 15;
  constexpr int64_t kDisable = 17;
  constexpr int64_t kMostScoreAdj = 1000;
  if (oom_score_adj == kMostScoreAdj) return kMostAdj;
  return oom_score_adj * kDisable / kMostScoreAdj;
}

std::optional<uint64_t> bytes_of(const Process& process,
                                 uint64_t page_size_bytes, PeakMetric metric) {
  if (metric == PeakMetric::Statm) {
    if (!process.statm) return std::nullopt;
    return process.statm->resident_pages * page_size_bytes;
  }
  if (!process.mappings) return std::nullopt;
  const model::SmapsField field = metric == PeakMetric::Rss
                                      ? model::SmapsField::Rss
                                      : model::SmapsField::Pss;
  uint64_t sum = 0;
  for (const model::Mapping& mapping : *process.mappings) {
    const std::optional<uint64_t> bytes = mapping.fields.get(field);
    if (!bytes) return std::nullopt;  // its pages were only scanned
    sum += *bytes;
  }
  return sum;
}

bool has_memory(const Process& process) {
  return process.state != model::ProcessState::Zombie &&
         process.state != model::ProcessState::KernelThread &&
         process.state != model::ProcessState::Gone;
}

std::optional<uint64_t> slab_of(const MemInfo& info) {
  if (!info.slab_reclaimable_bytes || !info.slab_unreclaimable_bytes) {
    return std::nullopt;
  }
  return *info.slab_reclaimable_bytes + *info.slab_unreclaimable_bytes;
}

// total - sum of (resident - shared) - slab - free - buffers - cached - swap
// cache. Shared pages are left out because those of files are in the cache.
std::optional<int64_t> other_kernel_of(const MemInfo& info,
                                       const std::vector<Process>& processes,
                                       uint64_t page_size_bytes) {
  const std::optional<uint64_t> slab = slab_of(info);
  if (!info.total_bytes || !slab || !info.free_bytes || !info.buffers_bytes ||
      !info.cached_bytes) {
    return std::nullopt;
  }
  uint64_t named = *slab + *info.free_bytes + *info.buffers_bytes +
                   *info.cached_bytes + info.swap_cached_bytes.value_or(0);
  for (const Process& process : processes) {
    if (!process.statm) continue;
    const uint64_t resident = process.statm->resident_pages;
    named += (resident - std::min(resident, process.statm->shared_pages)) *
             page_size_bytes;
  }
  return static_cast<int64_t>(*info.total_bytes - named);
}

std::optional<uint64_t> available_computed_of(const MemInfo& info) {
  if (!info.free_bytes || !info.buffers_bytes || !info.cached_bytes ||
      !info.shmem_bytes || !info.slab_reclaimable_bytes) {
    return std::nullopt;
  }
  return *info.free_bytes + *info.buffers_bytes + *info.cached_bytes -
         std::min(*info.cached_bytes, *info.shmem_bytes) +
         info.swap_cached_bytes.value_or(0) + *info.slab_reclaimable_bytes;
}

}  // namespace

WatcherMachine watcher_machine(const model::Sample& sample,
                               uint64_t page_size_bytes, PeakMetric metric) {
  WatcherMachine machine;
  if (sample.machine) machine.meminfo = sample.machine->meminfo;
  machine.slab_bytes = slab_of(machine.meminfo);
  machine.other_kernel_bytes =
      other_kernel_of(machine.meminfo, sample.processes, page_size_bytes);
  machine.available_computed_bytes = available_computed_of(machine.meminfo);
  for (const Process& process : sample.processes) {
    if (!has_memory(process)) continue;
    WatcherProcess& row = machine.processes.emplace_back();
    row.pid = process.id.pid;
    row.name = process.stat.comm;
    row.bytes = bytes_of(process, page_size_bytes, metric);
    row.oom_score = process.oom_score;
    row.oom_score_adj = process.oom_score_adjustment;
    if (row.oom_score_adj) row.oom_adj = oom_adj_of(*row.oom_score_adj);
    machine.sum_bytes += row.bytes.value_or(0);
  }
  std::ranges::stable_sort(
      machine.processes, std::greater<>(),
      [](const WatcherProcess& row) { return row.bytes.value_or(0); });
  return machine;
}

}  // namespace tidemark::analysis
