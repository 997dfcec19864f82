#include "analysis/trace_error.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

TEST(TraceError, IsTwiceTheDeviationOfABinomialNumber) {
  model::Trace trace;
  trace.sample_period = 65;
  // 2 sqrt(10000 x 64)
  EXPECT_EQ(trace_error_pages(trace, 10'000), 1600U);
  EXPECT_EQ(trace_error_pages(trace, 0), 0U);
}

TEST(TraceError, IsNoneWhereAllPagesAreFollowed) {
  EXPECT_EQ(trace_error_pages(model::Trace{}, 10'000), 0U);
}

}  // namespace
}  // namespace tidemark::analysis
