#include "watch/top_replay.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "unit/analysis/vms.h"
#include "unit/child.h"
#include "unit/store/samples.h"

namespace tidemark::watch {
namespace {

using test::full_mapping;
using test::process_of;

// Up to a high at tick 5, and down again.
std::vector<model::Sample> hill() {
  std::vector<model::Sample> samples;
  for (uint64_t i = 0; i < 10; ++i) {
    const uint64_t pages = i <= 5 ? 10 + i * 100 : 10 + (10 - i) * 100;
    std::vector<model::Process> processes = {
        process_of(42, 7, {full_mapping(0x10000, 2000, pages)})};
    if (i >= 3)
      processes.push_back(process_of(43, 8, {full_mapping(0x10000, 99, 3)}));
    samples.push_back(test::sample_of(i, std::move(processes)));
  }
  return samples;
}

base::Result<size_t> no_words(const store::Recording& /*recording*/,
                              const std::string& word) {
  if (word == "last") return size_t{9};
  return base::fail(base::ErrorKind::Misused, "what is '" + word + "'?");
}

class TopReplayTest : public testing::Test {
 protected:
  void start(const std::vector<model::Sample>& samples, size_t first = 0) {
    base::Result<std::unique_ptr<TopReplay>> replay =
        TopReplay::start(test::recorded(file_, samples), first, no_words);
    ASSERT_TRUE(replay) << replay.error().what;
    replay_ = std::move(*replay);
    ASSERT_TRUE(is_at(first));
  }
  bool is_at(size_t index) {
    return test::eventually([&] {
      const TopReplay::Snapshot snapshot = replay_->take();
      return snapshot && snapshot->playback->tick_index == index;
    });
  }
  uint64_t pss() {
    return replay_->take()
        ->sample.processes[0]
        .rollup->get(model::SmapsField::Pss)
        .value_or(0);
  }

