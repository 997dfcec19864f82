#include "analysis/vm_timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "unit/analysis/vms.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::GuestField;
using test::kMiB;
using vms::idle_vm;
using vms::kNowSeconds;
using vms::process;

using test::kSecondNs;

// The guest tells at each scan, so that nothing is old.
model::VmScan scan_at(uint64_t second, std::vector<model::Vm> seen) {
  model::VmScan scan;
  scan.started_realtime_ns = (kNowSeconds + second) * kSecondNs;
  scan.started_monotonic_ns = (100 + second) * kSecondNs;
  scan.ended_monotonic_ns = scan.started_monotonic_ns;
  scan.vms = std::move(seen);
  for (model::Vm& vm : scan.vms)
    if (vm.guest.updated_realtime_s == kNowSeconds)
      vm.guest.updated_realtime_s = kNowSeconds + second;
  return scan;
}

model::Vm resident_vm(uint64_t mib) {
  model::Vm vm = idle_vm();
  vm.ram.resident_bytes = model::known(mib * kMiB);
  return vm;
}

const VmTimelineBand* band(const VmCourse& course, VmBandKind kind) {
  const auto found =
      std::ranges::find(course.bands, kind, &VmTimelineBand::kind);
  return found == course.bands.end() ? nullptr : &*found;
}

// Those that are known, at one tick.
uint64_t sum_at(const VmCourse& course, size_t tick) {
  uint64_t sum = 0;
  for (const VmTimelineBand& one : course.bands)
    sum += one.bytes.at(tick).value_or(0);
  return sum;
}

TEST(VmTimeline, BandsAddUpAtEveryTick) {
  model::Vm with_helper = resident_vm(150);
  with_helper.processes.push_back(
      process(11, "virtiofsd", model::VmRole::Sharer, 7 * kMiB));
  const std::vector<model::VmScan> scans = {scan_at(0, {resident_vm(100)}),
                                            scan_at(1, {with_helper}),
                                            scan_at(2, {resident_vm(120)})};
  const VmTimeline timeline = make_vm_timeline(scans);
  ASSERT_EQ(timeline.vms.size(), 1U);
  const VmCourse& course = timeline.vms[0];
  ASSERT_EQ(course.ticks.size(), 3U);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(sum_at(course, i), course.ticks[i].bands_bytes) << i;
  EXPECT_EQ(course.peak_index, 1U);
  EXPECT_EQ(course.ticks[1].elapsed_ns, kSecondNs);
  ASSERT_NE(band(course, VmBandKind::Helper), nullptr);
  EXPECT_EQ(band(course, VmBandKind::Helper)->bytes,
            (std::vector<std::optional<uint64_t>>{0, 7 * kMiB, 0}))
      << "all processes were read and none was virtiofsd: that is nothing";
  EXPECT_TRUE(course.spans.empty());
}

TEST(VmTimeline, WhereAVmWasNotThereIsNothingAndNotZero) {
  model::Vm late = idle_vm();
  late.id = {20, 5};
  const std::vector<model::VmScan> scans = {
      scan_at(0, {idle_vm()}), scan_at(1, {late}),
      scan_at(2, {idle_vm(), late}), scan_at(3, {idle_vm()})};
  const VmTimeline timeline = make_vm_timeline(scans);
  ASSERT_EQ(timeline.vms.size(), 2U);
  const VmCourse& first = timeline.vms[0];
  EXPECT_EQ(first.last.vm.id.pid, 10);
  EXPECT_FALSE(first.ticks[1].bands_bytes);
  EXPECT_FALSE(first.ticks[1].balloon_bytes);
  for (const VmTimelineBand& one : first.bands) {
    ASSERT_EQ(one.bytes.size(), 4U) << one.name;
    EXPECT_FALSE(one.bytes[1]) << one.name;
    EXPECT_TRUE(one.bytes[2]) << one.name;
  }
  EXPECT_EQ(first.spans,
            (std::vector<VmSpan>{{VmSpanKind::Absent, kSecondNs, 2 * kSecondNs,
                                  "it was not there", false}}));
  const VmCourse& other = timeline.vms[1];
  EXPECT_FALSE(other.ticks[0].bands_bytes);
  EXPECT_FALSE(other.ticks[3].bands_bytes);
  EXPECT_EQ(other.spans.size(), 2U);
  ASSERT_EQ(timeline.total.size(), 4U);
  EXPECT_EQ(timeline.total[1].vm_count, 1U);
  EXPECT_EQ(timeline.total[2].vm_count, 2U);
}

