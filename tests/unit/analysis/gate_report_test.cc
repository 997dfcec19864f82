#include "analysis/gate_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

namespace tidemark::analysis {
namespace {

using Values = std::vector<uint64_t>;

GateInput input_of(const Values& values) {
  GateInput input;
  input.name = "test";
  for (uint64_t bytes : values) {
    model::GateRun run;
    run.label = "run";
    run.bytes = model::known(bytes);
    run.source = "memory.peak";
    input.runs.push_back(run);
  }
  return input;
}

model::GateEntry baseline_of(const Values& values) {
  model::GateEntry entry;
  entry.name = "test";
  entry.source = "memory.peak";
  entry.runs_bytes = values;
  return entry;
}

TEST(MedianInterval, IsTheWholeSpreadOfFewRuns) {
  const MedianInterval five = median_interval({5, 1, 4, 2, 3});
  EXPECT_EQ(five.median_bytes, 3U);
  EXPECT_EQ(five.low_bytes, 1U);
  EXPECT_EQ(five.high_bytes, 5U);
  EXPECT_NEAR(five.confidence, 15.0 / 16, 1e-12);
  EXPECT_NEAR(median_interval({1, 2, 3}).confidence, 0.75, 1e-12);
  EXPECT_NEAR(median_interval({1}).confidence, 0, 1e-12);
}

// The tables of statistics have these: 8 runs leave one out at each end, 20
// leave five.
TEST(MedianInterval, LeavesOutliersOutOfMany) {
  EXPECT_EQ(median_interval({1, 2, 3, 4, 5, 6, 7, 800}).high_bytes, 7U);
  Values twenty(20);
  for (size_t i = 0; i < twenty.size(); ++i)
    twenty[i] = i + 1;
  const MedianInterval interval = median_interval(twenty);
  EXPECT_EQ(interval.low_bytes, 6U);
  EXPECT_EQ(interval.high_bytes, 15U);
  EXPECT_GE(interval.confidence, 0.9);
}

// What it promises is what happens, however the values are spread.
TEST(MedianInterval, HoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> skewed(10, 1);
  const double truth = std::exp(10.0);
  for (size_t count : {5U, 8U, 15U}) {
    int held = 0;
    double promised = 0;
    for (int round = 0; round < 2000; ++round) {
      Values values(count);
      for (uint64_t& value : values)
        value = static_cast<uint64_t>(skewed(random));
      const MedianInterval interval = median_interval(values);
      promised = interval.confidence;
      held += static_cast<double>(interval.low_bytes) <= truth &&
                      truth <= static_cast<double>(interval.high_bytes)
                  ? 1
                  : 0;
    }
    EXPECT_NEAR(held / 2000.0, promised, 0.02) << count;
  }
}

RC_GTEST_PROP(MedianInterval, KeepsItsOrder, ()) {
  const auto values = *rc::gen::nonEmpty<Values>();
  const MedianInterval interval = median_interval(values);
  RC_ASSERT(interval.low_bytes <= interval.median_bytes);
  RC_ASSERT(interval.median_bytes <= interval.high_bytes);
  RC_ASSERT(std::ranges::find(values, interval.median_bytes) != values.end());
}

TEST(Gate, IsWithinABudgetThatAllRunsKeep) {
  GateInput input = input_of({90, 92, 91, 95, 93});
  input.budget_bytes = 95;
  EXPECT_EQ(make_gate_report(input).verdict, GateVerdict::Within);
  input.budget_bytes = 89;
  EXPECT_EQ(make_gate_report(input).verdict, GateVerdict::Worse);
}

TEST(Gate, SaysHowManyMoreRunsWouldDecide) {
  GateInput input = input_of({90, 92, 91, 105, 93});
  input.budget_bytes = 100;
  const GateReport report = make_gate_report(input);
  EXPECT_EQ(report.verdict, GateVerdict::Undecided);
  ASSERT_TRUE(report.checks[0].more_runs);
  // One in five is above; of eleven two may be, of fewer less than that.
  EXPECT_EQ(*report.checks[0].more_runs, 6U);
}

TEST(Gate, DoesNotAskForRunsThatWouldNotHelp) {
  GateInput input = input_of({90, 110, 90, 110});
  input.budget_bytes = 100;
  const GateReport report = make_gate_report(input);
  EXPECT_EQ(report.verdict, GateVerdict::Undecided);
  EXPECT_FALSE(report.checks[0].more_runs);
}

TEST(Gate, ComparesWithTheMedianOfTheBaseline) {
  GateInput input = input_of({104, 104, 104, 104, 104});
  input.baseline = baseline_of({99, 100, 101});
  GateReport report = make_gate_report(input);
  EXPECT_EQ(report.verdict, GateVerdict::Within);
  EXPECT_NEAR(*report.change_percent, 4, 1e-9);
  input.drift_percent = 3;
  EXPECT_EQ(make_gate_report(input).verdict, GateVerdict::Worse);
  input = input_of({90, 91, 92, 90, 90});
  input.baseline = baseline_of({100});
  EXPECT_EQ(make_gate_report(input).verdict, GateVerdict::Better);
}

TEST(Gate, AFailedBudgetWinsOverABetterBaseline) {
  GateInput input = input_of({90, 90, 90, 90, 90});
  input.baseline = baseline_of({100});
  input.budget_bytes = 80;
  EXPECT_EQ(make_gate_report(input).verdict, GateVerdict::Worse);
}

TEST(Gate, SaysWhenTheBaselineIsNoisierThanTheBand) {
  GateInput input = input_of({100, 100, 100, 100, 100});
  input.baseline = baseline_of({80, 100, 120});
  const GateReport report = make_gate_report(input);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("the baseline itself"), std::string::npos);
}

TEST(Gate, DecidesNothingWhenARunToldNothing) {
  GateInput input = input_of({90, 91});
  input.runs[1].bytes = model::unknown<uint64_t>("ended with 3");
  input.budget_bytes = 100;
  const GateReport report = make_gate_report(input);
  EXPECT_EQ(report.verdict, GateVerdict::Undecided);
  EXPECT_EQ(report.because, "run: ended with 3");
  EXPECT_FALSE(report.interval);
}

}  // namespace
}  // namespace tidemark::analysis
