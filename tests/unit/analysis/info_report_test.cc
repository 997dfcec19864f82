#include "analysis/info_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "unit/analysis/recorded.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::listed_process;
using test::ticks_of;

using test::kSecondNs;

// A recording of ten ticks and two processes, and what is added to it.
struct Recorded {
  model::RecordingInfo info;
  std::vector<model::RecordedTick> ticks =
      ticks_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::vector<model::RecordedProcess> processes = {
      listed_process(1, 500, "first"), listed_process(4, 501, "second")};
  std::vector<model::RecordedGap> gaps;
  std::vector<model::RecordedNote> notes;

  InfoReport report() const {
    InfoInput input;
    input.info = &info;
    input.ticks = &ticks;
    input.processes = &processes;
    input.gaps = gaps;
    input.notes = notes;
    return make_info_report(input);
  }
};

model::RecordedGap gap_of(uint64_t count, std::string because) {
  model::RecordedGap gap;
  gap.missed.count = count;
  gap.missed.because = std::move(because);
  return gap;
}

TEST(InfoHeights, SayWhatIsNoMoreThanABound) {
  InfoReport report = Recorded().report();
  report.timeline.points.resize(3);
  report.timeline.points[0].pss_bytes = 70;
  report.timeline.points[0].resident_bytes = 500;
  report.timeline.points[1].pss_bytes = 90;
  report.timeline.points[1].bounded_bytes = 20;
  report.timeline.points[2].pss_bytes = 60;
  report.timeline.points[2].estimated_bytes = 60;
  std::optional<InfoHeights> heights = heights_of(report);
  ASSERT_TRUE(heights);
  EXPECT_EQ(heights->top, 1U);
  EXPECT_EQ(heights->highest().bytes, 90U);
  EXPECT_TRUE(heights->is_bound);
  EXPECT_FALSE(heights->is_estimated);
  report.timeline.points[2].pss_bytes = 95;
  heights = heights_of(report);
  EXPECT_TRUE(heights->is_estimated);
  EXPECT_FALSE(heights->is_bound);
}

TEST(InfoHeights, AreNoneWhereNoMemoryWasSeen) {
  InfoReport report = Recorded().report();
  EXPECT_FALSE(heights_of(report)) << "the timeline was not read";
  report.timeline.points.resize(2);
  EXPECT_FALSE(heights_of(report));
}

TEST(InfoReport, SumsUpTheTicks) {
  Recorded recorded;
  recorded.ticks[2].is_new_high = true;
  recorded.ticks[7].is_new_high = true;
  for (model::RecordedTick& tick : recorded.ticks)
    tick.read_ns = 10;
  recorded.ticks[4].read_ns = 70;
  recorded.ticks[5].oldest_detail_ticks = 3;
  recorded.ticks[6].oldest_detail_ticks = 1;
  const InfoReport report = recorded.report();
  EXPECT_EQ(report.tick_count, 10U);
  EXPECT_EQ(report.new_high_count, 2U);
  EXPECT_EQ(report.read_ns, 160U);
  EXPECT_EQ(report.longest_read_ns, 70U);
  EXPECT_EQ(report.oldest_detail_ticks, 3U);
  EXPECT_EQ(report.stale_tick_count, 2U);
  EXPECT_EQ(report.span_ns(), 9 * kSecondNs);
  EXPECT_EQ(report.thinned_count, 0U);
}

TEST(InfoReport, TimeIsSinceTheFirstTickAndNotSinceTheMachineStarted) {
  const InfoReport report = Recorded().report();
  ASSERT_EQ(report.elapsed_ns.size(), 10U);
  EXPECT_EQ(report.elapsed_ns.front(), 0U);
  EXPECT_EQ(report.elapsed_ns.back(), report.span_ns());
}

TEST(InfoReport, OfOneTickHasNoSpan) {
  Recorded recorded;
  recorded.ticks = ticks_of({0});
  const InfoReport report = recorded.report();
  EXPECT_EQ(report.span_ns(), 0U);
  EXPECT_EQ(report.elapsed_ns, std::vector<uint64_t>{0});
  EXPECT_EQ(report.thinned_count, 0U);
}