TEST(VmTimeline, AMonitorOfTheSamePidIsAnotherVmWhenItBeganLater) {
  model::Vm next = idle_vm();
  next.id.start_ticks = 99;
  const std::vector<model::VmScan> scans = {scan_at(0, {idle_vm()}),
                                            scan_at(1, {next})};
  EXPECT_EQ(make_vm_timeline(scans).vms.size(), 2U);
}

TEST(VmTimeline, UnsettledMomentsAreMarkedAndNotSplit) {
  model::Vm moving = idle_vm();
  moving.guest.balloon_is_moving = true;
  const std::vector<model::VmScan> scans = {
      scan_at(0, {idle_vm()}), scan_at(1, {moving}), scan_at(2, {moving}),
      scan_at(3, {idle_vm()})};
  const VmTimeline timeline = make_vm_timeline(scans);
  const VmCourse& course = timeline.vms.at(0);
  ASSERT_EQ(course.spans.size(), 1U);
  EXPECT_EQ(course.spans[0].kind, VmSpanKind::Unsettled);
  EXPECT_EQ(course.spans[0].from_ns, kSecondNs);
  EXPECT_EQ(course.spans[0].to_ns, 3 * kSecondNs);
  EXPECT_FALSE(band(course, VmBandKind::GuestUsed)->bytes[1]);
  EXPECT_FALSE(course.ticks[1].limit_bytes);
  EXPECT_EQ(band(course, VmBandKind::GuestUnsplit)->bytes[1], 122 * kMiB);
  EXPECT_EQ(band(course, VmBandKind::GuestUnsplit)->bytes[0], 0U)
      << "all of it was split";
  EXPECT_EQ(sum_at(course, 1), course.ticks[1].bands_bytes);
}

TEST(VmTimeline, StatisticsThatAgeAreOneSpanWithTheLastAge) {
  std::vector<model::VmScan> scans;
  for (uint64_t second : {20U, 21U, 22U}) {
    model::Vm vm = idle_vm();
    vm.guest.updated_realtime_s = kNowSeconds + 1;
    scans.push_back(scan_at(second, {vm}));
  }
  const VmTimeline timeline = make_vm_timeline(scans);
  const VmCourse& course = timeline.vms.at(0);
  ASSERT_EQ(course.spans.size(), 1U);
  EXPECT_EQ(course.spans[0].kind, VmSpanKind::Stale);
  EXPECT_EQ(course.spans[0].to_ns, 2 * kSecondNs);
  EXPECT_TRUE(course.spans[0].lasts);
  EXPECT_EQ(course.spans[0].because, "the guest's statistics are 21 s old");
}

TEST(VmTimeline, AProcessThatMayNotBeReadIsSaidAndMakesABound) {
  model::Vm vm = idle_vm();
  vm.processes.push_back(
      process(11, "virtiofsd", model::VmRole::Sharer, 7 * kMiB));
  model::Vm denied = vm;
  denied.processes[1].own = model::unknown<model::SmapsFields>("denied: smaps");
  const std::vector<model::VmScan> scans = {scan_at(0, {vm}),
                                            scan_at(1, {denied})};
  const VmTimeline timeline = make_vm_timeline(scans);
  const VmCourse& course = timeline.vms.at(0);
  EXPECT_TRUE(course.ticks[1].is_lower_bound);
  EXPECT_FALSE(band(course, VmBandKind::Helper)->bytes[1]);
  ASSERT_EQ(course.spans.size(), 1U);
  EXPECT_EQ(course.spans[0].kind, VmSpanKind::Unread);
  EXPECT_EQ(course.spans[0].because, "denied: smaps");
}

TEST(VmTimeline, FindingsAreThoseOfTheirMoment) {
  model::Vm swapped = idle_vm();
  swapped.ram.swapped_bytes = model::known(30 * kMiB);
  const std::vector<model::VmScan> scans = {
      scan_at(0, {idle_vm()}), scan_at(1, {swapped}), scan_at(2, {swapped}),
      scan_at(3, {idle_vm()})};
  const VmTimeline timeline = make_vm_timeline(scans);
  const std::vector<VmFindings>& found = timeline.vms.at(0).findings;
  ASSERT_EQ(found.size(), 2U) << "it is told when it changes";
  EXPECT_EQ(found[0].tick_index, 1U);
  EXPECT_EQ(found[0].findings.at(0).kind, VmFindingKind::Swapped);
  EXPECT_EQ(found[1].tick_index, 3U);
  EXPECT_TRUE(found[1].findings.empty());
}

