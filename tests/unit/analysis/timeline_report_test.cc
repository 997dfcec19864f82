#include "analysis/timeline_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tidemark::analysis {
namespace {

using model::Band;
using model::BandShares;
using model::Category;

constexpr uint64_t kPeriodNs = 1'000'000'000;

struct Recorded {
  model::RecordingInfo info;
  std::vector<model::RecordedTick> ticks;
  std::vector<model::RecordedProcess> processes;
  model::Timeline timeline;
  model::Bands bands;

  explicit Recorded(size_t tick_count) {
    info.targets = "web";
    info.period_ns = kPeriodNs;
    for (size_t i = 0; i < tick_count; ++i) {
      model::RecordedTick tick;
      tick.id = static_cast<int64_t>(i);
      tick.monotonic_ns = 5000 + i * kPeriodNs;
      tick.realtime_ns = 1'700'000'000'000'000'000 + i * kPeriodNs;
      ticks.push_back(tick);
      model::TimelinePoint point;
      point.tick = tick.id;
      timeline.points.push_back(point);
    }
  }

  void add_process(int64_t id, const std::string& name,
                   const std::string& group) {
    model::RecordedProcess process;
    process.id = id;
    process.process.pid = static_cast<int32_t>(100 + id);
    model::RecordedImage image;
    image.comm = name;
    image.cgroup_path = group;
    process.images.push_back(image);
    processes.push_back(process);
  }

  TimelineInput input() const {
    TimelineInput input;
    input.path = "web.tdm";
    input.info = &info;
    input.ticks = &ticks;
    input.processes = &processes;
    input.timeline = &timeline;
    for (size_t i = 0; i < ticks.size(); ++i)
      input.drawn.push_back(i);
    input.bands = &bands;
    return input;
  }
};

Band process_band(int64_t process, Category category,
                  std::vector<model::BandPoint> points) {
  Band band;
  band.process = process;
  band.category = category;
  band.points = std::move(points);
  return band;
}

BandShares pss(uint64_t bytes) {
  BandShares shares;
  shares.pss_bytes = bytes;
  return shares;
}

uint64_t pss_at(const std::vector<TimelineBand>& bands, size_t index) {
  uint64_t sum = 0;
  for (const TimelineBand& band : bands) {
    uint64_t bytes = 0;
    for (const model::BandPoint& point : band.points) {
      if (point.tick_index <= index) bytes = point.shares.pss_bytes;
    }
    sum += bytes;
  }
  return sum;
}

TEST(ChooseDrawn, KeepsEveryPeakAndEveryValley) {
  Recorded recorded(10'000);
  for (size_t i = 0; i < recorded.ticks.size(); ++i)
    recorded.timeline.points[i].pss_bytes = 1000;
  recorded.timeline.points[4711].pss_bytes = 9000;
  recorded.timeline.points[4712].pss_bytes = 10;
  recorded.timeline.points[8000].resident_bytes = 77;
  recorded.timeline.points[6000].traced_bytes = 5;
  const std::vector<size_t> drawn =
      choose_drawn(recorded.timeline, recorded.ticks, 100);
  EXPECT_LE(drawn.size(), 3u * 101);
  for (size_t wanted : {0U, 4711U, 4712U, 6000U, 8000U, 9999U})
    EXPECT_TRUE(std::ranges::binary_search(drawn, wanted)) << wanted;
  EXPECT_TRUE(std::ranges::is_sorted(drawn));
  EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end());
}

TEST(ChooseDrawn, DrawsAllOfAFewAndNothingOfNothing) {
  EXPECT_TRUE(choose_drawn({}, {}, 100).empty());
  const Recorded recorded(250);
  EXPECT_EQ(choose_drawn(recorded.timeline, recorded.ticks, 100).size(), 250u);
}

TEST(ChooseDrawn, BearsClocksThatStandStill) {
  Recorded recorded(1000);
  for (model::RecordedTick& tick : recorded.ticks)
    tick.monotonic_ns = 5;
  const std::vector<size_t> drawn =
      choose_drawn(recorded.timeline, recorded.ticks, 10);
  EXPECT_EQ(drawn.front(), 0u);
  EXPECT_EQ(drawn.back(), 999u);
}

class TimelineReportTest : public testing::Test {
 protected:
  TimelineReportTest() {
    for (int64_t id = 1; id <= 5; ++id) {
      recorded_.add_process(id, "p" + std::to_string(id),
                            id < 3 ? "/one" : "/two");
      recorded_.bands.by_process.push_back(
          process_band(id, id % 2 == 0 ? Category::Heap : Category::Anon,
                       {{0, pss(static_cast<uint64_t>(id) * 100)},
                        {2, pss(static_cast<uint64_t>(6 - id) * 50)},
                        {3, pss(0)}}));
      Band object;
      object.category = Category::File;
      object.name = "/f" + std::to_string(id);
      object.points = recorded_.bands.by_process.back().points;
      recorded_.bands.by_object.push_back(object);
    }
  }

  Recorded recorded_{4};
};

TEST_F(TimelineReportTest, EveryGroupingAddsUpToTheSame) {
  TimelineInput input = recorded_.input();
  input.band_limit = 3;
  const TimelineReport report = make_timeline_report(input);
  const std::vector<uint64_t> whole = {1500, 1500, 750, 0};
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const auto* bands : {&report.kinds, &report.processes, &report.objects,
                              &report.groups, &report.parts}) {
      EXPECT_EQ(pss_at(*bands, i), whole[i]) << i;
    }
  }
}

