#include "model/run.h"

#include <gtest/gtest.h>

namespace tidemark::model {
namespace {

TEST(PeakSource, EachIsCalledByWhoSaysSo) {
  EXPECT_EQ(peak_source_token(PeakSource::Counted), "counted");
  EXPECT_EQ(peak_source_token(PeakSource::HighMark), "taskstats");
  EXPECT_EQ(peak_source_token(PeakSource::MaxRss), "wait4");
  EXPECT_EQ(peak_source_token(PeakSource::Sampled), "sampled");
}

// The words --via takes.
TEST(RunMethod, EachIsCalledByItsMeans) {
  EXPECT_EQ(run_method_token(RunMethod::ChargeGate), "cgroup+bpf");
  EXPECT_EQ(run_method_token(RunMethod::ChargePolled), "cgroup");
  EXPECT_EQ(run_method_token(RunMethod::RssGate), "bpf");
  EXPECT_EQ(run_method_token(RunMethod::Sampled), "sampling");
}

TEST(GroupStat, StartsUnknown) {
  const GroupStat stat;
  EXPECT_FALSE(stat.anon_bytes || stat.file_bytes || stat.kernel_bytes ||
               stat.swap_bytes);
}

}  // namespace
}  // namespace tidemark::model
