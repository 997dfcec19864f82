#include "watch/loop.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tidemark::watch {
namespace {

using base::ErrorKind;
using model::Sample;

constexpr uint64_t kBegun = 1'000'000;
constexpr uint64_t kPeriod = 100;

// Time that moves only when somebody waits or works.
struct FakeClock {
  uint64_t now = kBegun;
  std::optional<uint64_t> stop_at;
  std::vector<uint64_t> wake_at;  // in order; each wakes once

  LoopClock clock() {
    return {[this] { return now; },
            [this](uint64_t until) {
              if (stop_at && *stop_at <= std::max(now, until)) {
                return WaitEnd::Stop;
              }
              if (!wake_at.empty() && wake_at.front() < until) {
                now = std::max(now, wake_at.front());
                wake_at.erase(wake_at.begin());
                return WaitEnd::Wake;
              }
              now = std::max(now, until);
              return WaitEnd::Due;
            }};
  }
};

// Notes when it was asked, and lets time pass while it reads.
class FakeSource : public model::Source {
 public:
  explicit FakeSource(FakeClock& clock) : clock_(clock) {}

  base::Status collect(Sample& sample) override {
    asked_at.push_back(clock_.now - kBegun);
    const size_t turn = asked_at.size() - 1;
    if (turn < costs.size()) clock_.now += costs[turn];
    if (fails_after && turn >= *fails_after) return error;
    sample.started_monotonic_ns = turn;
    return base::Ok{};
  }

  std::vector<uint64_t> asked_at;  // after the start
  std::vector<uint64_t> costs;     // of each turn; nothing beyond the last
  std::optional<size_t> fails_after;
  base::Error error;

 private:
  FakeClock& clock_;
};

class FakeSink : public model::Sink {
 public:
  base::Status accept(const Sample& sample) override {
    accepted.push_back(sample.started_monotonic_ns);
    new_highs.push_back(sample.is_new_high);
    if (refuses) return base::fail(ErrorKind::Closed, "nobody listens");
    return base::Ok{};
  }
  base::Status finish() override {
    ++finish_count;
    if (finish_fails) return base::fail(ErrorKind::System, "disk full");
    return base::Ok{};
  }

  std::vector<bool> new_highs;
  std::vector<uint64_t> accepted;
  bool refuses = false;
  bool finish_fails = false;
  int finish_count = 0;
};

class Loop : public testing::Test {
 protected:
  base::Result<LoopResult> run(std::optional<uint64_t> count,
                               std::optional<uint64_t> duration = {}) {
    return run_loop(source_, sink_, {kPeriod, count, duration}, clock_.clock());
  }
  LoopResult result_of(std::optional<uint64_t> count,
                       std::optional<uint64_t> duration = {}) {
    base::Result<LoopResult> result = run(count, duration);
    EXPECT_TRUE(result) << result.error().what;
    return result ? *result : LoopResult();
  }

  FakeClock clock_;
  FakeSource source_{clock_};
  FakeSink sink_;
};

// ---- when

TEST_F(Loop, TicksAtTheStartAndOncePerPeriod) {
  result_of(4);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 100, 200, 300}));
}

TEST_F(Loop, DoesNotDriftWhenATickTakesTime) {
  source_.costs = {30, 99, 1};
  result_of(4);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 100, 200, 300}));
}

TEST_F(Loop, SkipsMissedTicksAndCountsThem) {
  source_.costs = {0, 350};
  const LoopResult result = result_of(4);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 100, 450, 500}))
      << "200 and 300 are lost, 400 runs late, 500 is back on the grid";
  EXPECT_EQ(result.missed_count, 2U);
}

TEST_F(Loop, TakesATickThatIsJustDueForNoMissedOne) {
  source_.costs = {100};
  EXPECT_EQ(result_of(2).missed_count, 0U);
}

// ---- until when

TEST_F(Loop, EndsAfterItsCount) {
  const LoopResult result = result_of(3);
  EXPECT_EQ(result.end, LoopEnd::Completed);
  EXPECT_EQ(result.tick_count, 3U);
  EXPECT_EQ(sink_.accepted, (std::vector<uint64_t>{0, 1, 2}));
}

TEST_F(Loop, OfACountOfNoneReadsNothing) {
  EXPECT_EQ(result_of(0).tick_count, 0U);
  EXPECT_TRUE(source_.asked_at.empty());
}

TEST_F(Loop, EndsAfterItsDuration) {
  const LoopResult result = result_of(std::nullopt, 250);
  EXPECT_EQ(result.end, LoopEnd::Completed);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 100, 200, 250}))
      << "the last tick is at the end, on the grid or not";
}

TEST_F(Loop, HasOneTickAtTheEndOfItsDuration) {
  result_of(std::nullopt, 200);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 100, 200}));
}

TEST_F(Loop, LastsItsDurationWhereThatIsShorterThanThePeriod) {
  result_of(std::nullopt, 30);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 30}));
}

TEST_F(Loop, TakesOneSampleWhenItsTimeIsOverBeforeATick) {
  source_.costs = {470};
  const LoopResult result = result_of(std::nullopt, 250);
  EXPECT_EQ(source_.asked_at, (std::vector<uint64_t>{0, 470}));
  EXPECT_EQ(result.missed_count, 2U) << "100 and 200";
}