TEST_F(TimelineReportTest, TheLargestComeFirstAndTheRestAreTheOthers) {
  TimelineInput input = recorded_.input();
  input.band_limit = 3;
  const TimelineReport report = make_timeline_report(input);
  ASSERT_EQ(report.processes.size(), 3u);
  EXPECT_EQ(report.processes[0].label, "p5");
  EXPECT_EQ(report.processes[0].pid, 105);
  EXPECT_EQ(report.processes[1].label, "p4");
  EXPECT_EQ(report.processes[2].others_count, 3u);
  EXPECT_EQ(pss_at({report.processes[2]}, 0), 600u);
}

TEST_F(TimelineReportTest, KindsAreInStackOrder) {
  const TimelineReport report = make_timeline_report(recorded_.input());
  ASSERT_EQ(report.kinds.size(), 2u);
  EXPECT_EQ(report.kinds[0].category, Category::Heap);
  EXPECT_EQ(report.kinds[1].category, Category::Anon);
}

TEST_F(TimelineReportTest, TellsWhatHappened) {
  model::RecordedProcess& first = recorded_.processes[0];
  model::RecordedImage next = first.images[0];
  next.from_tick = 1;
  next.image = 1;
  next.comm = "changed";
  first.images.push_back(next);
  first.gone_at_tick = 3;
  recorded_.processes[1].first_tick = 2;
  TimelineInput input = recorded_.input();
  model::RecordedGap gap;
  gap.before_tick = 3;
  gap.missed.due_monotonic_ns = 5000 + 2 * kPeriodNs + kPeriodNs / 2;
  gap.missed.count = 4;
  gap.missed.because = "asleep";
  input.gaps = {gap};
  const TimelineReport report = make_timeline_report(input);
  EXPECT_EQ(report.missed_count, 4u);
  std::string told;
  for (const TimelineEvent& event : report.events) {
    if (event.kind == TimelineEventKind::Appeared) continue;
    told += std::string(timeline_event_token(event.kind)) + " " + event.text +
            " " + std::to_string(event.elapsed_ns / kPeriodNs) + "\n";
  }
  EXPECT_EQ(told,
            "exec changed (101) 1\n"
            "fork p2 (102) 2\n"
            "missed asleep 2\n"
            "exit changed (101) 3\n");
}

TEST_F(TimelineReportTest, AnEmptyRecordingIsAnEmptyReport) {
  const Recorded empty(0);
  const TimelineReport report = make_timeline_report(empty.input());
  EXPECT_TRUE(report.ticks.empty());
  EXPECT_TRUE(report.kinds.empty());
}

TEST(TimelineReport, AProcessThatEndedIsInTheGroupItHadItsMemoryIn) {
  Recorded recorded(3);
  recorded.add_process(1, "ended", "/job");
  recorded.add_process(2, "lives", "/job");
  for (model::RecordedProcess& process : recorded.processes) {
    model::RecordedImage moved = process.images.back();
    moved.cgroup_path = "/";
    process.images.push_back(moved);
    recorded.bands.by_process.push_back(
        process_band(process.id, Category::Heap, {{0, pss(4096)}}));
  }
  recorded.processes[0].gone_at_tick = 2;
  const TimelineReport report = make_timeline_report(recorded.input());
  ASSERT_EQ(report.processes.size(), 2u);
  EXPECT_EQ(report.processes[0].cgroup_path, "/job");
  EXPECT_EQ(report.processes[1].cgroup_path, "/") << "it went there itself";
}

// ---- the control group of all

BandShares rss(uint64_t bytes) {
  BandShares shares;
  shares.rss_bytes = bytes;
  return shares;
}

TEST(OnlyCgroup, IsThatOfAllWithMemory) {
  Recorded recorded(2);
  recorded.add_process(1, "a", "/job");
  recorded.add_process(2, "b", "/job");
  recorded.add_process(3, "ends", "/");
  for (int64_t id : {1, 2}) {
    recorded.bands.by_process.push_back(
        process_band(id, Category::Heap, {{0, rss(4096)}}));
  }
  EXPECT_EQ(only_cgroup(recorded.processes, recorded.bands), "/job");
  recorded.bands.by_process.push_back(
      process_band(3, Category::Heap, {{1, rss(4096)}}));
  EXPECT_FALSE(only_cgroup(recorded.processes, recorded.bands));
}

TEST(OnlyCgroup, IsNoneOfSeveralOrNobody) {
  Recorded recorded(1);
  EXPECT_FALSE(only_cgroup(recorded.processes, recorded.bands));
  recorded.add_process(1, "a", "/one");
  recorded.add_process(2, "b", "/two");
  for (int64_t id : {1, 2}) {
    recorded.bands.by_process.push_back(
        process_band(id, Category::Heap, {{0, rss(4096)}}));
  }
  EXPECT_FALSE(only_cgroup(recorded.processes, recorded.bands));
}

TEST(TimelineReport, HasTheEventsOfTheMachineInOrder) {
  Recorded recorded(5);
  recorded.add_process(1, "a", "/job");
  recorded.processes[0].gone_at_tick = 4;
  TimelineInput input = recorded.input();
  TimelineEvent killed;
  killed.kind = TimelineEventKind::OomKilled;
  killed.elapsed_ns = 3 * kPeriodNs;
  input.machine_events = {killed};
  const TimelineReport report = make_timeline_report(input);
  ASSERT_EQ(report.events.size(), 3U);
  EXPECT_EQ(report.events[1].kind, TimelineEventKind::OomKilled);
  EXPECT_EQ(timeline_event_token(report.events[1].kind), "oom");
}

}  // namespace
}  // namespace tidemark::analysis
