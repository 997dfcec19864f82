#include "analysis/system_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::KernelReadings;
using model::Machine;
using model::MemInfo;
using model::PageCounters;
using model::Sample;

using test::kMiB;
using test::kPage;

model::VmallocArea area(const char* caller, uint64_t size,
                        std::optional<uint64_t> pages) {
  model::VmallocArea made;
  made.caller = caller;
  made.size_bytes = size;
  made.pages = pages;
  made.kind = model::VmallocKind::Vmalloc;
  return made;
}

// 1 GiB and a bit, root, everything told.
Sample example() {
  Sample sample;
  sample.started_monotonic_ns = 5;
  sample.ended_monotonic_ns = 12;
  Machine machine;
  MemInfo& m = machine.meminfo;
  m.total_bytes = 1000 * kMiB;
  m.free_bytes = 400 * kMiB;
  m.buffers_bytes = 10 * kMiB;
  m.cached_bytes = 200 * kMiB;
  m.swap_cached_bytes = 0;
  m.anon_pages_bytes = 150 * kMiB;
  m.shmem_bytes = 50 * kMiB;
  m.slab_reclaimable_bytes = 30 * kMiB;
  m.slab_unreclaimable_bytes = 20 * kMiB;
  m.kernel_stack_bytes = 2 * kMiB;
  m.page_tables_bytes = 5 * kMiB;
  m.secondary_page_tables_bytes = kMiB;
  m.vmalloc_used_bytes = 10 * kMiB;
  m.percpu_bytes = 4 * kMiB;
  m.hugetlb_bytes = 64 * kMiB;
  m.zswap_bytes = 0;
  machine.zoneinfo = model::ZoneInfo{.free_pages = 400 * kMiB / kPage,
                                     .per_cpu_free_pages = 20 * kMiB / kPage,
                                     .managed_pages = 1000 * kMiB / kPage};
  sample.machine = machine;
  KernelReadings kernel;
  PageCounters counters;
  counters.balloon_pages = 0;
  counters.zsmalloc_pages = 0;
  counters.active_anon_pages = 200 * kMiB / kPage;
  counters.inactive_anon_pages = 0;
  counters.active_file_pages = 160 * kMiB / kPage;
  counters.inactive_file_pages = 0;
  counters.unevictable_pages = 0;
  kernel.counters = model::known(counters);
  kernel.iomem = model::known(
      model::IoMemory{{{0, 1024 * kMiB - 1, 0, "System RAM"}}, {}});
  model::VmallocInfo vmalloc;
  vmalloc.areas.push_back(area("kernel_clone+0x94/0x3e0", 20480, uint64_t{4}));
  vmalloc.areas.push_back(
      area("pcpu_get_vm_areas+0x0/0x1050", kMiB, std::nullopt));
  kernel.vmalloc = model::known(vmalloc);
  kernel.slab = model::known(
      std::vector<model::SlabCache>{{"dentry", 100, 200, kPage, 8, 8, 20, 25}});
  kernel.sockets = model::known(model::SocketMemory{256, 0, 0});
  sample.kernel = std::move(kernel);
  return sample;
}

SystemReport report_of(const Sample& sample) {
  std::optional<SystemReport> report = make_system_report(sample);
  EXPECT_TRUE(report);
  return report.value_or(SystemReport());
}

int64_t bytes_of(const SystemReport& report, SystemColumn column) {
  EXPECT_TRUE(report.at(column).bytes)
      << system_column_name(column).token << ": "
      << report.at(column).bytes.unknown_because;
  return report.at(column).bytes.value.value_or(-1);
}

int64_t mib(uint64_t count) {
  return static_cast<int64_t>(count * kMiB);
}

void expect_sums_up(const SystemReport& report) {
  uint64_t sum = static_cast<uint64_t>(report.other_bytes);
  for (const SystemValue& value : report.columns) {
    sum += static_cast<uint64_t>(value.bytes.value.value_or(0));
    uint64_t terms = 0;
    for (const SystemTerm& term : value.terms)
      terms += static_cast<uint64_t>(term.bytes);
    EXPECT_EQ(terms, static_cast<uint64_t>(value.bytes.value.value_or(0)));
    EXPECT_EQ(value.bytes.value.has_value(),
              value.bytes.unknown_because.empty());
  }
  EXPECT_EQ(sum, report.total_bytes);
}

