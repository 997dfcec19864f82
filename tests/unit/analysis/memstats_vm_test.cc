#include "analysis/memstats_vm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/vm_report.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::MemstatsProcess;
using model::MemstatsRecord;
using model::SmapsField;

using test::kMiB;

MemstatsProcess memstats_process(int32_t pid, const char* name, uint64_t rss,
                                 uint64_t pss, uint64_t pss_shmem) {
  MemstatsProcess made;
  made.pid = pid;
  made.name = name;
  made.totals.set(SmapsField::Rss, rss * kMiB);
  made.totals.set(SmapsField::Pss, pss * kMiB);
  made.totals.set(SmapsField::PssShmem, pss_shmem * kMiB);
  made.totals.set(SmapsField::Swap, 0);
  return made;
}

// A guest of 480 MiB that uses 142 and has 128 in the balloon.
MemstatsRecord told_record() {
  MemstatsRecord record;
  record.elapsed_seconds = 7;
  record.processes = {memstats_process(745, "crosvm", 310, 296, 295),
                      memstats_process(752, "pcivirtio-block", 30, 16, 8)};
  model::BalloonStats& balloon = record.balloon.emplace();
  balloon.balloon_bytes = 128 * kMiB;
  for (const auto& [field, mib] : {std::pair(model::GuestField::Total, 480),
                                   std::pair(model::GuestField::Free, 120),
                                   std::pair(model::GuestField::Caches, 90)}) {
    const auto at = std::ranges::find(model::kBalloonFields, field);
    balloon.values[static_cast<size_t>(at - model::kBalloonFields.begin())] =
        static_cast<uint64_t>(mib) * kMiB;
  }
  return record;
}

VmRow row_of_record(const MemstatsRecord& record) {
  std::vector<model::VmScan> scans = memstats_scans(std::span(&record, 1), 5);
  VmHistory history;
  return make_vm_report(std::move(scans.at(0)), history).rows.at(0);
}

TEST(MemstatsVm, SharesOfSharedMemoryAreGuestRamOnce) {
  const VmRow row = row_of_record(told_record());
  EXPECT_EQ(row.vm.kind, model::VmKind::Crosvm);
  EXPECT_EQ(*row.vm.ram.resident_bytes, (295 + 8) * kMiB);
  EXPECT_EQ(row.cost.bytes, (296 + 16) * kMiB) << "all PSS, and once";
  EXPECT_EQ(*row.overhead_bytes, (1 + 8) * kMiB);
  EXPECT_EQ(row.monitor_rss_bytes, 310 * kMiB);
}

TEST(MemstatsVm, FreeAndReservedAreNotToldApart) {
  const VmRow row = row_of_record(told_record());
  ASSERT_TRUE(row.guest) << row.guest.unknown_because;
  EXPECT_EQ(row.guest->used_bytes, 142 * kMiB);
  EXPECT_EQ(row.guest->limit_bytes, 352 * kMiB);
  EXPECT_FALSE(row.guest->is_reserved_known);
  EXPECT_FALSE(row.ram_bands);
  ASSERT_EQ(row.bands.size(), 5U);
  EXPECT_EQ(row.bands[2].kind, VmBandKind::GuestUnsplit);
  EXPECT_EQ(row.bands[2].bytes, (303 - 142 - 90) * kMiB);
}

TEST(MemstatsVm, WithoutSharesOfSharedMemoryGuestRamIsUnknown) {
  MemstatsRecord record = told_record();
  for (MemstatsProcess& process : record.processes) {
    model::SmapsFields totals;
    totals.set(SmapsField::Rss, *process.totals.get(SmapsField::Rss));
    totals.set(SmapsField::Pss, *process.totals.get(SmapsField::Pss));
    process.totals = totals;
  }
  const VmRow row = row_of_record(record);
  EXPECT_FALSE(row.vm.ram.resident_bytes);
  ASSERT_EQ(row.bands.size(), 4U);
  EXPECT_EQ(row.bands[0].bytes, 142 * kMiB);
  EXPECT_EQ(row.bands[2].kind, VmBandKind::Untold);
  EXPECT_EQ(row.bands[2].bytes, (296 - 142 - 90) * kMiB);
  EXPECT_EQ(row.bands[3].known, "PSS");
  EXPECT_EQ(row.cost.bytes, (296 + 16) * kMiB);
  EXPECT_FALSE(row.vm.ram.swapped_bytes) << "Swap is not in the file";
}

TEST(MemstatsVm, ASilentGuestIsUnknownWithAReason) {
  MemstatsRecord record = told_record();
  record.balloon.reset();
  const VmRow row = row_of_record(record);
  EXPECT_FALSE(row.guest);
  EXPECT_EQ(row.guest.unknown_because,
            "the collector had no answer of the guest");
  EXPECT_EQ(row.bands.front().kind, VmBandKind::GuestUnsplit);
}

TEST(MemstatsVm, HugePagesAreGuestRamThoughInNoRss) {
  MemstatsRecord record = told_record();
  record.processes[0].totals.set(SmapsField::PrivateHugetlb, 64 * kMiB);
  const VmRow row = row_of_record(record);
  EXPECT_EQ(*row.vm.ram.resident_bytes, (303 + 64) * kMiB);
  EXPECT_EQ(*row.vm.ram.hugetlb_bytes, 64 * kMiB);
  EXPECT_EQ(row.cost.bytes, (296 + 16 + 64) * kMiB);
}

TEST(MemstatsVm, TimesAreThoseOfTheFileFromItsFirstRecordOn) {
  std::vector<MemstatsRecord> records = {told_record(), told_record()};
  records[1].elapsed_seconds = 9;
  records[1].processes.clear();
  const std::vector<model::VmScan> scans = memstats_scans(records, 1000);
  EXPECT_EQ(scans[0].started_realtime_ns, 1000U);
  EXPECT_EQ(scans[1].started_monotonic_ns, 2'000'000'000U);
  EXPECT_TRUE(scans[1].vms.empty()) << "it has ended";
}

}  // namespace
}  // namespace tidemark::analysis
