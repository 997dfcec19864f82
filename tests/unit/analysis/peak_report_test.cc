#include "analysis/peak_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/analysis/recorded.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::Mapping;
using model::RegionKind;
using model::Sample;
using test::listed_process;
using test::mapping_of;
using test::recorded_process;
using test::timeline_of;

constexpr uint64_t kKib = 1024;
using test::kSecondNs;

// ---- where it is

TEST(FindPeak, IsTheFirstOfTheHighest) {
  EXPECT_EQ(find_peak(timeline_of({1, 5, 3, 5}), PeakMetric::Pss), 1U);
}

TEST(FindPeak, OfAvailabilityIsTheLeast) {
  model::Timeline timeline = timeline_of({1, 1, 1, 1});
  EXPECT_FALSE(find_peak(timeline, PeakMetric::Available));
  timeline.points[1].available_bytes = 7;
  timeline.points[3].available_bytes = 3;
  EXPECT_EQ(find_peak(timeline, PeakMetric::Available), 3U);
}

TEST(FindPeak, OfNothingIsNothing) {
  EXPECT_FALSE(find_peak({}, PeakMetric::Pss));
}

TEST(FindPeak, EachMetricHasItsOwn) {
  model::Timeline timeline = timeline_of({9, 1, 1, 1, 1});
  timeline.points[1].rss_bytes = 9;
  timeline.points[2].resident_bytes = 9;
  for (model::TimelinePoint& point : timeline.points) {
    point.available_bytes = 9;
    point.available_computed_bytes = 9;
  }
  timeline.points[3].available_bytes = 0;
  timeline.points[4].available_computed_bytes = 0;
  const PeakMetric metrics[] = {PeakMetric::Pss, PeakMetric::Rss,
                                PeakMetric::Statm, PeakMetric::Available,
                                PeakMetric::AvailableComputed};
  for (size_t i = 0; i < std::size(metrics); ++i)
    EXPECT_EQ(find_peak(timeline, metrics[i]), i)
        << peak_metric_name(metrics[i]);
}

// ---- the report

// Two ticks ten seconds apart; the peak is the second.
struct Recorded {
  model::RecordingInfo info;
  std::vector<model::RecordedTick> ticks = test::ticks_of({0, 10});
  std::vector<model::RecordedProcess> processes;
  model::Timeline timeline = timeline_of({1, 2});
  Sample earlier;
  Sample sample;
  std::vector<model::ProcessMaxima> maxima;
  size_t row_limit = 20;

  PeakInput input() const {
    PeakInput input;
    input.info = &info;
    input.ticks = &ticks;
    input.processes = &processes;
    input.timeline = &timeline;
    input.tick_index = 1;
    input.sample = &sample;
    input.earlier = &earlier;
    input.maxima = maxima;
    input.row_limit = row_limit;
    return input;
  }
  PeakReport report() const { return make_peak_report(input()); }
};

// One process of files "/f0", "/f1", … of so many KiB.
Sample files_of(const std::vector<uint64_t>& pss_kib) {
  std::vector<Mapping> mappings;
  for (size_t i = 0; i < pss_kib.size(); ++i) {
    mappings.push_back(
        mapping_of(0x1000000 * (i + 1), pss_kib[i], "/f" + std::to_string(i)));
  }
  const std::vector<RegionKind> kinds(pss_kib.size(), RegionKind::File);
  Sample sample;
  sample.processes = {recorded_process(1, std::move(mappings), kinds)};
  return sample;
}