TEST(SystemReport, NamesEveryPart) {
  const SystemReport report = report_of(example());
  using enum SystemColumn;
  EXPECT_EQ(report.total_bytes, 1024 * kMiB);
  EXPECT_EQ(report.read_ns, 7U);
  EXPECT_EQ(bytes_of(report, Free), mib(400));
  EXPECT_EQ(bytes_of(report, FreePerCpu), mib(20));
  EXPECT_EQ(bytes_of(report, FreeUninitialised), 0);
  EXPECT_EQ(bytes_of(report, Anon), mib(150));
  EXPECT_EQ(bytes_of(report, File), mib(160));
  EXPECT_EQ(bytes_of(report, Shmem), mib(50));
  const int64_t slack = (25 * 8 - 100) * 4096;
  EXPECT_EQ(bytes_of(report, SlabSlack), slack);
  EXPECT_EQ(bytes_of(report, SlabUsed), mib(50) - slack);
  EXPECT_EQ(bytes_of(report, PageTables), mib(6));
  EXPECT_EQ(bytes_of(report, Stacks), mib(2));
  EXPECT_EQ(bytes_of(report, Vmalloc), mib(8)) << "stacks are in VmallocUsed";
  EXPECT_EQ(bytes_of(report, PerCpu), mib(1)) << "the rest is of the boot";
  EXPECT_EQ(bytes_of(report, Sockets), mib(1));
  EXPECT_EQ(bytes_of(report, HugeTlb), mib(64));
  EXPECT_EQ(bytes_of(report, Compressed), 0);
  EXPECT_EQ(bytes_of(report, Balloon), 0);
  EXPECT_EQ(bytes_of(report, Wired), mib(24));
  expect_sums_up(report);
  EXPECT_TRUE(unknown_columns(report).empty());
}

TEST(SystemReport, NeedsTheTotals) {
  Sample sample = example();
  sample.machine->meminfo.total_bytes.reset();
  EXPECT_FALSE(make_system_report(sample));
  EXPECT_FALSE(make_system_report(Sample()));
}

TEST(SystemReport, SplitsFreeMemoryThatNoZoneHasYet) {
  Sample sample = example();
  sample.machine->zoneinfo->managed_pages = 900 * kMiB / kPage;
  sample.machine->zoneinfo->free_pages = 300 * kMiB / kPage;
  const SystemReport report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Free), mib(300));
  EXPECT_EQ(bytes_of(report, SystemColumn::FreeUninitialised), mib(100));
  expect_sums_up(report);
}

TEST(SystemReport, DoesNotCallFreeWhatMemFreeDoesNotHold) {
  Sample sample = example();
  sample.machine->zoneinfo->managed_pages = 900 * kMiB / kPage;
  const SystemReport report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Free), mib(400));
  EXPECT_EQ(bytes_of(report, SystemColumn::FreeUninitialised), 0);
}

TEST(SystemReport, CountsTheSwapCacheThatNobodyMaps) {
  Sample sample = example();
  sample.machine->meminfo.swap_cached_bytes = 30 * kMiB;
  // The lists hold 12 MiB more than what is mapped or cached.
  *sample.kernel->counters.value->active_anon_pages += 12 * kMiB / kPage;
  SystemReport report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Anon), mib(162));
  // All of it is mapped again.
  *sample.kernel->counters.value->active_anon_pages -= 20 * kMiB / kPage;
  report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Anon), mib(150));
  // Without the lists it may be counted twice, and that is said.
  sample.kernel->counters.value->unevictable_pages.reset();
  report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Anon), mib(180));
  EXPECT_FALSE(report.at(SystemColumn::Anon).remark.empty());
}

TEST(SystemReport, LeavesStacksInPlaceThatAreNotVmapped) {
  Sample sample = example();
  sample.kernel->vmalloc.value->areas[0].caller = "bpf_prog_alloc+0x1/0x2";
  EXPECT_EQ(bytes_of(report_of(sample), SystemColumn::Vmalloc), mib(10));
}

TEST(SystemReport, TakesTheLargerViewOfCompressedMemory) {
  Sample sample = example();
  sample.kernel->counters.value->zsmalloc_pages = 7 * kMiB / kPage;
  EXPECT_EQ(bytes_of(report_of(sample), SystemColumn::Compressed), mib(7));
  sample.machine->zram =
      model::Zram{.stored_bytes = 30 * kMiB, .memory_bytes = 6 * kMiB};
  sample.machine->meminfo.zswap_bytes = 3 * kMiB;
  EXPECT_EQ(bytes_of(report_of(sample), SystemColumn::Compressed), mib(9));
}

TEST(SystemReport, FindsTheBalloonInsideOrOutsideOfMemTotal) {
  Sample sample = example();
  sample.kernel->counters.value->balloon_pages = 16 * kMiB / kPage;
  SystemReport report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Balloon), mib(16));
  EXPECT_EQ(bytes_of(report, SystemColumn::Wired), mib(24)) << "there is room";
  *sample.machine->meminfo.anon_pages_bytes +=
      static_cast<uint64_t>(report.other_bytes) + 16 * kMiB;
  report = report_of(sample);
  EXPECT_EQ(bytes_of(report, SystemColumn::Balloon), mib(16));
  EXPECT_EQ(bytes_of(report, SystemColumn::Wired), mib(8)) << "there is none";
  expect_sums_up(report);
}