RC_GTEST_PROP(InfoReport, KeptAndThinnedTicksAreAllThatWereRecorded, ()) {
  Recorded recorded;
  std::vector<int64_t> ids;
  const auto last = *rc::gen::inRange<int64_t>(0, 50);
  for (int64_t id = 0; id < last; ++id) {
    if (*rc::gen::arbitrary<bool>()) ids.push_back(id);
  }
  ids.push_back(last);
  recorded.ticks = ticks_of(ids);
  const InfoReport report = recorded.report();
  RC_ASSERT(report.tick_count + report.thinned_count ==
            static_cast<uint64_t>(last) + 1);
}

TEST(InfoReport, MissedTicksAreToldByReasonAndAddUp) {
  Recorded recorded;
  recorded.gaps = {gap_of(3, "too slow"), gap_of(1, "disk full"),
                   gap_of(2, "too slow")};
  const InfoReport report = recorded.report();
  const std::vector<std::pair<std::string, uint64_t>> reasons = {
      {"disk full", 1}, {"too slow", 5}};
  EXPECT_EQ(report.missed_count, 6U);
  EXPECT_EQ(report.missed_reasons, reasons);
}

TEST(InfoReport, CountsWhoLivesAtTheEnd) {
  Recorded recorded;
  recorded.processes[0].gone_at_tick = 3;
  EXPECT_EQ(recorded.report().living_count, 1U);
  EXPECT_EQ(recorded.report().processes.size(), 2U);
}

// ---- remarks

TEST(InfoReport, RemarksThatDifferInNumbersAloneAreOne) {
  Recorded recorded;
  recorded.notes = {{2, 1, "stalled for 12 ms"},
                    {5, 4, "stalled for 7 ms"},
                    {6, {}, "disk full"}};
  const InfoReport report = recorded.report();
  ASSERT_EQ(report.notes.size(), 2U);
  EXPECT_EQ(report.notes[0].text, "stalled for 12 ms") << "the first, as it is";
  EXPECT_EQ(report.notes[0].count, 2U);
  EXPECT_EQ(report.notes[0].first_elapsed_ns, 2 * kSecondNs);
  EXPECT_EQ(report.notes[0].process, "first (500)");
  EXPECT_EQ(report.notes[1].count, 1U);
  EXPECT_EQ(report.notes[1].process, "");
}

RC_GTEST_PROP(InfoReport, NoRemarkIsLost, ()) {
  Recorded recorded;
  const auto count = *rc::gen::inRange<uint64_t>(0, 30);
  for (uint64_t i = 0; i < count; ++i) {
    recorded.notes.push_back(
        {*rc::gen::inRange<int64_t>(-1, 12),
         *rc::gen::element<std::optional<int64_t>>(std::nullopt, 1, 3, 4, 9),
         *rc::gen::element<std::string>("", "7", "a 1", "a 22", "b")});
  }
  uint64_t told = 0;
  for (const InfoNote& note : recorded.report().notes)
    told += note.count;
  RC_ASSERT(told == count);
}

TEST(InfoReport, ARemarkAtATickThatMadeRoomIsAtTheNext) {
  Recorded recorded;
  recorded.ticks = ticks_of({0, 1, 8});
  recorded.notes = {{5, {}, "late"}};
  EXPECT_EQ(recorded.report().notes.at(0).first_elapsed_ns, 8 * kSecondNs);
}

// A file that was tampered with, or one whose process was never written.
TEST(InfoReport, ARemarkOnNobodyWeKnowNamesNobody) {
  Recorded recorded;
  recorded.notes = {{0, 2, "between the two"}, {0, 9, "behind the last"}};
  for (const InfoNote& note : recorded.report().notes)
    EXPECT_EQ(note.process, "") << note.text;
}

TEST(InfoReport, ARemarkNamesAProcessAsItWasCalledLast) {
  Recorded recorded;
  recorded.processes[1].images.push_back({});
  recorded.processes[1].images.back().comm = "renamed";
  recorded.notes = {{0, 4, "x"}};
  EXPECT_EQ(recorded.report().notes.at(0).process, "renamed (501)");
}

}  // namespace
}  // namespace tidemark::analysis
