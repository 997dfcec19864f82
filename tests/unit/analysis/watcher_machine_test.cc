#include "analysis/watcher_machine.h"

#include <gtest/gtest.h>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::SmapsField;

using test::kPage;
constexpr uint64_t kKib = 1024;

model::Process process_of(int32_t pid, uint64_t resident_pages,
                          uint64_t shared_pages, uint64_t pss_kib) {
  model::Process process;
  process.id = {pid, 1};
  process.stat.comm = "p" + std::to_string(pid);
  process.statm = model::Statm{500, resident_pages, shared_pages, 0, 0};
  model::Mapping mapping;
  mapping.fields.set(SmapsField::Rss, 2 * pss_kib * kKib);
  mapping.fields.set(SmapsField::Pss, pss_kib * kKib);
  process.mappings = model::known<std::vector<model::Mapping>>({mapping});
  return process;
}

model::Sample machine_of(std::vector<model::Process> processes) {
  model::Sample sample;
  sample.machine = model::Machine();
  model::MemInfo& info = sample.machine->meminfo;
  info.total_bytes = 10'000 * kKib;
  info.free_bytes = 3'000 * kKib;
  info.available_bytes = 4'000 * kKib;
  info.buffers_bytes = 100 * kKib;
  info.cached_bytes = 1'000 * kKib;
  info.swap_cached_bytes = 10 * kKib;
  info.shmem_bytes = 300 * kKib;
  info.slab_reclaimable_bytes = 200 * kKib;
  info.slab_unreclaimable_bytes = 150 * kKib;
  sample.processes = std::move(processes);
  return sample;
}

TEST(WatcherMachine, EstimatesWhatElseTheKernelHolds) {
  const WatcherMachine machine = watcher_machine(
      machine_of({process_of(1, 100, 40, 7), process_of(2, 50, 60, 9)}), kPage,
      PeakMetric::Pss);
  EXPECT_EQ(machine.slab_bytes, 350 * kKib);
  // Of the first process 60 pages are its own; of the second none.
  EXPECT_EQ(machine.other_kernel_bytes,
            static_cast<int64_t>(
                (10'000 - 350 - 3'000 - 100 - 1'000 - 10 - 240) * kKib));
  EXPECT_EQ(machine.available_computed_bytes,
            (3'000 + 100 + 700 + 10 + 200) * kKib);
}

TEST(WatcherMachine, EstimateMayBeBelowZero) {
  const WatcherMachine machine = watcher_machine(
      machine_of({process_of(1, 2'000, 0, 7)}), kPage, PeakMetric::Pss);
  EXPECT_EQ(machine.other_kernel_bytes, (5'540 - 8'000) * int64_t{1024});
}

TEST(WatcherMachine, CountsAnUnknownSwapCacheAsNone) {
  model::Sample sample = machine_of({});
  sample.machine->meminfo.swap_cached_bytes.reset();
  EXPECT_EQ(
      watcher_machine(sample, kPage, PeakMetric::Pss).available_computed_bytes,
      4'000 * kKib);
  sample.machine->meminfo.cached_bytes.reset();
  const WatcherMachine machine =
      watcher_machine(sample, kPage, PeakMetric::Pss);
  EXPECT_FALSE(machine.available_computed_bytes);
  EXPECT_FALSE(machine.other_kernel_bytes);
}

TEST(WatcherMachine, OrdersProcessesByTheMetric) {
  const model::Sample sample =
      machine_of({process_of(1, 100, 0, 7), process_of(2, 50, 0, 9)});
  const auto first = [&](PeakMetric metric) {
    return watcher_machine(sample, kPage, metric).processes.front();
  };
  EXPECT_EQ(first(PeakMetric::Pss).pid, 2);
  EXPECT_EQ(first(PeakMetric::Rss).bytes, 18 * kKib);
  EXPECT_EQ(first(PeakMetric::Statm).pid, 1);
  EXPECT_EQ(first(PeakMetric::Statm).bytes, 100 * kPage);
  EXPECT_EQ(watcher_machine(sample, kPage, PeakMetric::Pss).sum_bytes,
            16 * kKib);
}

TEST(WatcherMachine, LeavesOutWhatHasNoMemoryAndOwnsUpToWhatWasNotRead) {
  model::Process zombie = process_of(3, 0, 0, 0);
  zombie.state = model::ProcessState::Zombie;
  model::Process denied = process_of(4, 10, 0, 0);
  denied.mappings = model::unknown<std::vector<model::Mapping>>("denied");
  const WatcherMachine machine =
      watcher_machine(machine_of({zombie, denied}), kPage, PeakMetric::Pss);
  ASSERT_EQ(machine.processes.size(), 1U);
  EXPECT_EQ(machine.processes[0].pid, 4);
  EXPECT_FALSE(machine.processes[0].bytes);
}

TEST(WatcherMachine, MakesTheOldAdjustmentAsTheKernelDoes) {
  for (const auto& [score_adj, adj] : {std::pair<int64_t, int64_t>{1000, 15},
                                       {-1000, -17},
                                       {500, 8},
                                       {0, 0}}) {
    model::Process process = process_of(1, 1, 0, 1);
    process.oom_score_adjustment = score_adj;
    EXPECT_EQ(watcher_machine(machine_of({process}), kPage, PeakMetric::Pss)
                  .processes[0]
                  .oom_adj,
              adj)
        << score_adj;
  }
}

}  // namespace
}  // namespace tidemark::analysis
