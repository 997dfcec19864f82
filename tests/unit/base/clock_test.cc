#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tidemark::base {
namespace {

// Sets the variable for the length of a test.
class FixedTime {
 public:
  explicit FixedTime(const char* value) {
    ::setenv("TIDEMARK_TEST_TIME", value, 1);
  }
  FixedTime(const FixedTime&) = delete;
  FixedTime& operator=(const FixedTime&) = delete;
  ~FixedTime() { ::unsetenv("TIDEMARK_TEST_TIME"); }
};

constexpr uint64_t kYear2020 = 1'577'836'800'000'000'000;

TEST(Clock, MonotonicTimeDoesNotGoBack) {
  const uint64_t before = monotonic_ns();
  EXPECT_LE(before, monotonic_ns());
}

TEST(Clock, RealTimeCountsFrom1970) {
  EXPECT_GT(realtime_ns(), kYear2020);
}

TEST(Clock, TheTestVariableReplacesRealTime) {
  FixedTime fixed("1000000001");
  EXPECT_EQ(realtime_ns(), 1'000'000'001U);
}

TEST(Clock, AnUnreadableTestVariableIsIgnored) {
  FixedTime fixed("yesterday");
  EXPECT_GT(realtime_ns(), kYear2020);
}

TEST(Clock, OwnCpuTimeGrowsWithWork) {
  const uint64_t before = own_cpu_ns();
  while (own_cpu_ns() == before) {
  }
  EXPECT_GT(own_cpu_ns(), before);
}

TEST(Rfc3339, KeepsNanosecondsAndIsUtc) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000000000Z");
  // 2020-02-29 is a leap day: 59 days and 12:30:15 after the year began.
  EXPECT_EQ(
      rfc3339(kYear2020 + 59 * 86'400'000'000'000 + 45'015'000'000'000 + 7),
      "2020-02-29T12:30:15.000000007Z");
}

TEST(Rfc3339, ReachesTheEndOfItsRange) {
  EXPECT_EQ(rfc3339(UINT64_MAX), "2554-07-21T23:34:33.709551615Z");
}

}  // namespace
}  // namespace tidemark::base
