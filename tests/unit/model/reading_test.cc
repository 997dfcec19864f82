#include "model/reading.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

namespace tidemark::model {
namespace {

TEST(Reading, KnownCarriesItsValue) {
  const Reading<int> reading = known(0);
  ASSERT_TRUE(reading) << "zero is a value";
  EXPECT_EQ(*reading, 0);
  EXPECT_EQ(reading.unknown_because, "");
}

TEST(Reading, UnknownCarriesItsReason) {
  const Reading<int> reading = unknown<int>("denied: /proc/1/smaps");
  EXPECT_FALSE(reading);
  EXPECT_EQ(reading.unknown_because, "denied: /proc/1/smaps");
}

TEST(Amount, OfNothingIsAKnownZero) {
  const Amount amount;
  EXPECT_FALSE(amount.is_unknown());
  EXPECT_FALSE(amount.is_lower_bound());
  EXPECT_EQ(amount.known_bytes(), 0U);
}

TEST(Amount, OfKnownPartsIsExact) {
  Amount amount = amount_of(3);
  amount.add(4);
  EXPECT_EQ(amount.known_bytes(), 7U);
  EXPECT_FALSE(amount.is_lower_bound());
}

TEST(Amount, OfOnlyUnknownPartsIsUnknown) {
  const Amount amount = amount_of(std::nullopt);
  EXPECT_TRUE(amount.is_unknown());
  EXPECT_FALSE(amount.known_bytes()) << "absent must not read as zero";
}

TEST(Amount, WithAnUnknownPartIsALowerBound) {
  Amount amount = amount_of(std::nullopt);
  amount.add(5);
  EXPECT_TRUE(amount.is_lower_bound());
  EXPECT_EQ(amount.known_bytes(), 5U);
}

TEST(Amount, StaysALowerBoundInsideAnotherSum) {
  Amount part = amount_of(5);
  part.add(std::nullopt);
  Amount sum = amount_of(10);
  sum.add(part);
  EXPECT_TRUE(sum.is_lower_bound());
  EXPECT_EQ(sum.bytes, 15U);
}

// A part and whether it is known.
using Part = std::pair<bool, uint32_t>;

Amount sum_of(const std::vector<Part>& parts) {
  Amount sum;
  for (const auto& [is_known, bytes] : parts) {
    sum.add(is_known ? std::optional<uint64_t>(bytes) : std::nullopt);
  }
  return sum;
}

RC_GTEST_PROP(Amount, DoesNotDependOnHowPartsAreGrouped,
              (const std::vector<Part>& left, const std::vector<Part>& right)) {
  std::vector<Part> all = left;
  all.insert(all.end(), right.begin(), right.end());
  Amount grouped = sum_of(left);
  grouped.add(sum_of(right));
  RC_ASSERT(grouped == sum_of(all));
}

}  // namespace
}  // namespace tidemark::model
