#include "analysis/trace_functions.h"

#include <gtest/gtest.h>

#include "traces.h"

namespace tidemark::analysis {
namespace {

model::Trace of_program() {
  return test::made_trace({
      {{"_start@prog", "main@prog", "fill@prog", "memset@libc.so.6", "[kernel]",
        "handle_mm_fault"},
       1,
       0,
       70,
       70},
      {{"_start@prog", "main@prog", "fill@prog", "[kernel]", "handle_mm_fault"},
       1,
       0,
       20,
       20},
      {{"_start@prog", "main@prog", "other@prog", "fill@prog", "[kernel]"},
       1,
       0,
       5,
       5},
      {{"__libc_start_main@libc.so.6", "[kernel]"}, 1, 0, 3, 3},
      {{"gone@prog", "[kernel]"}, 1, 0, 9, 0},
  });
}

TEST(TraceFunctions, ArrangesPagesByTheProgramsOwnFunctionAndItsCaller) {
  const std::vector<TraceFunction> list = functions_at_peak(of_program());
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].name, "fill");
  EXPECT_EQ(list[0].module, "prog");
  EXPECT_EQ(list[0].caller, "main");
  EXPECT_EQ(list[0].pages, 90U);
  EXPECT_EQ(list[1].caller, "other");
  EXPECT_EQ(list[1].pages, 5U);
}

TEST(TraceFunctions, TellsTheLibraryFunctionThatTouchedMost) {
  const std::vector<TraceFunction> list = functions_at_peak(of_program());
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].through, "memset") << "70 of its 90 pages";
  EXPECT_EQ(list[1].through, "") << "it touched them itself";
}

TEST(TraceFunctions, NamesALibraryWhereNothingElseCalledIt) {
  const std::vector<TraceFunction> list = functions_at_peak(of_program());
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[2].name, "__libc_start_main");
  EXPECT_EQ(list[2].pages, 3U);
}

TEST(TraceFunctions, TellsPlacesWithoutANameApart) {
  model::Trace trace = test::made_trace(
      {{{"@prog", "[kernel]"}, 1, 0, 1, 1}, {{"x", "[kernel]"}, 1, 0, 2, 2}});
  trace.frames.push_back({0x10, "", 0, "prog", {}});
  trace.frames.push_back({0x20, "", 0, "prog", {}});
  for (model::TraceStack& stack : trace.stacks) {
    stack.back() = static_cast<uint32_t>(&stack == trace.stacks.data()
                                             ? trace.frames.size() - 1
                                             : trace.frames.size() - 2);
  }
  EXPECT_EQ(functions_at_peak(trace).size(), 2U);
}

}  // namespace
}  // namespace tidemark::analysis
