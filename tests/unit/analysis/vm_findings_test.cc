#include "analysis/vm_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/analysis/vms.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::GuestField;
using model::GuestState;
using test::kMiB;
using vms::idle_vm;
using vms::kNowSeconds;

std::vector<VmFinding> findings_of(model::Vm vm) {
  model::VmScan scan;
  scan.started_realtime_ns = kNowSeconds * 1'000'000'000;
  scan.vms.push_back(std::move(vm));
  VmHistory history;
  return make_vm_report(std::move(scan), history).rows.at(0).findings;
}

// The one of a kind; a kind that was not found has no words.
VmFinding finding_of(model::Vm vm, VmFindingKind kind) {
  const std::vector<VmFinding> all = findings_of(std::move(vm));
  const auto found = std::ranges::find(all, kind, &VmFinding::kind);
  return found == all.end() ? VmFinding() : *found;
}

TEST(VmFindings, AnIdleVmHasNothingToSay) {
  EXPECT_TRUE(findings_of(idle_vm()).empty());
}

TEST(VmFindings, HeldPagesSayWhetherTheGuestReportsThem) {
  model::Vm vm = idle_vm();
  vm.ram.resident_bytes = model::known(200 * kMiB);
  const auto details = [&] {
    return finding_of(vm, VmFindingKind::HeldPages).details;
  };
  EXPECT_NE(details().find("is not known"), std::string::npos);
  vm.guest.reports_free_pages = true;
  EXPECT_NE(details().find("reporting is on"), std::string::npos);
  vm.guest.reports_free_pages = false;
  EXPECT_NE(details().find("reporting is off"), std::string::npos);
}

TEST(VmFindings, LittleThatIsHeldIsNotWorthAWord) {
  model::Vm vm = idle_vm();
  // used 26, caches 3, reserved 39: 63 are left.
  vm.ram.resident_bytes = model::known(131 * kMiB);
  EXPECT_TRUE(finding_of(vm, VmFindingKind::HeldPages).title.empty());
  vm.ram.resident_bytes = model::known(132 * kMiB);
  EXPECT_EQ(finding_of(vm, VmFindingKind::HeldPages).title,
            "64.0 MiB is free in the guest but held by the host.");
}

TEST(VmFindings, EachWayNotToTellHasItsWords) {
  model::Vm vm = idle_vm();
  vm.guest.state = GuestState::Off;
  EXPECT_EQ(finding_of(vm, VmFindingKind::StatisticsOff).title,
            "The guest's statistics are off.");
  vm.guest.state = GuestState::Silent;
  EXPECT_EQ(finding_of(vm, VmFindingKind::GuestSilent).title,
            "The guest does not answer.");
  vm.guest.state = GuestState::Busy;
  EXPECT_EQ(finding_of(vm, VmFindingKind::MonitorBusy).title,
            "The monitor is taken.");
  vm.guest.state = GuestState::Unreachable;
  EXPECT_TRUE(findings_of(vm).empty()) << "its reason is told with the ?";
}

TEST(VmFindings, WhatWouldSwitchStatisticsOnIsSaidOfTheMonitorThatAsks) {
  model::Vm vm = idle_vm();
  vm.guest.state = GuestState::Off;
  EXPECT_NE(finding_of(vm, VmFindingKind::StatisticsOff).details.find("--poll"),
            std::string::npos);
  vm.guest.source = "Firecracker API";
  vm.guest.because = "Firecracker does not ask its guest";
  EXPECT_EQ(finding_of(vm, VmFindingKind::StatisticsOff).details,
            "Firecracker does not ask its guest.")
      << "--poll is for QEMU alone";
}

TEST(VmFindings, StatisticsThatAreOffButWereToldOnceSayWhen) {
  model::Vm vm = idle_vm();
  vm.guest.polling_interval_s = 0;
  vm.guest.updated_realtime_s = kNowSeconds - 3;
  EXPECT_EQ(finding_of(vm, VmFindingKind::StatisticsOff).title,
            "The guest's statistics are off; they were told 3 s ago.");
}

TEST(VmFindings, KilledProcessesAreCountedWithWhatTheGuestMayUse) {
  model::Vm vm = idle_vm();
  vm.guest.stats[GuestField::OomKills] = 1;
  const VmFinding one = finding_of(vm, VmFindingKind::OomKills);
  EXPECT_EQ(one.title, "The guest has killed 1 process for want of memory.");
  EXPECT_EQ(one.details, "It may use 217 MiB.");
  vm.guest.stats[GuestField::OomKills] = 2;
  vm.guest.balloon_is_moving = true;
  const VmFinding two = finding_of(vm, VmFindingKind::OomKills);
  EXPECT_EQ(two.title, "The guest has killed 2 processes for want of memory.");
  EXPECT_EQ(two.details, "Since it has started.");
}

TEST(VmFindings, MergedAndHugePagesAreSaidFromAMibOn) {
  model::Vm vm = idle_vm();
  vm.ram.ksm_saved_bytes = model::known(kMiB - 1);
  EXPECT_TRUE(finding_of(vm, VmFindingKind::Merged).title.empty());
  vm.ram.ksm_saved_bytes = model::known(20 * kMiB);
  EXPECT_EQ(finding_of(vm, VmFindingKind::Merged).title,
            "20.0 MiB is saved by merged pages.");
  vm.ram.hugetlb_bytes = model::known(64 * kMiB);
  EXPECT_EQ(finding_of(vm, VmFindingKind::HugePages).title,
            "64.0 MiB of guest RAM is huge pages.");
}

TEST(VmFindings, WhatIsMissingFromRamIsSaidUnlessSwapExplainsIt) {
  model::Vm vm = idle_vm();
  // The guest counts 68: used 26, caches 3, reserved 39.
  vm.ram.resident_bytes = model::known(40 * kMiB);
  EXPECT_EQ(finding_of(vm, VmFindingKind::Absent).title,
            "28.0 MiB that the guest counts as its own is not in RAM.");
  vm.ram.swapped_bytes = model::known(28 * kMiB);
  EXPECT_TRUE(finding_of(vm, VmFindingKind::Absent).title.empty());
  EXPECT_EQ(finding_of(vm, VmFindingKind::Swapped).title,
            "28.0 MiB of guest RAM is swapped out by the host.");
}

TEST(VmFindings, ADiskThatIsCachedTwiceIsNamedWithBothSizes) {
  model::Vm vm = idle_vm();
  vm.guest.stats[GuestField::Free] = 100 * kMiB;
  vm.guest.stats[GuestField::Caches] = 70 * kMiB;
  vm.images = {{"/var/a.qcow2", 900 * kMiB, model::known(80 * kMiB)}};
  const std::string details =
      finding_of(vm, VmFindingKind::CachedTwice).details;
  EXPECT_EQ(details.find("80.0 MiB of a.qcow2"), 0U);
  EXPECT_NE(details.find("70.0 MiB in the guest's"), std::string::npos);
}

TEST(VmFindings, EachKindHasATokenOfItsOwn) {
  std::vector<std::string_view> tokens;
  for (int i = 0; i <= static_cast<int>(VmFindingKind::CachedTwice); ++i)
    tokens.push_back(vm_finding_token(static_cast<VmFindingKind>(i)));
  std::ranges::sort(tokens);
  EXPECT_EQ(std::ranges::adjacent_find(tokens), tokens.end());
}

}  // namespace
}  // namespace tidemark::analysis