TEST(SystemReport, WithoutPrivilegeLosesColumnsAndSaysWhy) {
  Sample sample = example();
  sample.kernel->iomem.value->addresses = model::AddressForm::Hidden;
  sample.kernel->slab =
      model::unknown<std::vector<model::SlabCache>>("denied: slabinfo");
  sample.kernel->vmalloc =
      model::unknown<model::VmallocInfo>("denied: vmallocinfo");
  const SystemReport report = report_of(sample);
  EXPECT_EQ(report.total_bytes, 1000 * kMiB);
  EXPECT_EQ(report.total_source, "MemTotal in meminfo");
  EXPECT_EQ(bytes_of(report, SystemColumn::SlabUsed), mib(50));
  const auto unknown = unknown_columns(report);
  ASSERT_EQ(unknown.size(), 2U);
  EXPECT_EQ(unknown[0].first, "slab_slack");
  EXPECT_EQ(unknown[0].second, "denied: slabinfo; it is in slab");
  EXPECT_EQ(unknown[1].first, "wired");
  EXPECT_TRUE(unknown[1].second.starts_with("denied: the addresses in iomem"));
  expect_sums_up(report);
}

TEST(SystemReport, ShowsANegativeRest) {
  Sample sample = example();
  sample.machine->meminfo.anon_pages_bytes = 900 * kMiB;
  const SystemReport report = report_of(sample);
  EXPECT_LT(report.other_bytes, 0);
  expect_sums_up(report);
}

// ---- sums, whatever is missing and however absurd

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  uint64_t number() {
    const uint64_t bits = engine_() | uint64_t{engine_()} << 32;
    return bits >> (engine_() % 64);
  }
  void roll(std::optional<uint64_t>& field) {
    field.reset();
    if (engine_() % 4 != 0) field = number();
  }
  bool chance() { return engine_() % 4 == 0; }

 private:
  std::mt19937 engine_;
};

Sample random_sample(Dice& dice) {
  Sample sample = example();
  MemInfo& m = sample.machine->meminfo;
  for (std::optional<uint64_t> MemInfo::*field :
       {&MemInfo::total_bytes, &MemInfo::free_bytes, &MemInfo::buffers_bytes,
        &MemInfo::cached_bytes, &MemInfo::swap_cached_bytes,
        &MemInfo::anon_pages_bytes, &MemInfo::shmem_bytes,
        &MemInfo::slab_reclaimable_bytes, &MemInfo::slab_unreclaimable_bytes,
        &MemInfo::kernel_stack_bytes, &MemInfo::page_tables_bytes,
        &MemInfo::secondary_page_tables_bytes, &MemInfo::vmalloc_used_bytes,
        &MemInfo::percpu_bytes, &MemInfo::hugetlb_bytes,
        &MemInfo::zswap_bytes}) {
    dice.roll(m.*field);
  }
  if (!m.total_bytes) m.total_bytes = dice.number();
  if (!m.free_bytes) m.free_bytes = dice.number();
  KernelReadings& kernel = *sample.kernel;
  PageCounters& counters = *kernel.counters.value;
  for (std::optional<uint64_t> PageCounters::*field :
       {&PageCounters::active_anon_pages, &PageCounters::unevictable_pages,
        &PageCounters::zsmalloc_pages, &PageCounters::balloon_pages,
        &PageCounters::memmap_boot_pages}) {
    dice.roll(counters.*field);
  }
  model::ZoneInfo& zones = *sample.machine->zoneinfo;
  zones = {dice.number(), dice.number(), dice.number()};
  kernel.iomem.value->resources[0].last = dice.number();
  kernel.slab.value->front().slabs = dice.number();
  kernel.slab.value->front().active_objects = dice.number();
  dice.roll(kernel.sockets.value->tcp_pages);
  dice.roll(kernel.sockets.value->udp_pages);
  if (dice.chance()) sample.machine->zoneinfo.reset();
  if (dice.chance()) kernel.counters = {{}, "x"};
  if (dice.chance()) kernel.iomem = {{}, "x"};
  if (dice.chance()) kernel.vmalloc = {{}, "x"};
  if (dice.chance()) kernel.slab = {{}, "x"};
  if (dice.chance()) kernel.sockets = {{}, "x"};
  if (dice.chance() && dice.chance()) sample.kernel.reset();
  return sample;
}

TEST(SystemReport, SumsUpWhateverIsMissing) {
  Dice dice(20261115);
  for (int round = 0; round < 5000 && !testing::Test::HasFailure(); ++round) {
    expect_sums_up(report_of(random_sample(dice)));
  }
}

}  // namespace
}  // namespace tidemark::analysis