TEST(VmTimeline, FewTicksOfManyKeepThePeakAndTheLargestBalloon) {
  std::vector<model::VmScan> scans;
  for (uint64_t second = 0; second < 1000; ++second) {
    model::Vm vm = resident_vm(second == 613 ? 250 : 100);
    vm.guest.deflates_on_oom = true;
    vm.guest.updated_realtime_s.reset();
    vm.guest.polling_interval_s.reset();
    vm.guest.balloon_bytes = second == 207 ? 20 * kMiB : 0;
    scans.push_back(scan_at(second, {vm}));
  }
  const VmTimeline timeline = make_vm_timeline(scans, {10, 10});
  const VmCourse& course = timeline.vms.at(0);
  EXPECT_EQ(timeline.scan_count, 1000U);
  EXPECT_LE(course.ticks.size(), 35U);
  EXPECT_EQ(course.ticks[course.peak_index].elapsed_ns, 613 * kSecondNs);
  EXPECT_EQ(course.ticks[course.peak_index].bands_bytes, 350 * kMiB);
  EXPECT_TRUE(std::ranges::any_of(course.ticks, [](const VmTick& tick) {
    return tick.balloon_bytes == 20 * kMiB;
  }));
  EXPECT_EQ(course.ticks.back().elapsed_ns, 999 * kSecondNs);
  for (const VmTimelineBand& one : course.bands)
    EXPECT_EQ(one.bytes.size(), course.ticks.size()) << one.name;
}

TEST(VmTimeline, ManyVmsHaveFewerTicksEach) {
  std::vector<model::VmScan> scans;
  for (uint64_t second = 0; second < 400; ++second) {
    std::vector<model::Vm> seen;
    for (int32_t i = 0; i < 8; ++i) {
      seen.push_back(resident_vm(100 + second % 7));
      seen.back().id.pid = 10 + i;
    }
    scans.push_back(scan_at(second, std::move(seen)));
  }
  const VmTimeline timeline = make_vm_timeline(scans, {40, 5});
  ASSERT_EQ(timeline.vms.size(), 8U);
  EXPECT_LE(timeline.vms[0].ticks.size(), 3U * 20 + 3);
}

TEST(VmTimeline, WithoutAClockTheTimeIsThatOfTheWall) {
  std::vector<model::VmScan> scans = {scan_at(0, {idle_vm()}),
                                      scan_at(4, {idle_vm()})};
  for (model::VmScan& scan : scans)
    scan.started_monotonic_ns = 0;
  EXPECT_EQ(make_vm_timeline(scans).vms.at(0).ticks.at(1).elapsed_ns,
            4 * kSecondNs);
}

TEST(VmTimeline, NoScansAreNoVms) {
  const VmTimeline timeline = make_vm_timeline({});
  EXPECT_TRUE(timeline.vms.empty());
  EXPECT_EQ(timeline.scan_count, 0U);
}

TEST(VmTimeline, NothingIsBelowNothingWhateverTheGuestSays) {
  rc::check([](const std::vector<uint32_t>& numbers) {
    std::vector<model::VmScan> scans;
    for (size_t i = 0; i + 4 < numbers.size(); i += 5) {
      model::Vm vm = idle_vm();
      vm.ram.resident_bytes = model::known(uint64_t{numbers[i]});
      vm.guest.stats[GuestField::Total] = numbers[i + 1];
      vm.guest.stats[GuestField::Free] = numbers[i + 2];
      vm.guest.stats[GuestField::Caches] = numbers[i + 3];
      vm.guest.balloon_bytes = numbers[i + 4];
      scans.push_back(scan_at(i, {vm}));
    }
    constexpr uint64_t kMost = uint64_t{1} << 40;  // what wrapped is above it
    for (const VmCourse& course : make_vm_timeline(scans).vms) {
      for (size_t i = 0; i < course.ticks.size(); ++i) {
        RC_ASSERT(sum_at(course, i) == course.ticks[i].bands_bytes);
        RC_ASSERT(course.ticks[i].limit_bytes.value_or(0) < kMost);
        for (const VmTimelineBand& one : course.bands)
          RC_ASSERT(one.bytes[i].value_or(0) < kMost);
      }
    }
  });
}

}  // namespace
}  // namespace tidemark::analysis
