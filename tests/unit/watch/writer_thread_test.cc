#include "watch/writer_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "unit/child.h"

namespace tidemark::watch {
namespace {

using base::ErrorKind;
using model::Sample;

// Remembers what it was given; fails and waits as told.
class Notebook : public model::Sink {
 public:
  base::Status accept(const Sample& sample) override {
    while (is_stuck)
      test::sleep_ms(1);
    if (failure != FailureKind::None) {
      ++refused;
      return failure == FailureKind::Full
                 ? base::fail(ErrorKind::NoSpace, "full")
                 : base::fail(ErrorKind::System, "broken");
    }
    times.push_back(sample.started_monotonic_ns);
    missed.push_back(sample.missed_before);
    ++accepted;
    return base::Ok{};
  }
  void miss(const std::vector<model::MissedTick>& ticks) override {
    EXPECT_EQ(finished, 0);
    missed_at_end = ticks;
  }
  base::Status finish() override {
    ++finished;
    return base::Ok{};
  }

  enum class FailureKind { None, Full, Broken };
  std::atomic<bool> is_stuck = false;
  std::atomic<FailureKind> failure = FailureKind::None;
  std::atomic<int> refused = 0;
  std::atomic<int> accepted = 0;
  int finished = 0;
  std::vector<uint64_t> times;
  std::vector<std::vector<model::MissedTick>> missed;
  std::vector<model::MissedTick> missed_at_end;
};

bool give(WriterThread& writer, uint64_t time_ns,
          std::vector<model::MissedTick> missed = {}) {
  std::unique_ptr<Sample> sample = writer.borrow();
  if (!sample) return false;
  sample->started_monotonic_ns = time_ns;
  sample->missed_before = std::move(missed);
  writer.give(std::move(sample));
  return true;
}

TEST(WriterThread, KeepsTheOrderAndWritesAllBeforeItEnds) {
  Notebook notebook;
  WriterThread writer(notebook);
  std::vector<uint64_t> given;
  for (uint64_t i = 1; i <= 500; ++i) {
    ASSERT_TRUE(test::eventually([&] { return give(writer, i); }));
    given.push_back(i);
  }
  EXPECT_TRUE(writer.stop());
  EXPECT_EQ(notebook.times, given);
  EXPECT_EQ(notebook.finished, 1);
}

TEST(WriterThread, LendsABoundedNumberOfSamples) {
  Notebook notebook;
  notebook.is_stuck = true;
  WriterThread writer(notebook);
  std::set<const Sample*> lent;
  size_t count = 0;
  while (give(writer, count + 1) && count < 1000)
    ++count;
  EXPECT_LT(count, 64U);
  EXPECT_GE(count, 8U) << "half a second of a busy disk at 10 Hz";
  notebook.is_stuck = false;
  ASSERT_TRUE(test::eventually([&] { return give(writer, count + 1); }))
      << "they come back";
  EXPECT_TRUE(writer.stop());
  EXPECT_EQ(notebook.times.size(), count + 1);
}

TEST(WriterThread, UsesTheSamplesAgain) {
  Notebook notebook;
  WriterThread writer(notebook);
  std::set<const Sample*> seen;
  for (int i = 0; i < 100; ++i) {
    std::unique_ptr<Sample> sample = writer.borrow();
    ASSERT_TRUE(sample);
    seen.insert(sample.get());
    writer.give_back(std::move(sample));
  }
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_TRUE(writer.stop());
}

TEST(WriterThread, MakesAGapOfWhatAFullDiskRefused) {
  Notebook notebook;
  notebook.failure = Notebook::FailureKind::Full;
  WriterThread writer(notebook);
  const model::MissedTick before{1, 2, "slow"};
  ASSERT_TRUE(give(writer, 10, {before}));
  ASSERT_TRUE(give(writer, 20));
  ASSERT_TRUE(give(writer, 30));
  ASSERT_TRUE(test::eventually([&] { return notebook.refused == 3; }));
  EXPECT_TRUE(test::eventually([&] { return writer.is_paused(); }));
  EXPECT_FALSE(writer.failure()) << "a full disk is no reason to end";
  notebook.failure = Notebook::FailureKind::None;
  ASSERT_TRUE(give(writer, 40, {{35, 1, "slow"}}));
  ASSERT_TRUE(test::eventually([&] { return !writer.is_paused(); }));
  ASSERT_TRUE(give(writer, 50));
  EXPECT_TRUE(writer.stop());
  EXPECT_EQ(notebook.times, (std::vector<uint64_t>{40, 50}));
  EXPECT_EQ(notebook.missed[0],
            (std::vector<model::MissedTick>{
                before, {10, 3, "disk full"}, {35, 1, "slow"}}));
  EXPECT_TRUE(notebook.missed[1].empty());
}

TEST(WriterThread, TellsOfTicksThatNoSampleFollows) {
  Notebook notebook;
  WriterThread writer(notebook);
  ASSERT_TRUE(give(writer, 10));
  ASSERT_TRUE(test::eventually([&] { return notebook.accepted == 1; }));
  notebook.failure = Notebook::FailureKind::Full;
  ASSERT_TRUE(give(writer, 20));
  EXPECT_TRUE(writer.stop({{30, 2, "slow"}}));
  EXPECT_EQ(
      notebook.missed_at_end,
      (std::vector<model::MissedTick>{{20, 1, "disk full"}, {30, 2, "slow"}}));
}

TEST(WriterThread, ShowsAFailureAndWritesNoMore) {
  Notebook notebook;
  notebook.failure = Notebook::FailureKind::Broken;
  WriterThread writer(notebook);
  ASSERT_TRUE(give(writer, 10));
  ASSERT_TRUE(test::eventually([&] { return writer.failure().has_value(); }));
  notebook.failure = Notebook::FailureKind::None;
  ASSERT_TRUE(give(writer, 20));
  const base::Status stopped = writer.stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().what, "broken");
  EXPECT_TRUE(notebook.times.empty());
  EXPECT_EQ(notebook.finished, 1) << "the sink is finished on every way out";
}

TEST(WriterThread, EndsWithoutBeingStopped) {
  Notebook notebook;
  {
    WriterThread writer(notebook);
    ASSERT_TRUE(give(writer, 10));
  }
  EXPECT_EQ(notebook.times.size(), 1U);
}

}  // namespace
}  // namespace tidemark::watch
