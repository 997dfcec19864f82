#include "watch/detail_budget.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/quantities.h"

namespace tidemark::watch {
namespace {

using model::DetailTier;

constexpr uint64_t kMs = 1'000'000;
using test::kMiB;
constexpr uint64_t kGiB = uint64_t{1} << 30;

BudgetOptions every(uint64_t period_ns) {
  BudgetOptions options;
  options.period_ns = period_ns;
  return options;
}

// Processes that cost the same at each reading, on a clock of their own.
class Machine {
 public:
  Machine(const BudgetOptions& options, size_t count, uint64_t cost_ns)
      : options_(options), budget_(options), states_(count), cost_ns_(cost_ns) {
    for (DetailState& state : states_)
      state.resident_bytes = 10 * kMiB;
  }

  // Takes one tick; how many were read in full.
  size_t tick(bool is_urgent = false) {
    now_ns_ += options_.period_ns;
    budget_.begin_tick(now_ns_, cpu_ns_);
    if (budget_.is_plan_due(states_.size())) {
      std::vector<DetailState*> all;
      for (DetailState& state : states_)
        all.push_back(&state);
      budget_.plan(all);
    }
    cpu_ns_ += other_ns_;
    size_t read = 0;
    for (DetailState& state : states_) {
      const DetailTier tier = budget_.choose(state, is_urgent);
      if (tier == DetailTier::Counters) continue;
      ++read;
      DetailMeasure measure;
      measure.cpu_ns = cost_ns_;
      measure.mapping_count = 200;
      measure.largest_bytes = std::min<uint64_t>(state.resident_bytes, kMiB);
      budget_.measured(state, tier, measure);
      cpu_ns_ += cost_ns_;
    }
    return read;
  }
  double core_share() const {
    return static_cast<double>(cpu_ns_) / static_cast<double>(now_ns_);
  }
  void run(size_t ticks) {
    for (size_t i = 0; i < ticks; ++i)
      tick();
  }

  BudgetOptions options_;
  DetailBudget budget_;
  std::vector<DetailState> states_;
  uint64_t cost_ns_;
  uint64_t other_ns_ = 0;
  uint64_t now_ns_ = 1000 * kMs;
  uint64_t cpu_ns_ = 0;
};

TEST(DetailBudget, ReadsEverythingEachTickWhileItFits) {
  Machine machine(every(1000 * kMs), 10, kMs / 10);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(machine.tick(), 10U);
  for (const DetailState& state : machine.states_)
    EXPECT_EQ(state.step, 1U);
}

TEST(DetailBudget, KeepsToItsShareInTheLongRun) {
  Machine machine(every(500 * kMs), 120, 4 * kMs / 10);
  machine.run(2000);
  EXPECT_LE(machine.core_share(), 0.02 * 1.05);
  EXPECT_GE(machine.core_share(), 0.02 / 4) << "what may be spent should be";
  size_t rare_count = 0;
  for (const DetailState& state : machine.states_) {
    EXPECT_TRUE(state.has_detail) << "everybody is read at some time";
    if (state.step > 1) ++rare_count;
  }
  // Steps are powers of two; what rounding leaves lets some be read each tick.
  EXPECT_GT(rare_count, 100U);
}

TEST(DetailBudget, LeavesRoomForWhatReadingIsNotTheWholeOf) {
  Machine machine(every(500 * kMs), 120, 4 * kMs / 10);
  machine.other_ns_ = 4 * kMs;  // counters and writing: two fifths of it all
  machine.run(2000);
  EXPECT_LE(machine.core_share(), 0.02 * 1.1);
}

TEST(DetailBudget, SpreadsReadingsOverTheTicks) {
  Machine machine(every(500 * kMs), 120, 4 * kMs / 10);
  machine.run(500);
  size_t most = 0;
  for (int i = 0; i < 100; ++i)
    most = std::max(most, machine.tick());
  EXPECT_LT(most, 60U) << "all at once would miss ticks";
}

TEST(DetailBudget, ReadsEverybodyWithinAMinute) {
  Machine machine(every(1000 * kMs), 400, 5 * kMs);
  machine.run(300);
  for (const DetailState& state : machine.states_)
    EXPECT_LE(state.step, 60U);
}

TEST(DetailBudget, GivesLargeProcessesWhatSmallOnesLeave) {
  Machine machine(every(1000 * kMs), 11, kMs / 10);
  machine.run(3);
  machine.states_[0].full_cost_ns = 15 * kMs;
  std::vector<DetailState*> all;
  for (DetailState& state : machine.states_)
    all.push_back(&state);
  machine.budget_.plan(all);
  EXPECT_EQ(machine.states_[0].step, 1U) << "15 + 1 ms of 20";
}

// One process on a clock of its own; what it takes is handed in.
class Reader {
 public:
  explicit Reader(const BudgetOptions& options, uint64_t bytes)
      : period_ns_(options.period_ns), budget_(options) {
    state_.resident_bytes = bytes;
  }

