#include "parse/gate_baseline.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tidemark::parse {
namespace {

std::string file_of(const std::string& gates) {
  return R"({"schema": "tidemark.gate-baseline/1", "gates": [)" + gates + "]}";
}

TEST(GateBaseline, ReadsRunsAndLimits) {
  base::Result<model::GateBaseline> baseline = parse_gate_baseline(file_of(
      R"({"name": "make", "metric": "rss", "source": "s", "median_bytes": 2,
          "runs_bytes": [1, 2, 3], "budget_bytes": 9, "drift_percent": 2.5,
          "made": "2026-11-15T09:55:12Z", "kernel": "6.18"})"));
  ASSERT_TRUE(baseline) << baseline.error().what;
  const model::GateEntry* entry = baseline->find("make");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->metric, model::GateMetric::Rss);
  EXPECT_EQ(entry->runs_bytes, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(entry->budget_bytes, 9U);
  EXPECT_EQ(entry->drift_percent, 2.5);
  EXPECT_EQ(entry->kernel, "6.18");
  EXPECT_EQ(baseline->find("cmake"), nullptr);
}

// A limit that is not understood would be no limit.
TEST(GateBaseline, RefusesWhatItDoesNotKnow) {
  const std::string good = R"("name": "a", "metric": "pss", "runs_bytes": [1])";
  EXPECT_TRUE(parse_gate_baseline(file_of("{" + good + "}")));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {file_of("{" + good + R"(, "budgt_bytes": 1})"), "'budgt_bytes'"},
      {file_of("{" + good + R"(, "budget_bytes": "1G"})"), "'budget_bytes'"},
      {file_of("{" + good + R"(, "budget_bytes": -1})"), "'budget_bytes'"},
      {file_of("{" + good + R"(, "drift_percent": -1})"), "'drift_percent'"},
      {file_of("{" + good + "}, {" + good + "}"), "twice"},
      {file_of(R"({"name": "a", "metric": "x", "runs_bytes": [1]})"),
       "'metric'"},
      {file_of(R"({"name": "a", "metric": "pss", "runs_bytes": []})"),
       "'runs_bytes'"},
      {file_of(R"({"name": "a", "metric": "pss", "runs_bytes": [1.5]})"),
       "no number"},
      {file_of(R"({"metric": "pss", "runs_bytes": [1]})"), "'name'"},
      {file_of("7"), "object"},
      {R"({"schema": "tidemark.gate-baseline/2", "gates": []})", "'schema'"},
      {R"({"schema": "tidemark.gate-baseline/1"})", "'gates'"},
      {"[", "JSON"},
  };
  for (const auto& [text, what] : cases) {
    base::Result<model::GateBaseline> baseline = parse_gate_baseline(text);
    ASSERT_FALSE(baseline) << text;
    EXPECT_EQ(baseline.error().kind, base::ErrorKind::Malformed);
    EXPECT_NE(baseline.error().what.find(what), std::string::npos)
        << baseline.error().what;
  }
}

}  // namespace
}  // namespace tidemark::parse
