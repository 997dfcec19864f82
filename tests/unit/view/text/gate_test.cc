#include "view/text/gate.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "view/json/gate.h"

namespace tidemark::view {
namespace {

analysis::GateReport example() {
  analysis::GateInput input;
  input.name = "make | tee <b>";
  for (uint64_t mib : {200U, 201U, 202U, 203U, 204U}) {
    model::GateRun run;
    run.label = "run";
    run.bytes = model::known(mib << 20);
    run.source = "memory.peak";
    run.duration_ns = 2'000'000'000;
    input.runs.push_back(run);
  }
  input.budget_bytes = uint64_t{256} << 20;
  model::GateEntry baseline;
  baseline.name = input.name;
  baseline.source = "memory.peak";
  baseline.runs_bytes = {uint64_t{180} << 20};
  input.baseline = baseline;
  return make_gate_report(input);
}

TEST(GateText, TellsTheVerdictFirst) {
  const analysis::GateReport report = example();
  EXPECT_EQ(gate_line(report),
            "make | tee <b>: worse, 202 MiB is +12.2 % from the baseline of "
            "180 MiB");
  const std::string text = gate_text(report, TextStyle());
  EXPECT_TRUE(text.starts_with("make | tee <b>: worse"));
  EXPECT_NE(text.find("256 MiB  within, 21.1 % below"), std::string::npos)
      << text;
}

TEST(GateText, MarkdownOfAHostileNameIsItsText) {
  const std::string text = gate_markdown(example());
  EXPECT_TRUE(text.starts_with(
      "### Memory of make \\| tee \\<b\\>: **worse**\n\n| | | |\n"))
      << text;
}

TEST(GateText, SaysWhyNothingWasDecided) {
  analysis::GateReport report = example();
  report.interval.reset();
  report.because = "run 2: it ended with exit status 3";
  report.verdict = analysis::GateVerdict::Undecided;
  EXPECT_EQ(gate_line(report),
            "make | tee <b>: not decided: run 2: it ended with exit status 3");
  EXPECT_NE(gate_markdown(report).find("exit status 3"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::view