  DetailTier tick() {
    now_ns_ += period_ns_;
    budget_.begin_tick(now_ns_, 0);
    if (budget_.is_plan_due(1)) budget_.plan({&state_});
    return budget_.choose(state_, false);
  }
  // All of it in one mapping, at so much a page.
  void read(DetailTier tier, double ns_per_page) {
    DetailMeasure measure;
    measure.small_bytes = measure.largest_bytes = state_.resident_bytes;
    measure.mapping_count = 20;
    measure.cpu_ns = static_cast<uint64_t>(
        ns_per_page * static_cast<double>(state_.resident_bytes / 4096));
    budget_.measured(state_, tier, measure);
  }
  // The tick of the next full reading, counted from now; each tick is read.
  int ticks_to_full(int most) {
    for (int i = 1; i <= most; ++i) {
      const DetailTier tier = tick();
      if (tier == DetailTier::Full) return i;
      if (tier == DetailTier::Scan) read(tier, 3);
    }
    return 0;
  }

  uint64_t period_ns_;
  DetailBudget budget_;
  DetailState state_;
  uint64_t now_ns_ = 0;
};

TEST(DetailBudget, ScansWhatWouldStallTooLong) {
  Reader reader(every(1000 * kMs), 2 * kGiB);
  EXPECT_EQ(reader.tick(), DetailTier::Scan);
  EXPECT_TRUE(reader.state_.is_expensive);
  EXPECT_EQ(reader.budget_.predicted_hold_ns(reader.state_),
            uint64_t{2} * 262144 * 25)
      << "until this machine's cost of a page is known";
}

TEST(DetailBudget, ScansNothingThatWasReadInFullBefore) {
  Reader reader(every(1000 * kMs), 20 * kGiB);
  EXPECT_EQ(reader.tick(), DetailTier::Scan);
  reader.read(DetailTier::Full, 25);
  EXPECT_EQ(reader.tick(), DetailTier::Counters) << "its counters scale it";
  EXPECT_TRUE(reader.state_.is_expensive);
}

TEST(DetailBudget, LearnsWhatAPageCostsFromTheCheapestReading) {
  Reader reader(every(1000 * kMs), 2 * kGiB);
  for (double ns_per_page : {400.0, 9.5, 60.0})
    reader.read(DetailTier::Full, ns_per_page);
  (void)reader.tick();
  EXPECT_FALSE(reader.state_.is_expensive) << "5 ms are 2 GiB at 9.5 ns";
  reader.state_.resident_bytes = 3 * kGiB;
  (void)reader.tick();
  EXPECT_TRUE(reader.state_.is_expensive) << "what has come may be of the same";
}

TEST(DetailBudget, LearnsNothingOfPagesFromManyMappings) {
  Reader reader(every(1000 * kMs), 64 * kMiB);
  DetailMeasure measure;
  measure.cpu_ns = 50 * kMs;
  measure.small_bytes = measure.largest_bytes = 64 * kMiB;
  measure.mapping_count = 20000;
  reader.budget_.measured(reader.state_, DetailTier::Full, measure);
  EXPECT_EQ(reader.budget_.predicted_hold_ns(reader.state_),
            uint64_t{16384} * 25);
}

TEST(DetailBudget, ReadsASmallProcessHoweverSlowTheMachine) {
  Reader reader(every(1000 * kMs), 14 * kMiB);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(reader.tick(), DetailTier::Full);
    reader.read(DetailTier::Full, 5000);
  }
}

TEST(DetailBudget, ReadsALargeProcessOfSmallMappingsInFull) {
  Reader reader(every(1000 * kMs), 2 * kGiB);
  reader.state_.detail_resident_bytes = 2 * kGiB;
  reader.state_.largest_bytes = 10 * kMiB;
  EXPECT_EQ(reader.tick(), DetailTier::Full);
  EXPECT_FALSE(reader.state_.is_expensive);
}

TEST(DetailBudget, TriesAgainTheLaterTheLongerTheStall) {
  // 8 and 40 ms at 25 ns, of 5 that are allowed.
  Reader large(every(1000 * kMs), 1250 * kMiB);
  const int pause = large.ticks_to_full(100);
  EXPECT_GE(pause, 8);
  EXPECT_LE(pause, 20);
  Reader vast(every(1000 * kMs), 100 * kGiB);
  const int longest = vast.ticks_to_full(100);
  EXPECT_GE(longest, 60);
  EXPECT_LE(longest, 62) << "a minute at most";
}

TEST(DetailBudget, TriesAgainWithoutAScanToo) {
  Reader reader(every(1000 * kMs), 100 * kGiB);
  reader.budget_.forget_scan();
  EXPECT_EQ(reader.tick(), DetailTier::Counters);
  EXPECT_GT(reader.ticks_to_full(62), 0);
  reader.read(DetailTier::Full, 25);
  EXPECT_GT(reader.ticks_to_full(62), 0) << "never for good";
}

TEST(DetailBudget, TriesAgainAtOnceWhenItHasGrownByATenth) {
  for (bool has_scan : {true, false}) {
    Reader reader(every(1000 * kMs), 4 * kGiB);
    if (!has_scan) reader.budget_.forget_scan();
    EXPECT_NE(reader.tick(), DetailTier::Full);
    reader.state_.resident_bytes += reader.state_.resident_bytes / 20;
    EXPECT_NE(reader.tick(), DetailTier::Full);
    reader.state_.resident_bytes += reader.state_.resident_bytes / 15;
    EXPECT_EQ(reader.tick(), DetailTier::Full);
    reader.read(DetailTier::Full, 25);
    EXPECT_NE(reader.tick(), DetailTier::Full) << "from its new size on";
  }
}

TEST(DetailBudget, StallsWhereThatIsAllowed) {
  BudgetOptions options = every(1000 * kMs);
  options.allows_stall = true;
  Reader reader(options, 2 * kGiB);
  EXPECT_EQ(reader.tick(), DetailTier::Full);
  EXPECT_FALSE(reader.state_.is_expensive);
}

TEST(DetailBudget, ReadsTheWholeWherePreferredUpToATenth) {
  BudgetOptions options = every(1000 * kMs);
  options.prefers_whole = true;
  Reader reader(options, 4 * kGiB);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(reader.tick(), DetailTier::Full) << "40 ms of 100";
    reader.read(DetailTier::Full, 38);
  }
  reader.state_.resident_bytes = 12 * kGiB;
  EXPECT_NE(reader.tick(), DetailTier::Counters) << "the debt is forgiven";
  EXPECT_FALSE(reader.budget_.is_whole()) << "120 ms";
  reader.state_.resident_bytes = 4 * kGiB;
  EXPECT_EQ(reader.tick(), DetailTier::Full);
  EXPECT_TRUE(reader.budget_.is_whole()) << "and back";
}

