#include "analysis/tally_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/page_tally.h"
#include "unit/analysis/tally_counts.h"

namespace tidemark::analysis {
namespace {

TEST(TallyTable, IsEmptyAtFirst) {
  const TallyTable table;
  EXPECT_EQ(table.size(), 0U);
  EXPECT_TRUE(counts_of(table).empty());
}

TEST(TallyTable, KeysDifferInEachOfTheirMembers) {
  TallyTable table;
  const std::vector<TallyKey> keys = {{PageClass::File, 8, 1},
                                      {PageClass::Shmem, 8, 1},
                                      {PageClass::File, 16, 1},
                                      {PageClass::File, 8, 2},
                                      {PageClass::File, 8, 0}};
  for (size_t i = 0; i < keys.size(); ++i)
    table.add(keys[i], i + 1);
  EXPECT_EQ(table.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(counts_of(table)[keys[i]], i + 1);
}

TEST(TallyTable, HoldsMoreThanASlotCan) {
  TallyTable table;
  const uint64_t most = std::numeric_limits<uint32_t>::max();
  const TallyKey of_owner = {PageClass::Anon, 3, 4};
  const TallyKey of_none = {PageClass::FreeBuddy, 0, 0};
  table.add(of_owner, most - 1);
  table.add(of_owner, 7);
  table.add(of_none, 3 * most);
  EXPECT_EQ(counts_of(table)[of_owner], most + 6);
  EXPECT_EQ(counts_of(table)[of_none], 3 * most);
  table.subtract(of_owner, most + 2);
  EXPECT_EQ(counts_of(table)[of_owner], 4U);
}

TEST(TallyTable, HundredThousandFilesAreAllFoundAgain) {
  TallyTable table;
  constexpr uint64_t kFirst = 0xffff888000000000;
  constexpr uint64_t kCount = 100'000;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < kCount; ++i)
      table.add({PageClass::File, kFirst + i * 1064, i % 3}, i + 1);
  }
  EXPECT_EQ(table.size(), kCount);
  const Counts all = counts_of(table);
  ASSERT_EQ(all.size(), kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    const auto found = all.find({PageClass::File, kFirst + i * 1064, i % 3});
    ASSERT_TRUE(found != all.end());
    EXPECT_EQ(found->second, 2 * (i + 1));
  }
}

RC_GTEST_PROP(TallyTable, CountsAsAMapDoes, ()) {
  TallyTable table;
  Counts wanted;
  const auto steps = *rc::gen::inRange(0, 3000);
  for (int i = 0; i < steps; ++i) {
    const TallyKey key = {static_cast<PageClass>(*rc::gen::inRange(0, 21)),
                          *rc::gen::inRange<uint64_t>(0, 300),
                          *rc::gen::inRange<uint64_t>(0, 5)};
    const auto pages = *rc::gen::inRange<uint64_t>(1, 100);
    if (wanted.contains(key) && *rc::gen::inRange(0, 4) == 0) {
      const uint64_t taken = std::min(wanted[key], pages);
      table.subtract(key, taken);
      wanted[key] -= taken;
    } else {
      table.add(key, pages);
      wanted[key] += pages;
    }
  }
  RC_ASSERT(counts_of(table) == wanted);
}

}  // namespace
}  // namespace tidemark::analysis
