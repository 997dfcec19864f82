// A machine of 1 GiB with something in most columns of `system`.
#pragma once

#include "analysis/system_report.h"
#include "unit/quantities.h"

namespace tidemark::view {

inline analysis::SystemReport system_example() {
  using test::kMiB;
  using test::kPage;
  model::Sample sample;
  sample.started_realtime_ns = 1763194268123456789;
  model::Machine machine;
  model::MemInfo& m = machine.meminfo;
  m.total_bytes = 1000 * kMiB;
  m.free_bytes = 400 * kMiB;
  m.buffers_bytes = 10 * kMiB;
  m.cached_bytes = 200 * kMiB;
  m.anon_pages_bytes = 290 * kMiB;
  m.shmem_bytes = 50 * kMiB;
  m.slab_reclaimable_bytes = 30 * kMiB;
  m.slab_unreclaimable_bytes = 20 * kMiB;
  m.kernel_stack_bytes = 2 * kMiB;
  m.page_tables_bytes = 5 * kMiB;
  m.vmalloc_used_bytes = 10 * kMiB;
  m.percpu_bytes = 1 * kMiB;
  m.hugetlb_bytes = 0;
  m.zswap_bytes = 0;
  machine.zoneinfo = model::ZoneInfo{.free_pages = 400 * kMiB / kPage,
                                     .per_cpu_free_pages = 20 * kMiB / kPage,
                                     .managed_pages = 1000 * kMiB / kPage};
  sample.machine = machine;
  model::KernelReadings kernel;
  model::PageCounters counters;
  counters.balloon_pages = 0;
  counters.zsmalloc_pages = 0;
  kernel.counters = model::known(counters);
  kernel.iomem = model::known(
      model::IoMemory{{{0, 1024 * kMiB - 1, 0, "System RAM"}}, {}});
  kernel.vmalloc = model::unknown<model::VmallocInfo>("denied: vmallocinfo");
  kernel.slab = model::known(std::vector<model::SlabCache>{
      {"dentry", 1000, 2000, kPage, 8, 8, 250, 250}});
  kernel.sockets = model::known(model::SocketMemory{256, 0, 0});
  sample.kernel = std::move(kernel);
  return analysis::make_system_report(sample).value_or(
      analysis::SystemReport());
}

}  // namespace tidemark::view