TEST(DetailBudget, ForgivesWhatItsOwnBeginningCost) {
  DetailBudget budget(every(500 * kMs));
  budget.begin_tick(1000 * kMs, 0);
  budget.begin_tick(1500 * kMs, 2000 * kMs);  // two seconds, as in a guest
  DetailState state;
  state.has_detail = true;
  state.resident_bytes = 20 * kMiB;  // has grown
  state.step = 1024;
  EXPECT_EQ(budget.choose(state, false), DetailTier::Full);
}

TEST(DetailBudget, WithoutALimitReadsEverythingAlways) {
  BudgetOptions options = every(10 * kMs);
  options.is_limited = false;
  Machine machine(options, 50, 5 * kMs);
  machine.states_[0].resident_bytes = 20 * kGiB;
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(machine.tick(), 50U);
}

// A process that is not due for a long time, and a purse that is full.
struct Waiting {
  Waiting() : budget(every(100 * kMs)) {
    for (uint64_t i = 1; i <= 20; ++i)
      budget.begin_tick(i * 1000 * kMs, 0);
    state.step = 1024;
    state.phase = 5;
    state.has_detail = true;
    state.resident_bytes = state.detail_resident_bytes = 20 * kMiB;
    state.largest_bytes = kMiB;
  }
  DetailBudget budget;
  DetailState state;
};

