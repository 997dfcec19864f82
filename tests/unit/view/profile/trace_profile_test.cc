#include "view/profile/trace_profile.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/analysis/traces.h"
#include "unit/json_check.h"

namespace tidemark::view {
namespace {

using model::Trace;
using test::made_trace;

Trace some_trace() {
  return made_trace({
      {{"entry", "zs_malloc@zsmalloc", "alloc"}, 1, 3269, 3270, 3269},
      {{"entry", "do_fault"}, 1, 10, 500, 100},
      {{"entry", "do_fault"}, 2, 51200, 51200, 51200},
  });
}

TEST(TraceFolded, OneLineForEachStackThatHoldsPages) {
  EXPECT_EQ(trace_folded(some_trace(), {}),
            "task 1 (1);entry;zs_malloc_[zsmalloc];alloc 3269\n"
            "task 1 (1);entry;do_fault 10\n"
            "task 2 (2);entry;do_fault 51200\n");
  EXPECT_NE(trace_folded(some_trace(), {true}).find("do_fault 100\n"),
            std::string::npos);
}

TEST(TraceFolded, ASemicolonInANameIsNoFrame) {
  Trace trace = some_trace();
  trace.tasks[0].command_line = "a;b";
  EXPECT_NE(trace_folded(trace, {}).find("a\\x3bb (1);entry"),
            std::string::npos);
}

TEST(TraceSpeedscope, HasAWeightForEachSample) {
  Trace trace = some_trace();
  trace.tasks[0].command_line = "quote\" \xff";
  const std::string json = trace_speedscope(trace, {});
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_NE(json.find("\"samples\":[[4,2,1,0],[4,2,3],[5,2,3]]"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"weights\":[13389824,40960,209715200]"),
            std::string::npos)
      << json;
}

// What `pprof -raw` would show, as far as the test can read it.
TEST(TracePprof, BeginsWithItsTypesAndHasAllTexts) {
  const std::string bytes = trace_pprof(some_trace(), {});
  // Field 1, four bytes: {1: string 1, 2: string 2}.
  EXPECT_EQ(bytes.substr(0, 6), std::string("\x0a\x04\x08\x01\x10\x02"));
  for (const char* text :
       {"inuse_pages", "inuse_space", "peak_space", "bytes", "zs_malloc",
        "zsmalloc", "do_fault", "task 2", "[kernel]"}) {
    EXPECT_NE(bytes.find(text), std::string::npos) << text;
  }
}

TEST(TracePprof, WhereThePastIsNotKnownThereIsNoPeak) {
  Trace trace = some_trace();
  trace.has_peaks = false;
  EXPECT_EQ(trace_pprof(trace, {true}).find("peak_space"), std::string::npos);
}

TEST(TracePprof, AnEmptyTraceIsAProfileToo) {
  EXPECT_FALSE(trace_pprof(Trace(), {}).empty());
}

}  // namespace
}  // namespace tidemark::view
