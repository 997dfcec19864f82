#include "watch/trace_recording.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/clock.h"
#include "source/live_trace.h"

namespace tidemark::watch {
namespace {

// Keeps what it is given; full from one sample on.
class Shelf : public model::Sink {
 public:
  explicit Shelf(size_t room = 1000) : room_(room) {}
  base::Status accept(const model::Sample& sample) override {
    if (samples.size() >= room_) {
      return base::fail(base::ErrorKind::NoSpace, "no room");
    }
    samples.push_back(sample);
    return base::Ok{};
  }
  void miss(const std::vector<model::MissedTick>& missed) override {
    missed_at_end = missed;
  }
  base::Status finish() override {
    ++finish_count;
    return base::Ok{};
  }

  std::vector<model::Sample> samples;
  std::vector<model::MissedTick> missed_at_end;
  int finish_count = 0;

 private:
  size_t room_;
};

model::Trace trace_of(uint64_t pages) {
  model::Trace trace;
  trace.pages = pages;
  return trace;
}

constexpr uint64_t kHour = 3'600'000'000'000;

TEST(TraceRecording, EndsWithTheLastReading) {
  Shelf shelf;
  const uint64_t start_ns = base::monotonic_ns();
  TraceRecording recording(shelf, kHour, start_ns);
  EXPECT_EQ(recording.due_ns(), start_ns) << "the first is due at once";
  ASSERT_TRUE(
      recording.take([] { return base::Result<model::Trace>(trace_of(3)); }));
  EXPECT_EQ(recording.due_ns(), start_ns + kHour);
  ASSERT_TRUE(recording.finish(trace_of(5)));
  ASSERT_EQ(shelf.samples.size(), 2U);
  EXPECT_EQ(shelf.samples[0].trace->pages, 3U);
  EXPECT_EQ(shelf.samples[1].trace->pages, 5U);
  EXPECT_FALSE(shelf.samples[1].has_processes);
  EXPECT_EQ(shelf.finish_count, 1);
}

TEST(TraceRecording, TellsOfReadingsThatCameTooLate) {
  Shelf shelf;
  constexpr uint64_t kPeriod = 1'000'000'000;
  // Due ten times before it began to read.
  TraceRecording recording(shelf, kPeriod, base::monotonic_ns() - 10 * kPeriod);
  ASSERT_TRUE(
      recording.take([] { return base::Result<model::Trace>(trace_of(1)); }));
  ASSERT_TRUE(recording.finish(trace_of(1)));
  ASSERT_EQ(shelf.samples[0].missed_before.size(), 1U);
  EXPECT_GE(shelf.samples[0].missed_before[0].count, 9U);
}

TEST(TraceRecording, AFullDiskPausesItAndIsToldOf) {
  Shelf shelf(1);
  TraceRecording recording(shelf, 1, base::monotonic_ns());
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(recording.take(
        [&] { return base::Result<model::Trace>(trace_of(i)); }));
  }
  ASSERT_TRUE(recording.finish(trace_of(9)));
  EXPECT_TRUE(recording.is_paused()) << "the end is not in it";
  EXPECT_EQ(shelf.samples.size(), 1U);
  ASSERT_FALSE(shelf.missed_at_end.empty());
  EXPECT_EQ(shelf.finish_count, 1);
}

TEST(TraceRecording, AReadingThatFailsIsAFailureAndTheFileIsFinished) {
  Shelf shelf;
  TraceRecording recording(shelf, kHour, base::monotonic_ns());
  EXPECT_FALSE(recording.take([] {
    return base::Result<model::Trace>(
        base::fail(base::ErrorKind::System, "no more"));
  }));
  EXPECT_TRUE(recording.abandon());
  EXPECT_TRUE(shelf.samples.empty());
  EXPECT_EQ(shelf.finish_count, 1);
}

// Counts what it is asked for.
class FakeTrace : public source::LiveTrace {
 public:
  struct Calls {
    int drained = 0;
    int looked = 0;
    bool is_frozen = false;
  };
  FakeTrace(Calls& calls, int wake_fd) : calls_(calls), wake_fd_(wake_fd) {}
  void go() override {}
  void drain() override { ++calls_.drained; }
  int wake_fd() const override { return wake_fd_; }
  void freeze() override { calls_.is_frozen = true; }
  void look() override { ++calls_.looked; }
  Height height() const override { return {}; }
  base::Result<model::Trace> read(const source::Roots& /*roots*/) override {
    model::Trace trace = trace_of(calls_.is_frozen ? 2 : 1);
    trace.notes = {"own"};
    return trace;
  }

 private:
  Calls& calls_;
  int wake_fd_;
};

AttachedTrace attached(const source::Roots& roots, FakeTrace::Calls& calls,
                       int wake_fd) {
  ChosenTrace chosen;
  chosen.live = std::make_unique<FakeTrace>(calls, wake_fd);
  chosen.notes = {"not by another"};
  return {roots, std::move(chosen)};
}

TEST(AttachedTrace, AddsReadingsAndFreezesForTheLast) {
  const source::Roots roots;
  FakeTrace::Calls calls;
  AttachedTrace trace = attached(roots, calls, -1);
  model::Sample sample;
  ASSERT_TRUE(trace.add_to(sample));
  EXPECT_EQ(sample.trace->pages, 1U);
  EXPECT_EQ(sample.trace->notes,
            (std::vector<std::string>{"not by another", "own"}));
  EXPECT_EQ(calls.looked, 1);
  ASSERT_TRUE(trace.add_last_to(sample));
  EXPECT_EQ(sample.trace->pages, 2U);
}

TEST(AttachedTrace, TakesWhatComesInWhileItWaits) {
  const source::Roots roots;
  FakeTrace::Calls calls;
  AttachedTrace trace = attached(roots, calls, 0);
  int waits = 0;
  const uint64_t until = base::monotonic_ns() + kHour;
  const WaitEnd end = trace.wait_until(until, [&](uint64_t slice) {
    EXPECT_LT(slice, until) << "in slices";
    return ++waits == 3 ? WaitEnd::Stop : WaitEnd::Due;
  });
  EXPECT_EQ(end, WaitEnd::Stop);
  EXPECT_EQ(calls.drained, 3);
}

TEST(AttachedTrace, DoesNotWakeForWhatIsCountedInTheKernel) {
  const source::Roots roots;
  FakeTrace::Calls calls;
  AttachedTrace trace = attached(roots, calls, -1);
  const uint64_t until = base::monotonic_ns() + kHour;
  EXPECT_EQ(trace.wait_until(until,
                             [&](uint64_t slice) {
                               EXPECT_EQ(slice, until);
                               return WaitEnd::Due;
                             }),
            WaitEnd::Due);
  EXPECT_EQ(calls.drained, 0);
}

}  // namespace
}  // namespace tidemark::watch