TEST(DetailBudget, LeavesAQuietProcessToItsTurn) {
  Waiting waiting;
  EXPECT_EQ(waiting.budget.choose(waiting.state, false), DetailTier::Counters);
}

TEST(DetailBudget, ReadsWhatHasGrownOutOfTurn) {
  Waiting waiting;
  waiting.state.resident_bytes += 3 * kMiB;
  EXPECT_EQ(waiting.budget.choose(waiting.state, false), DetailTier::Full);
}

TEST(DetailBudget, ReadsWhatHasShrunkOutOfTurn) {
  Waiting waiting;
  waiting.state.resident_bytes -= 3 * kMiB;
  EXPECT_EQ(waiting.budget.choose(waiting.state, false), DetailTier::Full);
}

TEST(DetailBudget, ReadsANewImageAtOnce) {
  Waiting waiting;
  EXPECT_EQ(waiting.budget.choose(waiting.state, true), DetailTier::Full);
}

TEST(DetailBudget, ReadsANewProcessAtOnce) {
  Waiting waiting;
  waiting.state.has_detail = false;
  EXPECT_EQ(waiting.budget.choose(waiting.state, false), DetailTier::Full);
}

TEST(DetailBudget, StopsEvenWhatIsDueWhenDeepInDebt) {
  DetailBudget budget(every(1000 * kMs));
  budget.begin_tick(0, 0);
  budget.begin_tick(1000 * kMs, 0);
  budget.begin_tick(2000 * kMs, 5000 * kMs);  // five seconds of CPU in one
  DetailState state;
  state.has_detail = true;
  EXPECT_EQ(budget.choose(state, true), DetailTier::Counters);
  // Paid back at 20 ms a second.
  budget.begin_tick(2000 * kMs + 240'000 * kMs, 5000 * kMs);
  EXPECT_EQ(budget.choose(state, false), DetailTier::Full);
}

TEST(DetailBudget, SavesUpNoMoreThanAFewSeconds) {
  Machine machine(every(1000 * kMs), 1, kMs);
  machine.run(10);
  machine.now_ns_ += uint64_t{24} * 3600 * 1000 * kMs;  // a day asleep
  machine.states_.resize(1000);
  machine.cost_ns_ = 10 * kMs;
  const uint64_t before = machine.cpu_ns_;
  machine.tick();
  EXPECT_LT(machine.cpu_ns_ - before, 1000 * kMs)
      << "a day's savings must not be spent in one tick";
}

TEST(BudgetWords, SayWhatIsAllowed) {
  BudgetOptions options;
  EXPECT_EQ(budget_words(options), "2 % of a core, stalls up to 5.0 ms");
  options.core_share = 0.005;
  options.allows_stall = true;
  EXPECT_EQ(budget_words(options), "0.5 % of a core, stalls allowed");
  options = BudgetOptions();
  options.prefers_whole = true;
  EXPECT_EQ(budget_words(options),
            "in full up to 10 %, else 2 % of a core, stalls up to 5.0 ms");
  options.is_limited = false;
  EXPECT_EQ(budget_words(options), "none");
}

}  // namespace
}  // namespace tidemark::watch
