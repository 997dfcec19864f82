#include "model/best_known.h"

#include <gtest/gtest.h>

namespace tidemark::model {
namespace {

constexpr uint64_t kMib = 1 << 20;
constexpr auto kAnon = static_cast<size_t>(Category::Anon);
constexpr auto kCode = static_cast<size_t>(Category::Code);
constexpr auto kFile = static_cast<size_t>(Category::File);
constexpr auto kShm = static_cast<size_t>(Category::Shm);

ResidentCounters counters(uint64_t anon, uint64_t file, uint64_t shmem) {
  return {anon * kMib, file * kMib, shmem * kMib, 0, 0};
}

BestShare share(uint64_t rss, uint64_t pss) {
  return {rss * kMib, pss * kMib, 0, 0, 0, 0};
}

TEST(ResidentCounters, AreTakenFromStatmWhereStatusHasThemNot) {
  ProcessStatus status;
  EXPECT_FALSE(resident_counters(status, std::nullopt, 4096));
  Statm statm;
  statm.resident_pages = 10;
  statm.shared_pages = 3;
  const ResidentCounters told = *resident_counters(status, statm, 4096);
  EXPECT_EQ(told.anon_bytes, 7U * 4096);
  EXPECT_EQ(told.file_bytes, 3U * 4096);
  status.rss_anon_bytes = 1;
  status.rss_file_bytes = 2;
  status.rss_shmem_bytes = 3;
  EXPECT_EQ(resident_counters(status, statm, 4096)->shmem_bytes, 3U);
  statm.resident_pages = 0;
  EXPECT_EQ(*resident_counters(status, statm, 4096), ResidentCounters())
      << "a process without memory has none of any kind";
}

TEST(BestProcess, HasNoMoreThanABoundBeforeItIsRead) {
  BestProcess process(1);
  process.set_counters(counters(60, 5, 40));
  const BestShares shares = process.shares();
  EXPECT_EQ(shares[kAnon].pss, 60 * kMib);
  EXPECT_EQ(shares[kAnon].bounded, 60 * kMib);
  EXPECT_EQ(shares[kFile].bounded, 5 * kMib);
  EXPECT_EQ(shares[kShm].bounded, 40 * kMib);
  EXPECT_EQ(shares[kShm].uss, 0U);
}

BestProcess read_process() {
  BestProcess process(1);
  process.set_counters(counters(60, 10, 40));
  process.split()[kAnon] = SplitShare::of(share(50, 50), 50 * kMib);
  // Data of a program: half of its pages are anonymous.
  process.split()[kCode] = SplitShare::of(share(20, 12), 10 * kMib);
  process.split()[kShm] = SplitShare::of(share(40, 4), 0);
  process.mark_split();
  return process;
}

TEST(BestProcess, IsAsItWasReadWhileItsCountersStand) {
  const BestProcess process = read_process();
  EXPECT_FALSE(process.scale());
  EXPECT_EQ(process.shares()[kShm].pss, 4 * kMib);
  EXPECT_EQ(process.shares()[kShm].estimated, 0U);
}

TEST(BestProcess, FollowsEachKindByItsOwnCounter) {
  BestProcess process = read_process();
  process.set_counters(counters(120, 20, 40));
  const BestShares shares = process.shares();
  EXPECT_EQ(shares[kAnon].pss, 100 * kMib);
  EXPECT_EQ(shares[kAnon].estimated, 100 * kMib);
  EXPECT_EQ(shares[kCode].pss, 24 * kMib) << "its parts follow two counters";
  EXPECT_EQ(shares[kShm].pss, 4 * kMib);
  EXPECT_EQ(process.anonymous(), 112 * kMib);
}

TEST(BestProcess, IsNeverMoreThanItsCountersSay) {
  // It had grown by half when its mappings were read, after its counters.
  BestProcess process(1);
  process.set_counters(counters(40, 0, 0));
  process.split()[kAnon] = SplitShare::of(share(60, 60), 60 * kMib);
  process.mark_split();
  process.set_counters(counters(90, 0, 0));
  EXPECT_EQ(process.shares()[kAnon].pss, 90 * kMib);
}

TEST(BestProcess, BoundsAKindThatHadNothingWhenItWasRead) {
  BestProcess process(1);
  process.set_counters(counters(60, 0, 0));
  process.split()[kAnon] = SplitShare::of(share(60, 60), 60 * kMib);
  process.mark_split();
  process.set_counters(counters(60, 0, 200));
  EXPECT_EQ(process.shares()[kShm].bounded, 200 * kMib);
  EXPECT_EQ(process.shares()[kAnon].estimated, 60 * kMib);
}

TEST(BestProcess, HasNothingOnceItsMemoryHasGone) {
  BestProcess process = read_process();
  process.clear();
  EXPECT_EQ(process.shares(), BestShares());
}

TEST(BringToNow, ScalesMappingsToTheCounters) {
  Process process;
  Mapping mapping;
  for (SmapsField field : {SmapsField::Rss, SmapsField::Pss,
                           SmapsField::PrivateDirty, SmapsField::Anonymous})
    mapping.fields.set(field, 50 * kMib);
  process.mappings = known(std::vector<Mapping>{mapping});
  process.rollup = known(mapping.fields);
  process.kinds = {RegionKind::Anonymous};
  process.status.rss_anon_bytes = 150 * kMib;
  process.status.rss_file_bytes = 7 * kMib;
  process.status.rss_shmem_bytes = 0;
  bring_to_now(counters(50, 0, 0), 9, 4096, process);
  EXPECT_TRUE(process.is_estimated);
  EXPECT_EQ(process.split_age_ns, 9U);
  EXPECT_EQ(process.mappings->front().fields.get(SmapsField::Pss), 150 * kMib);
  EXPECT_EQ(process.unsplit.file_bytes, 7 * kMib);
  EXPECT_EQ(process.rollup->get(SmapsField::Pss), 157 * kMib);
}

TEST(BringToNow, LeavesWhatHasNotMoved) {
  Process process;
  Mapping mapping;
  mapping.fields.set(SmapsField::Pss, 50 * kMib);
  process.mappings = known(std::vector<Mapping>{mapping});
  process.kinds = {RegionKind::Anonymous};
  process.status.rss_anon_bytes = 50 * kMib;
  process.status.rss_file_bytes = process.status.rss_shmem_bytes = 0;
  bring_to_now(counters(50, 0, 0), 9, 4096, process);
  EXPECT_FALSE(process.is_estimated) << "it is what was read";
  EXPECT_EQ(process.split_age_ns, 9U) << "and that long ago";
}

TEST(CountSharedOnce, TakesFromBoundsThenFromEstimates) {
  BestShares sums{};
  sums[kShm] = {900, 900, 180, 0, 500, 300};  // 100 were measured
  count_shared_once({std::nullopt, 350}, sums);
  EXPECT_EQ(sums[kShm].pss, 350U);
  EXPECT_EQ(sums[kShm].uss, 70U) << "in proportion";
  EXPECT_EQ(sums[kShm].bounded, 0U);
  EXPECT_EQ(sums[kShm].estimated, 250U);
  count_shared_once({std::nullopt, 10}, sums);
  EXPECT_EQ(sums[kShm].pss, 100U) << "what was measured stays";
}

TEST(CountSharedOnce, PartsMappedPageCacheAmongTheFiles) {
  BestShares sums{};
  sums[kFile] = {600, 600, 0, 0, 600, 0};
  sums[kCode] = {250, 250, 0, 0, 200, 0};
  count_shared_once({400, std::nullopt}, sums);
  EXPECT_EQ(sums[kFile].bounded + sums[kCode].bounded, 400U);
  EXPECT_EQ(sums[kFile].bounded, 300U);
  EXPECT_EQ(sums[kCode].pss, 150U) << "50 of it were read";
}

}  // namespace
}  // namespace tidemark::model
