#include "view/text/run_functions.h"

#include <gtest/gtest.h>

#include "unit/parts.h"
#include "unit/view/run_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using test::has;

analysis::RunReport with_stacks(const model::Trace& trace) {
  analysis::RunReport report = run_report();
  report.trace = &trace;
  report.functions = {{"fill", "prog", 0x10, "main", 25'600, "memset"},
                      {"", "prog", 0x1234, "", 256, ""},
                      {"last", "prog", 0x30, "", 128, ""}};
  return report;
}

model::Trace sampled() {
  model::Trace trace;
  trace.sample_period = 65;
  trace.peak_pages = 25'984;
  trace.user.emplace().sample_count = 400;
  trace.user->unmapped_count = 3;
  return trace;
}

TEST(RunFunctionsText, IsNotThereUnlessStacksWereFollowed) {
  EXPECT_EQ(run_functions_text(run_report(), 10, {}), "");
}

TEST(RunFunctionsText, HasEachFunctionWithItsErrorAndTheWayThere) {
  const model::Trace trace = sampled();
  const std::string text = run_functions_text(with_stacks(trace), 10, {});
  // 2 sqrt(25,600 * 64) pages are 10 MiB.
  EXPECT_TRUE(has(text,
                  "fill [prog]                       100 MiB  10.0 MiB"
                  "  from main, through memset"))
      << text;
  EXPECT_TRUE(has(text, "0x1234 [prog]")) << "what has no name has a place";
  EXPECT_TRUE(has(text, "one page in 65, 400 unwound")) << text;
  EXPECT_TRUE(has(text, "3 of processes that")) << text;
}

TEST(RunFunctionsText, SumsUpWhatIsNotShown) {
  const model::Trace trace = sampled();
  const std::string text = run_functions_text(with_stacks(trace), 1, {});
  EXPECT_TRUE(has(text, "2 others")) << text;
  EXPECT_TRUE(has(text, "1.50 MiB")) << text;
  EXPECT_FALSE(has(text, "last")) << text;
}

}  // namespace
}  // namespace tidemark::view
