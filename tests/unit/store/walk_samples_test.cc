// A walk over a recording tells at each tick what asking for the tick does.
#include <gtest/gtest.h>

#include "unit/store/scratch.h"

namespace tidemark::store {
namespace {

using test::mapping_at;
using test::process_of;
using test::sample_of_second;

// Mappings come, change and go; a process is not read in detail for a while,
// ends, and another takes its pid.
std::vector<model::Sample> history() {
  std::vector<model::Sample> samples;
  for (uint64_t i = 0; i < 70; ++i) {
    std::vector<model::Mapping> mappings = {mapping_at(0x10000, "[heap]", i)};
    if (i % 7 < 4) mappings.push_back(mapping_at(0x40000, "/lib/x.so", 2));
    if (i % 11 < 5) mappings.push_back(mapping_at(0x80000, "", i % 3));
    model::Process first = process_of(1, mappings);
    first.statm = model::Statm{100 + i / 9, 50 + i, 3, 2, 1};
    model::Process second = process_of(2, {mapping_at(0x10000, "[heap]", 9)});
    if (i % 5 != 0) second.mappings = {};
    second.detail_step = 5;
    second.oom_score = static_cast<int64_t>(i / 20);
    std::vector<model::Process> processes = {first};
    if (i < 20 || i > 40) processes.push_back(second);
    if (i == 55) processes[0].stat.comm = "renamed";
    model::Sample sample = sample_of_second(i, processes);
    if (i % 3 == 0) {
      sample.machine = model::Machine();
      sample.machine->meminfo.total_bytes = (1000 + i) * 1024;
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

void expect_same(const model::Sample& walked, const model::Sample& asked) {
  EXPECT_EQ(walked.started_realtime_ns, asked.started_realtime_ns);
  EXPECT_EQ(walked.machine.has_value(), asked.machine.has_value());
  if (walked.machine && asked.machine) {
    EXPECT_EQ(walked.machine->meminfo, asked.machine->meminfo);
  }
  ASSERT_EQ(walked.processes.size(), asked.processes.size());
  for (size_t i = 0; i < asked.processes.size(); ++i) {
    const model::Process& a = walked.processes[i];
    const model::Process& b = asked.processes[i];
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.stat, b.stat);
    EXPECT_EQ(a.state, b.state);
    EXPECT_EQ(a.tier, b.tier);
    EXPECT_EQ(a.statm, b.statm);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.oom_score, b.oom_score);
    EXPECT_EQ(a.mappings, b.mappings);
    EXPECT_EQ(a.kinds, b.kinds);
    EXPECT_EQ(a.rollup, b.rollup);
  }
}

class WalkSamples : public testing::Test {
 protected:
  WalkSamples() : path_(scratch_.file("a.tdm")) {
    test::record(path_, history());
  }

  void expect_walk(int64_t first, int64_t last, const ProcessSet& chosen) {
    base::Result<Recording> recording = Recording::open(path_);
    ASSERT_TRUE(recording) << recording.error().what;
    int64_t next = first;
    base::Status status =
        recording->walk_samples(first, last, chosen,
                                [&](const model::RecordedTick& tick,
                                    model::Sample& walked) -> base::Status {
                                  SCOPED_TRACE(tick.id);
                                  EXPECT_EQ(tick.id, next++);
                                  base::Result<model::Sample> asked =
                                      recording->sample_at(tick.id, chosen);
                                  EXPECT_TRUE(asked);
                                  if (asked) expect_same(walked, *asked);
                                  return base::Ok{};
                                });
    EXPECT_TRUE(status) << status.error().what;
    EXPECT_EQ(next, last + 1);
  }

  test::Scratch scratch_;
  std::string path_;
};

TEST_F(WalkSamples, TellsAllTicksAsAskingForEachDoes) {
  expect_walk(0, 69, {});
}

TEST_F(WalkSamples, MayBeginAndEndAnywhere) {
  expect_walk(37, 37, {});
  expect_walk(21, 50, {});
  expect_walk(69, 69, {});
}

TEST_F(WalkSamples, TellsChosenProcessesAlone) {
  expect_walk(3, 60, {2});
}

TEST_F(WalkSamples, APairTellsWhatAskingTwiceDoes) {
  base::Result<Recording> recording = Recording::open(path_);
  ASSERT_TRUE(recording);
  for (int64_t tick = 0; tick < 70; tick += 3) {
    for (int64_t earlier = tick; earlier >= 0; earlier -= 7) {
      SCOPED_TRACE(std::to_string(tick) + " and " + std::to_string(earlier));
      base::Result<Recording::Pair> pair =
          recording->pair_at(tick, earlier, {});
      ASSERT_TRUE(pair) << pair.error().what;
      expect_same(pair->at, *recording->sample_at(tick, {}));
      expect_same(pair->earlier, *recording->sample_at(earlier, {}));
    }
  }
}

TEST_F(WalkSamples, APairNeedsBothTicks) {
  base::Result<Recording> recording = Recording::open(path_);
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->pair_at(69, -1, {}));
  EXPECT_FALSE(recording->pair_at(70, 0, {}));
}

TEST_F(WalkSamples, EndsWithTheFailureOfAVisit) {
  base::Result<Recording> recording = Recording::open(path_);
  ASSERT_TRUE(recording);
  int visits = 0;
  base::Status status = recording->walk_samples(
      0, 69, {},
      [&](const model::RecordedTick&, model::Sample&) -> base::Status {
        if (++visits < 3) return base::Ok{};
        return base::fail(base::ErrorKind::NoSpace, "full");
      });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "full");
  EXPECT_EQ(visits, 3);
}

}  // namespace
}  // namespace tidemark::store
