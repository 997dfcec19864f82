#include "analysis/vm_report.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "unit/analysis/vms.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::GuestField;
using model::GuestState;
using model::SmapsFields;

using test::kMiB;
using vms::idle_vm;
using vms::kNowSeconds;
using vms::process;

VmReport report_of(std::vector<model::Vm> vms, VmHistory& history,
                   uint64_t seconds_later = 0) {
  model::VmScan scan;
  scan.started_realtime_ns = (kNowSeconds + seconds_later) * 1'000'000'000;
  scan.vms = std::move(vms);
  return make_vm_report(std::move(scan), history);
}

VmRow row_of(model::Vm vm) {
  VmHistory history;
  return report_of({std::move(vm)}, history).rows.at(0);
}

bool has(const VmRow& row, VmFindingKind kind) {
  return std::ranges::find(row.findings, kind, &VmFinding::kind) !=
         row.findings.end();
}

uint64_t sum_of(const VmRow& row) {
  uint64_t sum = 0;
  for (const VmBand& band : row.bands)
    sum += band.bytes;
  return sum;
}

TEST(VmReport, CostIsWhatTheBandsAddUpTo) {
  model::Vm vm = idle_vm();
  vm.processes.push_back(
      process(11, "virtiofsd", model::VmRole::Sharer, 3 * kMiB));
  vm.processes.push_back(
      process(12, "virtiofsd", model::VmRole::Sharer, 4 * kMiB));
  const VmRow row = row_of(vm);
  EXPECT_EQ(row.cost.bytes, (122 + 100 + 7) * kMiB);
  EXPECT_EQ(sum_of(row), row.bands_sum.bytes);
  EXPECT_EQ(row.bands.back().name, "virtiofsd");
  EXPECT_EQ(row.bands.back().process_count, 2U);
  EXPECT_EQ(*row.helpers_bytes, 7 * kMiB);
  EXPECT_EQ(*row.never_touched_bytes, (256 - 122) * kMiB);
}

TEST(VmReport, MergedPagesAreNotPaidFor) {
  model::Vm vm = idle_vm();
  vm.ram.ksm_saved_bytes = model::known(20 * kMiB);
  const VmRow row = row_of(vm);
  EXPECT_EQ(row.cost.bytes, row.bands_sum.bytes - 20 * kMiB);
  EXPECT_TRUE(has(row, VmFindingKind::Merged));
}

TEST(VmReport, SaysWhatIsHeldAndWhatWouldGiveItBack) {
  model::Vm vm = idle_vm();
  vm.ram.resident_bytes = model::known(200 * kMiB);
  vm.guest.reports_free_pages = false;
  const VmRow row = row_of(vm);
  ASSERT_TRUE(has(row, VmFindingKind::HeldPages));
  EXPECT_EQ(row.findings[0].title,
            "132 MiB is free in the guest but held by the host.");
  EXPECT_NE(row.findings[0].details.find("reporting is off"),
            std::string::npos);
}

TEST(VmReport, DoesNotSplitByOldStatistics) {
  model::Vm vm = idle_vm();
  vm.guest.updated_realtime_s = kNowSeconds - 8;
  const VmRow row = row_of(vm);
  EXPECT_FALSE(row.ram_bands);
  EXPECT_TRUE(has(row, VmFindingKind::StatisticsStale));
  EXPECT_EQ(row.bands[0].kind, VmBandKind::GuestUnsplit);
  EXPECT_EQ(sum_of(row), row.bands_sum.bytes);
}

TEST(VmReport, StatisticsThatNobodyAsksForAreOff) {
  model::Vm vm = idle_vm();
  vm.guest.polling_interval_s = 0;
  EXPECT_TRUE(has(row_of(vm), VmFindingKind::StatisticsOff));
}

TEST(VmReport, RamThatWasNotFoundIsStillPaidFor) {
  model::Vm vm = idle_vm();
  vm.ram = model::GuestRam();
  vm.ram.resident_bytes = model::unknown<uint64_t>("not found");
  vm.ram.configured_bytes = model::unknown<uint64_t>("not found");
  const VmRow row = row_of(vm);
  EXPECT_EQ(row.cost.bytes, 100 * kMiB);
  EXPECT_FALSE(row.cost.is_lower_bound());
  EXPECT_FALSE(row.overhead_bytes);
  ASSERT_EQ(row.bands.size(), 3U) << "what the guest tells is in it";
  EXPECT_EQ(row.bands[0].bytes, 26 * kMiB);
  EXPECT_EQ(row.bands[2].kind, VmBandKind::Untold);
  EXPECT_EQ(row.bands[2].bytes, (100 - 26 - 3) * kMiB);
  EXPECT_EQ(sum_of(row), row.bands_sum.bytes);
}

TEST(VmReport, AGuestThatTellsOfMoreThanTheMonitorMapsIsNotPartOfIt) {
  model::Vm vm = idle_vm();
  vm.ram = model::GuestRam();
  vm.ram.resident_bytes = model::unknown<uint64_t>("not found");
  vm.ram.configured_bytes = model::unknown<uint64_t>("not found");
  vm.processes = {process(10, "q", model::VmRole::Monitor, 20 * kMiB)};
  const VmRow row = row_of(vm);
  ASSERT_EQ(row.bands.size(), 1U);
  EXPECT_EQ(row.bands[0].kind, VmBandKind::Untold);
  EXPECT_EQ(row.bands[0].bytes, 20 * kMiB);
}