const PeakRow* row_named(const PeakReport& report, const std::string& name) {
  for (const PeakRow& row : report.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

RC_GTEST_PROP(PeakReport, RowsAndTheirChangesAddUp, ()) {
  Recorded recorded;
  recorded.sample = test::any_sample();
  recorded.earlier = test::any_sample();
  recorded.row_limit = *rc::gen::inRange<size_t>(0, 8);
  const PeakReport report = recorded.report();
  Bytes rows;
  int64_t change = 0;
  for (const PeakRow& row : report.rows) {
    rows.add(row.bytes);
    change += row.change_bytes.value_or(0);
  }
  RC_ASSERT(rows == report.composition.total);
  const bool is_all_known = std::ranges::all_of(
      report.rows,
      [](const PeakRow& row) { return row.change_bytes.has_value(); });
  RC_ASSERT(!is_all_known || change == report.change_bytes);
  RC_ASSERT(is_all_known || report.is_change_by_counters);
}

RC_GTEST_PROP(PeakReport, NamedAndOtherObjectsAreAllOfTheirCategory, ()) {
  Recorded recorded;
  recorded.sample = test::any_sample();
  recorded.row_limit = *rc::gen::inRange<size_t>(0, 8);
  PeakInput input = recorded.input();
  input.earlier = nullptr;
  const PeakReport report = make_peak_report(input);
  for (const PeakRow& others : report.rows) {
    if (others.others_count == 0) continue;
    uint64_t named = 0;
    for (const PeakRow& row : report.rows) {
      const bool is_other = row.category != others.category;
      if (!is_other && row.others_count == 0) ++named;
    }
    uint64_t objects = 0;
    for (const Part& part : report.composition.parts)
      objects += part.category == others.category ? 1 : 0;
    RC_ASSERT(named > 0U);
    RC_ASSERT(named + others.others_count == objects);
  }
}

TEST(PeakReport, OnlyWhatMattersHasARowOfItsOwn) {
  Recorded recorded;
  recorded.sample = files_of({100, 50, 3, 2, 1});  // a fiftieth is 3.12
  const PeakReport report = recorded.report();
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].name, "/f0");
  EXPECT_EQ(report.rows[1].name, "/f1");
  EXPECT_EQ(report.rows[2].others_count, 3U);
  EXPECT_EQ(report.rows[2].bytes.pss, 6 * kKib);
}

TEST(PeakReport, NoMoreObjectsThanAskedForHaveARow) {
  Recorded recorded;
  recorded.sample = files_of({40, 30, 20});
  recorded.row_limit = 1;
  const PeakReport report = recorded.report();
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].bytes.pss, 50 * kKib) << "the two others";
  EXPECT_EQ(report.rows[0].others_count, 2U);
  EXPECT_EQ(report.rows[1].name, "/f0");
}

TEST(PeakReport, HeapsAndStacksAreOneRowEach) {
  Recorded recorded;
  recorded.sample.processes = {
      recorded_process(1,
                       {mapping_of(0x10000000, 10), mapping_of(0x20000000, 5)},
                       {RegionKind::BrkHeap, RegionKind::MainStack}),
      recorded_process(2, {mapping_of(0x10000000, 20)}, {RegionKind::Arena})};
  const PeakReport report = recorded.report();
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].category, Category::Heap);
  EXPECT_EQ(report.rows[0].bytes.pss, 30 * kKib);
  EXPECT_EQ(report.rows[0].name, "");
  EXPECT_EQ(report.rows[0].others_count, 0U) << "there are none beside it";
}

TEST(PeakReport, SaysHowLongBeforeTheOtherMomentWas) {
  Recorded recorded;
  EXPECT_EQ(recorded.report().change_since_ns, 10 * kSecondNs);
  EXPECT_EQ(recorded.report().elapsed_ns, 10 * kSecondNs);
  PeakInput input = recorded.input();
  input.earlier = nullptr;
  EXPECT_FALSE(make_peak_report(input).change_since_ns);
}

TEST(PeakReport, WhatHasGoneSinceIsInTheRowOfItsCategory) {
  Recorded recorded;
  recorded.earlier = files_of({10, 70, 80});
  recorded.sample = files_of({90});
  const PeakReport report = recorded.report();
  ASSERT_EQ(report.rows.size(), 2U);
  ASSERT_TRUE(row_named(report, "/f0"));
  EXPECT_EQ(row_named(report, "/f0")->change_bytes, int64_t{80 * kKib});
  const PeakRow& gone = report.rows[1];
  EXPECT_EQ(gone.bytes, Bytes());
  EXPECT_EQ(gone.change_bytes, -int64_t{150 * kKib});
  EXPECT_EQ(gone.others_count, 2U) << "both";
}