TEST_F(Loop, EndsAtWhatComesFirstOfCountAndDuration) {
  EXPECT_EQ(result_of(2, 1000).tick_count, 2U);
  EXPECT_EQ(result_of(1000, 250).tick_count, 4U);
}

TEST_F(Loop, StopsWhenAskedTo) {
  clock_.stop_at = kBegun + 150;
  const LoopResult result = result_of(std::nullopt);
  EXPECT_EQ(result.end, LoopEnd::Stopped);
  EXPECT_EQ(result.tick_count, 2U);
}

TEST_F(Loop, EndsInOrderWhenItsTargetIsGone) {
  source_.fails_after = 2;
  source_.error = base::fail(ErrorKind::Gone, "process 42 has ended");
  const LoopResult result = result_of(std::nullopt);
  EXPECT_EQ(result.end, LoopEnd::TargetGone);
  EXPECT_EQ(result.gone.what, "process 42 has ended");
  EXPECT_EQ(result.tick_count, 2U);
  EXPECT_EQ(sink_.accepted.size(), 2U) << "no sample of a target that is gone";
}

// ---- failures

TEST_F(Loop, EndsWithTheErrorOfItsSource) {
  source_.fails_after = 1;
  source_.error = base::fail(ErrorKind::Denied, "/proc: Permission denied");
  base::Result<LoopResult> result = run(5);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), source_.error);
  EXPECT_EQ(sink_.accepted.size(), 1U);
}

TEST_F(Loop, EndsWithTheErrorOfItsSink) {
  sink_.refuses = true;
  base::Result<LoopResult> result = run(5);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "nobody listens");
  EXPECT_EQ(source_.asked_at.size(), 1U);
}

TEST_F(Loop, EndsWithTheErrorOfFinish) {
  sink_.finish_fails = true;
  base::Result<LoopResult> result = run(1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "disk full");
}

TEST_F(Loop, KeepsTheFirstErrorWhenFinishFailsToo) {
  sink_.refuses = true;
  sink_.finish_fails = true;
  base::Result<LoopResult> result = run(1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "nobody listens");
}

// ---- every way out

TEST_F(Loop, FinishesOnceAfterItsCount) {
  result_of(2);
  EXPECT_EQ(sink_.finish_count, 1);
}

TEST_F(Loop, FinishesOnceAfterItsDuration) {
  result_of(std::nullopt, 250);
  EXPECT_EQ(sink_.finish_count, 1);
}

TEST_F(Loop, FinishesOnceWhenStopped) {
  clock_.stop_at = kBegun;
  result_of(std::nullopt);
  EXPECT_EQ(sink_.finish_count, 1);
}

TEST_F(Loop, FinishesOnceWhenItsTargetIsGone) {
  source_.fails_after = 0;
  source_.error = base::fail(ErrorKind::Gone, "it has ended");
  result_of(std::nullopt);
  EXPECT_EQ(sink_.finish_count, 1);
}

TEST_F(Loop, FinishesOnceWhenItsSourceFails) {
  source_.fails_after = 0;
  EXPECT_FALSE(run(5));
  EXPECT_EQ(sink_.finish_count, 1);
}

TEST_F(Loop, FinishesOnceWhenItsSinkFails) {
  sink_.refuses = true;
  EXPECT_FALSE(run(5));
  EXPECT_EQ(sink_.finish_count, 1);
}

// ---- the grid

TEST(Ticker, TakesATimeBeforeTheStartForTheStart) {
  Ticker ticker(kBegun, kPeriod);
  const Ticker::Tick tick = ticker.next(kBegun - 50);
  EXPECT_EQ(tick.due_ns, kBegun);
  EXPECT_EQ(tick.missed_count, 0U);
}

RC_GTEST_PROP(Ticker, TicksAndMissedTicksFillTheGrid, ()) {
  const auto period = *rc::gen::inRange<uint64_t>(1, 1000);
  Ticker ticker(kBegun, period);
  uint64_t now = kBegun;
  uint64_t expected_index = 0;
  for (int i = 0; i < 20; ++i) {
    const Ticker::Tick tick = ticker.next(now);
    expected_index += tick.missed_count;
    RC_ASSERT(tick.due_ns == kBegun + expected_index * period);
    RC_ASSERT(tick.due_ns + period > now);
    ++expected_index;
    now = std::max(now, tick.due_ns) + *rc::gen::inRange<uint64_t>(0, 5000);
  }
}

TEST(RunLoop, WakesGiveSamplesBetweenTheTicks) {
  FakeClock clock;
  clock.wake_at = {kBegun + 130, kBegun + 150};
  FakeSource source(clock);
  FakeSink sink;
  LoopOptions options;
  options.period_ns = kPeriod;
  options.count = 3;
  base::Result<LoopResult> result =
      run_loop(source, sink, options, clock.clock());
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(source.asked_at, (std::vector<uint64_t>{0, 100, 130, 150, 200}))
      << "the ticks stay on their grid";
  EXPECT_EQ(sink.new_highs,
            (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(result->tick_count, 3U) << "a wake is no tick";
  EXPECT_EQ(result->woken_count, 2U);
}

}  // namespace
}  // namespace tidemark::watch