TEST(VmReport, AHelperThatMayNotBeReadMakesALowerBound) {
  model::Vm vm = idle_vm();
  model::VmProcess denied = process(11, "virtiofsd", model::VmRole::Sharer, 0);
  denied.own = model::unknown<SmapsFields>("denied: smaps");
  vm.processes.push_back(denied);
  const VmRow row = row_of(vm);
  EXPECT_TRUE(row.cost.is_lower_bound());
  EXPECT_FALSE(row.helpers_bytes);
}

// 96 MiB in the balloon, which total follows.
model::Vm ballooned_vm() {
  model::Vm vm = idle_vm();
  vm.guest.balloon_bytes = 96 * kMiB;
  vm.guest.stats[GuestField::Total] = 121 * kMiB;
  vm.guest.stats[GuestField::Free] = 93 * kMiB;
  return vm;
}

TEST(VmReport, LearnsInAWatchWhatTheMonitorDoesNotTell) {
  VmHistory history;
  report_of({idle_vm()}, history);
  model::Vm lagging = idle_vm();
  lagging.guest.balloon_bytes = 96 * kMiB;
  const VmRow moved = report_of({lagging}, history, 1).rows.at(0);
  EXPECT_TRUE(moved.is_unsettled);
  EXPECT_FALSE(moved.deflates_on_oom) << "nothing is learned of two moments";
  model::Vm vm = ballooned_vm();
  vm.guest.updated_realtime_s = kNowSeconds + 2;
  const VmRow row = report_of({vm}, history, 2).rows.at(0);
  EXPECT_TRUE(row.deflation_is_learned);
  ASSERT_TRUE(row.guest) << row.guest.unknown_because;
  EXPECT_EQ(row.guest->used_bytes, 25 * kMiB);
  EXPECT_FALSE(row_of(vm).guest) << "one sample alone cannot know";
}

TEST(VmReport, TrustsAnAnswerMadeOnTheSpotThoughTheBalloonMoved) {
  VmHistory history;
  model::Vm before = idle_vm();
  before.guest.updated_realtime_s.reset();
  before.guest.polling_interval_s.reset();
  report_of({before}, history);
  model::Vm after = ballooned_vm();
  after.guest.updated_realtime_s.reset();
  after.guest.polling_interval_s.reset();
  after.guest.deflates_on_oom = false;
  EXPECT_TRUE(report_of({after}, history).rows.at(0).guest);
}

TEST(VmReport, AMovingBalloonIsUnsettled) {
  model::Vm vm = idle_vm();
  vm.guest.balloon_is_moving = true;
  const VmRow row = row_of(vm);
  EXPECT_FALSE(row.guest);
  EXPECT_TRUE(has(row, VmFindingKind::Unsettled));
}

TEST(VmReport, GuestPagesInSwapAreSaidWithWhatIsFree) {
  model::Vm vm = idle_vm();
  vm.ram.swapped_bytes = model::known(30 * kMiB);
  const VmRow row = row_of(vm);
  const auto found =
      std::ranges::find(row.findings, VmFindingKind::Swapped, &VmFinding::kind);
  ASSERT_NE(found, row.findings.end());
  EXPECT_NE(found->details.find("188 MiB free"), std::string::npos);
}

TEST(VmReport, ADiskInBothCachesIsSaid) {
  model::Vm vm = idle_vm();
  vm.guest.stats[GuestField::Free] = 100 * kMiB;
  vm.guest.stats[GuestField::Caches] = 70 * kMiB;
  vm.images = {{"/var/a.qcow2", 900 * kMiB, model::known(80 * kMiB)}};
  EXPECT_TRUE(has(row_of(vm), VmFindingKind::CachedTwice));
  vm.images[0].cached_bytes = model::known(kMiB);
  EXPECT_FALSE(has(row_of(vm), VmFindingKind::CachedTwice));
}

TEST(VmReport, MostCostlyComesFirst) {
  model::Vm large = idle_vm();
  large.id.pid = 20;
  large.ram.resident_bytes = model::known(250 * kMiB);
  VmHistory history;
  const VmReport report = report_of({idle_vm(), large}, history);
  EXPECT_EQ(report.rows[0].vm.id.pid, 20);
  EXPECT_EQ(report.answering_count, 2U);
  EXPECT_EQ(report.configured.bytes, 512 * kMiB);
}

TEST(VmReport, AGuestThatToldLongAgoIsNotCountedAsTelling) {
  model::Vm old = idle_vm();
  old.guest.updated_realtime_s = kNowSeconds - 500;
  VmHistory history;
  const VmReport report = report_of({idle_vm(), old}, history);
  EXPECT_EQ(report.answering_count, 1U);
}

TEST(VmReport, BandsCloseWhateverTheGuestSays) {
  rc::check([](uint32_t resident, uint32_t total, uint32_t free,
               uint32_t caches, uint32_t balloon, uint16_t own) {
    model::Vm vm = idle_vm();
    vm.ram.resident_bytes = model::known(uint64_t{resident});
    vm.guest.stats[GuestField::Total] = total;
    vm.guest.stats[GuestField::Free] = free;
    vm.guest.stats[GuestField::Caches] = caches;
    vm.guest.balloon_bytes = balloon;
    vm.guest.deflates_on_oom = true;
    vm.processes = {process(10, "q", model::VmRole::Monitor, own)};
    const VmRow row = row_of(vm);
    RC_ASSERT(sum_of(row) == row.bands_sum.bytes);
    RC_ASSERT(row.bands_sum.bytes == uint64_t{resident} + own);
    RC_ASSERT(row.guest || !row.guest.unknown_because.empty());
  });
}

}  // namespace
}  // namespace tidemark::analysis
