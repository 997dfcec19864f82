#include "analysis/page_shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "analysis/process_use.h"
#include "model/sample.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::PageSharing;
using model::SharedPages;

using test::kPage;

SharedPages set_of(std::vector<SharedPages::Mapper> mappers, uint64_t map_count,
                   uint64_t anon_pages) {
  SharedPages set;
  set.mappers = std::move(mappers);
  set.map_count = map_count;
  set.anon_pages = anon_pages;
  return set;
}

TEST(PageShares, APageMappedTwiceByOneProcessIsPrivate) {
  PageSharing sharing;
  sharing.sets = {set_of({{0, 2}}, 2, 10)};
  const std::vector<PageShares> shares = shares_of_each(sharing, 1);
  EXPECT_EQ(shares[0].private_bytes, 10 * kPage);
  EXPECT_EQ(shares[0].pss_bytes, 10 * kPage);
  EXPECT_EQ(shares[0].rss_bytes, 10 * kPage);
  EXPECT_EQ(shares[0].shared_bytes(), 0U);
}

TEST(PageShares, WhatOnlyAGroupMapsIsPrivateToTheGroupAndToNobodyInIt) {
  PageSharing sharing;
  sharing.sets = {set_of({{0, 1}, {1, 1}}, 2, 100),
                  set_of({{1, 1}, {2, 1}}, 2, 30), set_of({{0, 1}}, 1, 7),
                  // Somebody who is not in the sample maps it too.
                  set_of({{0, 1}}, 2, 8)};
  const std::vector<PageShares> each = shares_of_each(sharing, 3);
  EXPECT_EQ(each[0].private_bytes, 7 * kPage);
  EXPECT_EQ(each[1].private_bytes, 0U);
  const PageShares group = shares_of(sharing, {true, true, false});
  EXPECT_EQ(group.private_bytes, 107 * kPage);
  EXPECT_EQ(group.rss_bytes, 145 * kPage);
  EXPECT_EQ(group.shared_bytes(), 38 * kPage);
  EXPECT_EQ(group.pss_bytes, (107 + 15 + 4) * kPage);
}

// Against the plainest computation, page by page.
TEST(PageShares, EqualsACountOfEveryPage) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    constexpr size_t kProcesses = 6;
    PageSharing sharing;
    std::vector<double> pss(kProcesses);
    std::vector<uint64_t> rss(kProcesses);
    std::vector<uint64_t> alone(kProcesses);
    for (int i = 0; i < 40; ++i) {
      SharedPages set;
      uint64_t times = 0;
      for (uint32_t p = 0; p < kProcesses; ++p) {
        const uint32_t count = random() % 4 == 0 ? 1 + random() % 2 : 0;
        if (count > 0) set.mappers.push_back({p, count});
        times += count;
      }
      if (times == 0) continue;
      set.map_count = times + random() % 3;
      set.anon_pages = random() % 5;
      set.file_pages = random() % 5;
      set.shmem_pages = random() % 5;
      for (uint64_t page = 0; page < set.page_count(); ++page) {
        for (const SharedPages::Mapper& mapper : set.mappers) {
          pss[mapper.process] += static_cast<double>(kPage) * mapper.times /
                                 static_cast<double>(set.map_count);
          rss[mapper.process] += kPage;
          if (mapper.times == set.map_count) alone[mapper.process] += kPage;
        }
      }
      sharing.sets.push_back(std::move(set));
    }
    const std::vector<PageShares> shares = shares_of_each(sharing, kProcesses);
    for (size_t p = 0; p < kProcesses; ++p) {
      EXPECT_EQ(shares[p].rss_bytes, rss[p]);
      EXPECT_EQ(shares[p].private_bytes, alone[p]);
      EXPECT_NEAR(static_cast<double>(shares[p].pss_bytes), pss[p], 2);
      std::vector<bool> only(kProcesses);
      only[p] = true;
      EXPECT_EQ(shares_of(sharing, only), shares[p]);
    }
    // All together hold each page once.
    const PageShares all =
        shares_of(sharing, std::vector<bool>(kProcesses, true));
    uint64_t pages = 0;
    for (const SharedPages& set : sharing.sets)
      pages += set.page_count();
    EXPECT_EQ(all.rss_bytes, pages * kPage);
  }
}

TEST(PageShares, TakeThePlaceOfWhatSmapsSaidWhereTheyAreKnown) {
  model::Sample sample;
  sample.processes.resize(2);
  for (model::Process& process : sample.processes) {
    model::SmapsFields fields;
    fields.set(model::SmapsField::Rss, 40 * kPage);
    fields.set(model::SmapsField::Pss, 33 * kPage);
    fields.set(model::SmapsField::SwapPss, 5 * kPage);
    process.rollup = model::known(fields);
  }
  sample.sharing = PageSharing();
  sample.sharing->is_unknown = {false, true};
  sample.sharing->sets = {set_of({{0, 1}}, 1, 9)};
  const std::vector<Use> uses = uses_of(sample, {});
  EXPECT_EQ(uses[0].pss.bytes, 9 * kPage);
  EXPECT_EQ(uses[0].uss.bytes, 9 * kPage);
  EXPECT_EQ(uses[0].swap_pss.bytes, 5 * kPage) << "pages tell nothing of swap";
  EXPECT_EQ(uses[1].pss.bytes, 33 * kPage) << "its pages could not be told";
  // A group with such a member is a plain sum again.
  EXPECT_EQ(sum_of(sample, uses, {0, 1}).pss.bytes, 42 * kPage);
}

}  // namespace
}  // namespace tidemark::analysis