TEST(PeakReport, ACategoryThatHasGoneIsARowOfItsOwn) {
  Recorded recorded;
  recorded.earlier.processes = {
      recorded_process(1, {mapping_of(0x10000000, 10)}, {RegionKind::BrkHeap})};
  const PeakReport report = recorded.report();
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].category, Category::Heap);
  EXPECT_EQ(report.rows[0].change_bytes, -int64_t{10 * kKib});
  EXPECT_EQ(report.rows[0].others_count, 0U);
}

TEST(PeakReport, OfNothingHasNoRows) {
  const PeakReport report = Recorded().report();
  EXPECT_TRUE(report.rows.empty());
  EXPECT_TRUE(report.marks.empty());
}

TEST(PeakReport, WhatCouldNotBeReadHasARowOfItsBound) {
  Recorded recorded;
  recorded.sample = files_of({30});
  recorded.sample.processes.push_back(test::unread_process(2, 25));
  const PeakReport report = recorded.report();
  EXPECT_EQ(report.composition.undetailed_count, 1U);
  EXPECT_EQ(report.composition.undetailed_bytes, 25U * 4096);
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].bytes.pss, 100 * kKib) << "it is not folded away";
  EXPECT_TRUE(report.rows[0].bytes.is_unsplit());
  EXPECT_EQ(report.rows[1].bytes.pss, 30 * kKib);
}

TEST(PeakReport, WithoutCountersToCompareNoRowHasAChange) {
  Recorded recorded;
  recorded.earlier.processes = {test::unread_process(1, 10)};
  recorded.sample = files_of({30});  // and no statm
  const PeakReport report = recorded.report();
  EXPECT_TRUE(report.is_change_by_counters);
  for (const PeakRow& row : report.rows) {
    EXPECT_TRUE(row.bytes == Bytes() || !row.change_bytes) << row.name;
  }
}

TEST(PeakReport, OneThatWasNotReadAtThePeakHasGrownByItsCounters) {
  Recorded recorded;
  recorded.earlier = files_of({30});
  recorded.earlier.processes[0].statm = model::Statm{.resident_pages = 15};
  recorded.sample.processes = {test::unread_process(1, 1000)};
  const PeakReport report = recorded.report();
  EXPECT_TRUE(report.is_change_by_counters);
  EXPECT_EQ(report.change_bytes, int64_t{985 * 4 * kKib});
}

TEST(PeakReport, AnAskedMomentIsToldFromItsSample) {
  Recorded recorded;
  recorded.sample.processes = {test::unread_process(1, 25),
                               test::unread_process(2, 5)};
  recorded.maxima = {{1, 10, 20, 5}};
  recorded.processes = {listed_process(1, 1, "a")};
  PeakInput input = recorded.input();
  input.timeline = nullptr;
  const PeakReport report = make_peak_report(input);
  EXPECT_EQ(report.point.resident_bytes, 30U * 4096);
  EXPECT_TRUE(report.marks.empty()) << "they belong to the peak";
}

TEST(PeakReport, CountsTheTicksThatMadeRoomSince) {
  EXPECT_EQ(Recorded().report().tick_count, 11U);
}

// ---- the kernel's marks

Recorded with_marks(const std::vector<model::ProcessMaxima>& maxima) {
  Recorded recorded;
  recorded.processes = {
      listed_process(1, 500, "a"), listed_process(4, 501, "b"),
      listed_process(5, 502, "c"), listed_process(6, 503, "d")};
  recorded.maxima = maxima;
  return recorded;
}

