#include "watch/top_digest.h"

#include <gtest/gtest.h>

#include "unit/store/samples.h"

namespace tidemark::watch {
namespace {

using test::full_mapping;
using test::process_of;
using test::without_detail;

constexpr uint64_t kSecond = 1'000'000'000;

model::Sample at(uint64_t second, std::vector<model::Process> processes) {
  model::Sample sample = test::sample_of(0, std::move(processes));
  sample.started_monotonic_ns = second * kSecond;
  return sample;
}

uint64_t pss_of(const analysis::TopSnapshot& snapshot, size_t index) {
  return snapshot.sample.processes[index]
      .rollup->get(model::SmapsField::Pss)
      .value_or(0);
}

TEST(TopDigest, KeepsWhatWasReadOfAProcessLast) {
  TopDigest digest("host", {}, kSecond);
  const model::Process read = process_of(42, 7, {full_mapping(0x1000, 8, 5)});
  model::Sample first = at(10, {read});
  const analysis::TopSnapshot one = digest.digest(first);
  EXPECT_EQ(pss_of(one, 0), 5 * test::kPageBytes);
  EXPECT_TRUE(first.processes[0].mappings) << "the sample stays as it is";
  EXPECT_FALSE(one.sample.processes[0].mappings);
  model::Sample second = at(11, {without_detail(read)});
  const analysis::TopSnapshot two = digest.digest(second);
  EXPECT_EQ(pss_of(two, 0), 5 * test::kPageBytes);
  EXPECT_EQ(two.details[0].read_ns, 10 * kSecond) << "its age can be told";
}

TEST(TopDigest, SaysWhyNothingIsKnown) {
  TopDigest digest("host", {}, kSecond);
  model::Sample sample = at(10, {without_detail(process_of(42, 7, {}))});
  sample.processes[0].statm.reset();
  const analysis::TopSnapshot snapshot = digest.digest(sample);
  EXPECT_FALSE(snapshot.sample.processes[0].rollup);
  EXPECT_EQ(snapshot.sample.processes[0].rollup.unknown_because,
            "not read yet");
}

TEST(TopDigest, BoundsByRssWhatWasOnlyScanned) {
  TopDigest digest("host", {}, kSecond);
  model::Sample sample =
      at(10, {process_of(42, 7, {test::scanned_mapping(0x1000, 8, 5)})});
  const analysis::TopSnapshot snapshot = digest.digest(sample);
  EXPECT_TRUE(snapshot.details[0].is_bound);
  const analysis::TopTimelinePoint& point = snapshot.timeline->points.back();
  EXPECT_TRUE(point.is_bound());
  EXPECT_EQ(point.sum(), 5 * test::kPageBytes);
}

TEST(TopDigest, DoesNotTakeAPidThatCameAgainForTheSame) {
  TopDigest digest("host", {}, kSecond);
  model::Sample first = at(10, {process_of(42, 7, {full_mapping(0, 8, 5)})});
  digest.digest(first);
  model::Sample second = at(11, {without_detail(process_of(42, 9, {}))});
  const analysis::TopSnapshot snapshot = digest.digest(second);
  EXPECT_FALSE(snapshot.details[0].read_ns) << "it was never read";
  EXPECT_TRUE(snapshot.details[0].is_bound);
}

TEST(TopDigest, BoundsWhatWasNotReadYet) {
  TopDigest digest("host", {}, kSecond);
  model::Sample sample = at(10, {without_detail(process_of(42, 7, {}))});
  const analysis::TopSnapshot snapshot = digest.digest(sample);
  EXPECT_TRUE(snapshot.details[0].is_bound);
  EXPECT_EQ(pss_of(snapshot, 0), 50 * test::kPageBytes) << "what is resident";
  EXPECT_EQ(snapshot.timeline->points.back().sum(), 50 * test::kPageBytes);
}

TEST(TopDigest, ScalesWhatWasReadToTheCountersOfNow) {
  TopDigest digest("host", {}, kSecond);
  model::Process read = process_of(42, 7, {full_mapping(0x1000, 90, 40)});
  read.statm = model::Statm{.resident_pages = 40};
  model::Sample first = at(10, {read});
  digest.digest(first);
  read.statm->resident_pages = 80;
  model::Sample second = at(11, {without_detail(read)});
  const analysis::TopSnapshot grown = digest.digest(second);
  EXPECT_EQ(pss_of(grown, 0), 80 * test::kPageBytes);
  EXPECT_TRUE(grown.sample.processes[0].is_estimated);
  EXPECT_FALSE(grown.details[0].is_bound);
  read.statm->resident_pages = 40;
  model::Sample third = at(12, {without_detail(read)});
  EXPECT_EQ(pss_of(digest.digest(third), 0), 40 * test::kPageBytes);
}

TEST(TopDigest, FollowsOneProcessInTheTimeline) {
  TopDigest digest("host", {}, kSecond);
  const model::Process small = process_of(42, 7, {full_mapping(0, 8, 2)});
  const model::Process large = process_of(43, 7, {full_mapping(0, 99, 90)});
  model::Sample first = at(10, {small, large});
  EXPECT_EQ(digest.digest(first).timeline->points.back().sum(),
            92 * test::kPageBytes);
  digest.follow({"", {small.id}});
  model::Sample second = at(11, {small, large});
  const auto followed = digest.digest(second).timeline;
  EXPECT_EQ(followed->of, "worker");
  EXPECT_EQ(followed->points.back().sum(), 2 * test::kPageBytes);
  model::Sample third = at(12, {large});
  const auto ended = digest.digest(third).timeline;
  EXPECT_EQ(ended->points.size(), 2U);
  EXPECT_EQ(ended->points.back().sum(), 0U) << "it has ended";
  ASSERT_FALSE(ended->events.empty());
  EXPECT_EQ(ended->events.back().kind, analysis::TopEventKind::Exit);
  digest.follow({});
  model::Sample fourth = at(13, {large});
  EXPECT_TRUE(digest.digest(fourth).timeline->of.empty());
}

TEST(TopDigest, GoesOnWithWhomAFilterMeans) {
  TopDigest digest("host", {}, kSecond);
  const model::Process first = process_of(42, 7, {full_mapping(0, 8, 2)});
  const model::Process second = process_of(43, 7, {full_mapping(0, 99, 90)});
  digest.follow({"work", {first.id}});
  model::Sample alone = at(10, {first});
  EXPECT_EQ(digest.digest(alone).timeline->of, "work");
  // Another one has come that it means.
  digest.follow({"work", {first.id, second.id}});
  model::Sample both = at(11, {first, second});
  const auto timeline = digest.digest(both).timeline;
  ASSERT_EQ(timeline->points.size(), 2U);
  EXPECT_EQ(timeline->points[0].sum(), 2 * test::kPageBytes);
  EXPECT_EQ(timeline->points[1].sum(), 92 * test::kPageBytes);
  digest.follow({"nobody", {}});
  model::Sample third = at(12, {first, second});
  const auto none = digest.digest(third).timeline;
  ASSERT_EQ(none->points.size(), 1U);
  EXPECT_EQ(none->points[0].sum(), 0U);
}

TEST(TopDigest, TellsTheLimitOfTheGroupAllAreIn) {
  TopDigest digest("host", {}, kSecond);
  model::Sample sample = at(10, {process_of(42, 7, {full_mapping(0, 8, 2)})});
  model::Cgroup group;
  group.path = "/work";
  group.limit_bytes = 4096;
  sample.cgroups.push_back(group);
  EXPECT_EQ(digest.digest(sample).timeline->limit_bytes, 4096U);
}

}  // namespace
}  // namespace tidemark::watch