  test::RecordingFile file_;
  std::unique_ptr<TopReplay> replay_;
};

TEST_F(TopReplayTest, ShowsEachMomentAsItWas) {
  start(hill());
  EXPECT_EQ(pss(), 10 * test::kPageBytes);
  replay_->move_by(4);
  ASSERT_TRUE(is_at(4));
  EXPECT_EQ(pss(), 410 * test::kPageBytes);
  EXPECT_EQ(replay_->take()->sample.processes.size(), 2U);
  replay_->move_by(-99);
  EXPECT_TRUE(is_at(0)) << "not before its begin";
}

TEST_F(TopReplayTest, GoesToPeaksAndTimes) {
  start(hill());
  ASSERT_TRUE(
      test::eventually([&] { return replay_->take()->timeline != nullptr; }));
  EXPECT_TRUE(replay_->go_to_peak(true));
  EXPECT_TRUE(is_at(5));
  EXPECT_FALSE(replay_->go_to_peak(true));
  replay_->go_to("last");
  EXPECT_TRUE(is_at(9));
  replay_->go_to("nonsense");
  EXPECT_TRUE(test::eventually([&] {
    return replay_->take()->note.find("nonsense") != std::string::npos;
  }));
}

TEST_F(TopReplayTest, PlaysToItsEnd) {
  start(hill());
  replay_->change_speed(true);
  replay_->play_or_pause();
  EXPECT_TRUE(is_at(9));
  EXPECT_TRUE(
      test::eventually([&] { return !replay_->take()->playback->is_playing; }));
}

TEST_F(TopReplayTest, TellsWhatHappened) {
  start(hill());
  ASSERT_TRUE(
      test::eventually([&] { return replay_->take()->timeline != nullptr; }));
  const auto timeline = replay_->take()->timeline;
  ASSERT_FALSE(timeline->events.empty());
  EXPECT_EQ(timeline->events[0].kind, analysis::TopEventKind::Start);
  EXPECT_EQ(timeline->events[0].elapsed_ns, 3 * test::kPeriodNs);
}

TEST_F(TopReplayTest, FollowsOneProcess) {
  start(hill(), 4);
  analysis::TopNeeds needs;
  needs.timeline_of.processes = {model::ProcessId{43, 8}};
  replay_->want(needs);
  ASSERT_TRUE(test::eventually([&] {
    const auto timeline = replay_->take()->timeline;
    return timeline && !timeline->of.empty();
  }));
  const auto timeline = replay_->take()->timeline;
  EXPECT_EQ(timeline->points[4].sum(), 3 * test::kPageBytes);
  EXPECT_EQ(timeline->points[0].sum(), 0U) << "it had not begun";
}

TEST_F(TopReplayTest, KnowsWhomAFilterMeans) {
  start(hill(), 4);
  analysis::TopNeeds needs;
  needs.timeline_of = {"nobody", {}};
  replay_->want(needs);
  ASSERT_TRUE(test::eventually([&] {
    const auto timeline = replay_->take()->timeline;
    return timeline && timeline->of == "nobody";
  }));
  EXPECT_TRUE(replay_->take()->timeline->points.empty());
  needs.timeline_of = {"pid<99", {}};
  replay_->want(needs);
  ASSERT_TRUE(test::eventually(
      [&] { return replay_->take()->timeline->of == "pid<99"; }));
  EXPECT_EQ(replay_->take()->timeline->points[4].sum(), 413 * test::kPageBytes);
}

TEST_F(TopReplayTest, MeansByAFilterThoseOfTheWholeRecording) {
  start(hill(), 0);
  analysis::TopNeeds needs;
  // At the moment that is shown it is not there, and nobody is so large.
  needs.timeline_of = {"pid=43", {}};
  replay_->want(needs);
  ASSERT_TRUE(test::eventually([&] {
    const auto timeline = replay_->take()->timeline;
    return timeline && timeline->of == "pid=43";
  }));
  EXPECT_EQ(replay_->take()->timeline->points[4].sum(), 3 * test::kPageBytes);
  needs.timeline_of = {"pss>1M", {}};
  replay_->want(needs);
  ASSERT_TRUE(test::eventually(
      [&] { return replay_->take()->timeline->of == "pss>1M"; }));
  const auto timeline = replay_->take()->timeline;
  EXPECT_EQ(timeline->points[0].sum(), 10 * test::kPageBytes)
      << "it is large later";
  EXPECT_EQ(timeline->points[4].sum(), 410 * test::kPageBytes);
  EXPECT_EQ(timeline->chosen.processes.size(), 1U);
}

TEST_F(TopReplayTest, HasTheMarkOfTheGroupAllAreIn) {
  std::vector<model::Sample> samples = hill();
  for (size_t i = 0; i < samples.size(); ++i) {
    for (model::Process& process : samples[i].processes)
      process.cgroup_path = "/import";
    model::Cgroup group;
    group.path = "/import";
    group.inode_id = 9;
    group.peak_bytes = model::known(uint64_t{1024} * (i + 1));
    group.charged_bytes = model::known(uint64_t{1024});
    samples[i].cgroups.push_back(group);
  }
  start(samples);
  ASSERT_TRUE(
      test::eventually([&] { return replay_->take()->timeline != nullptr; }));
  EXPECT_EQ(replay_->take()->timeline->mark_bytes, 10'240U);
}

TEST_F(TopReplayTest, HasTheLimitOfTheGroupAllAreIn) {
  std::vector<model::Sample> samples = hill();
  for (model::Sample& sample : samples) {
    model::Cgroup group;
    group.path = sample.processes[0].cgroup_path;
    group.limit_bytes = 1U << 30;
    sample.cgroups.push_back(group);
  }
  start(samples);
  ASSERT_TRUE(
      test::eventually([&] { return replay_->take()->timeline != nullptr; }));
  EXPECT_EQ(replay_->take()->timeline->limit_bytes, 1U << 30);
}

TEST_F(TopReplayTest, SaysWhatARecordingDoesNotHold) {
  start(hill());
  const analysis::TopSlow slow = replay_->take()->slow;
  EXPECT_FALSE(slow.objects.failure.empty());
  EXPECT_FALSE(slow.ledger.failure.empty());
  EXPECT_EQ(slow.vms.value, nullptr) << "no VMs were recorded";
}

TEST_F(TopReplayTest, ShowsVmsWhereTheyWereRecorded) {
  std::vector<model::Sample> samples = hill();
  for (model::Sample& sample : samples) {
    model::VmScan scan;
    scan.started_realtime_ns = sample.started_realtime_ns;
    scan.started_monotonic_ns = sample.started_monotonic_ns;
    scan.ended_monotonic_ns = sample.ended_monotonic_ns;
    scan.vms = {analysis::vms::idle_vm()};
    sample.vms = std::move(scan);
  }
  start(samples, 6);
  ASSERT_NE(replay_->take()->slow.vms.value, nullptr);
  EXPECT_TRUE(replay_->take()->slow.vms.value->has_any);
  EXPECT_TRUE(replay_->take()->slow.vms.value->report.rows.empty())
      << "they cost a walk, and nobody looks";
  analysis::TopNeeds needs;
  needs.vms = true;
  replay_->want(needs);
  ASSERT_TRUE(test::eventually([&] {
    return replay_->take()->slow.vms.value->report.rows.size() == 1;
  }));
  const auto vms = replay_->take()->slow.vms.value;
  EXPECT_EQ(vms->report.rows[0].vm.name, "idle");
  EXPECT_EQ(vms->history.begin()->second.size(), 7U) << "up to the moment";
}

TEST_F(TopReplayTest, GoesOnWhenItsFileIsReplacedAndSaysSo) {
  start(hill());
  std::filesystem::rename(file_.path(), file_.path("old.tdm"));
  std::filesystem::copy(file_.path("old.tdm"), file_.path());
  replay_->move_by(4);
  ASSERT_TRUE(is_at(4));
  EXPECT_EQ(pss(), 410 * test::kPageBytes);
  EXPECT_NE(replay_->take()->note.find("was replaced"), std::string::npos);
}

TEST_F(TopReplayTest, SurvivesAFileThatIsCutShort) {
  start(hill());
  std::filesystem::resize_file(file_.path(), 1000);
  replay_->move_by(4);
  ASSERT_TRUE(is_at(4));
  const TopReplay::Snapshot snapshot = replay_->take();
  EXPECT_TRUE(!snapshot->note.empty() || snapshot->sample.processes.size() == 2)
      << "what it kept in mind, or why there is nothing";
}

TEST_F(TopReplayTest, OpensMappingsOfAMoment) {
  start(hill(), 2);
  replay_->want_maps(model::ProcessId{42, 7});
  EXPECT_TRUE(
      test::eventually([&] { return replay_->take()->maps != nullptr; }));
  replay_->want_maps(model::ProcessId{43, 8});
  EXPECT_TRUE(test::eventually([&] {
    return replay_->take()->maps_failure.find("was not there") !=
           std::string::npos;
  }));
}

}  // namespace
}  // namespace tidemark::watch