TEST(PeakMarks, AreTheThreeHighest) {
  const PeakReport report =
      with_marks({{1, 5, 10, 1}, {4, 5, 40, 1}, {5, 5, 30, 1}, {6, 5, 20, 1}})
          .report();
  ASSERT_EQ(report.marks.size(), 3U);
  EXPECT_EQ(report.marks[0].label, "VmHWM of b (501)");
  EXPECT_EQ(report.marks[0].bytes, 40U);
  EXPECT_EQ(report.marks[0].sampled_bytes, 5U);
  EXPECT_EQ(report.marks[2].bytes, 20U);
}

TEST(PeakMarks, OneThatNeverRoseIsFromBefore) {
  const PeakReport report = with_marks({{1, 5, 10, 10}, {4, 5, 9, 8}}).report();
  ASSERT_EQ(report.marks.size(), 2U);
  EXPECT_TRUE(report.marks[0].is_older);
  EXPECT_FALSE(report.marks[1].is_older);
}

TEST(PeakMarks, OfNobodyWeKnowIsLeftOut) {
  EXPECT_TRUE(
      with_marks({{2, 5, 10, 1}, {9, 5, 10, 1}}).report().marks.empty());
}

TEST(PeakMarks, WithoutOneThereIsNone) {
  EXPECT_TRUE(
      with_marks({{1, 5, std::nullopt, std::nullopt}}).report().marks.empty());
}

Recorded in_groups(const std::vector<std::string>& paths) {
  Recorded recorded;
  int32_t pid = 0;
  for (const std::string& path : paths) {
    recorded.sample.processes.push_back(recorded_process(++pid, {}, {}));
    recorded.sample.processes.back().cgroup_path = path;
    model::Cgroup& group = recorded.sample.cgroups.emplace_back();
    group.path = path;
    group.peak_bytes = model::known(uint64_t{100});
  }
  return recorded;
}

TEST(PeakMarks, TheMarkOfTheOneGroupComesFirst) {
  Recorded recorded = in_groups({"/web"});
  recorded.processes = {listed_process(1, 1, "a")};
  recorded.maxima = {{1, 5, 1000, 1}};
  recorded.timeline = timeline_of({7, 60, 3});
  const PeakReport report = recorded.report();
  ASSERT_EQ(report.marks.size(), 2U);
  EXPECT_TRUE(report.marks[0].is_group);
  EXPECT_EQ(report.marks[0].bytes, 100U);
  EXPECT_EQ(report.marks[0].sampled_bytes, 60U) << "the highest sampled";
}

TEST(PeakMarks, OfAGroupMayHaveBeenSetAfterThePeakThatWasSeen) {
  Recorded recorded = in_groups({"/web"});
  recorded.timeline = timeline_of({7, 60, 3});
  PeakInput input = recorded.input();
  input.group.highest_mark_bytes = 140;
  EXPECT_EQ(make_peak_report(input).marks[0].bytes, 140U);
}

TEST(PeakMarks, OfAGroupMayBeOlderThanTheRecording) {
  const Recorded recorded = in_groups({"/web"});
  PeakInput input = recorded.input();
  input.group.first_mark_bytes = 100;
  EXPECT_TRUE(make_peak_report(input).marks[0].is_older);
  input.group.first_mark_bytes = 99;
  EXPECT_FALSE(make_peak_report(input).marks[0].is_older);
}

TEST(PeakMarks, OfAGroupThatHadMuchMoreFromTheStartSayNothing) {
  Recorded recorded = in_groups({"/web"});
  recorded.timeline = timeline_of({7, 60, 3});
  PeakInput input = recorded.input();
  input.group.first_charged_bytes = uint64_t{65} << 20;
  EXPECT_TRUE(make_peak_report(input).marks.empty());
  input.group.first_charged_bytes = uint64_t{63} << 20;
  EXPECT_EQ(make_peak_report(input).marks.size(), 1U);
}

TEST(PeakMarks, OfAGroupThatOthersShareSayNothing) {
  EXPECT_TRUE(in_groups({"/"}).report().marks.empty());
  EXPECT_TRUE(in_groups({"/web", "/db"}).report().marks.empty());
}

}  // namespace
}  // namespace tidemark::analysis
