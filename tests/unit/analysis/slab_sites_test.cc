#include "analysis/slab_sites.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

model::SlabSite site(const char* cache, const char* function, uint64_t bytes,
                     uint64_t peak_bytes, uint64_t untold = 0) {
  return {cache, {0x10, function, 0x4, ""}, bytes, peak_bytes, bytes / 100, 1,
          untold};
}

model::SlabTrace some_trace() {
  model::SlabTrace trace;
  trace.sites = {site("dentry", "d_alloc", 400, 500),
                 site("filp", "open", 1000, 1000),
                 site("dentry", "d_pseudo", 300, 800, 2)};
  trace.bytes = 1700;
  trace.peak_bytes = 1800;
  return trace;
}

TEST(SlabRows, ACacheHasWhatItsPlacesHave) {
  const auto rows = make_slab_rows(some_trace(), TraceOrder::ByPages, 0);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "filp");
  EXPECT_EQ(rows[1].bytes, 700U);
  EXPECT_EQ(rows[1].objects, 7U);
  EXPECT_EQ(rows[1].allocation_count, 2U);
  EXPECT_EQ(rows[1].untold_count, 2U);
  EXPECT_EQ(rows[1].sites[0].caller.symbol, "d_alloc");
}

TEST(SlabRows, ThePeakOfACacheLiesBetweenBounds) {
  const auto rows = make_slab_rows(some_trace(), TraceOrder::ByPages, 0);
  EXPECT_TRUE(rows[0].is_peak_exact()) << "it has one place only";
  EXPECT_EQ(rows[1].peak_bytes, 1300U);
  EXPECT_EQ(rows[1].least_peak_bytes, 800U);
  model::SlabTrace trace = some_trace();
  trace.peak_bytes = 1200;
  EXPECT_EQ(make_slab_rows(trace, TraceOrder::ByPages, 0)[1].peak_bytes, 1200U)
      << "no more than all caches together";
}

TEST(SlabRows, SortsAndCutsAsAsked) {
  const auto rows = make_slab_rows(some_trace(), TraceOrder::ByPeak, 1);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "dentry");
  ASSERT_EQ(rows[0].sites.size(), 1U);
  EXPECT_EQ(rows[0].sites[0].caller.symbol, "d_pseudo");
  EXPECT_EQ(rows[0].bytes, 700U) << "what is not shown still counts";
}

}  // namespace
}  // namespace tidemark::analysis
