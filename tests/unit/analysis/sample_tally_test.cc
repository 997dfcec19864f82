#include "analysis/sample_tally.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "analysis/ledger.h"
#include "analysis/page_tally.h"

namespace tidemark::analysis {
namespace {

model::PageChunk chunk_of(const std::vector<uint64_t>& flags,
                          const std::vector<uint64_t>& counts, uint64_t first,
                          uint64_t count) {
  model::PageChunk chunk;
  chunk.first_frame = first;
  chunk.flags = std::span(flags).subspan(first, count);
  chunk.counts = std::span(counts).subspan(first, count);
  return chunk;
}

// A kind of page, its share of RAM and how many lie together.
struct Kind {
  PageClass page_class;
  uint64_t flags;
  double share;
  uint64_t cluster;
};

constexpr Kind kKinds[] = {
    {PageClass::FreeBuddy, model::kPageBuddy, 0.45, 1024},
    {PageClass::File, model::kPageLru, 0.30, 64},
    {PageClass::KernelOther, 0, 0.15, 30'000},  // never given to anybody
    {PageClass::Anon, model::kPageAnon | model::kPageLru, 0.07, 3},
    {PageClass::Slab, model::kPageSlab, 0.024, 8},
    {PageClass::PageTables, model::kPageTable, 0.0005, 1},
    {PageClass::Shmem, model::kPageSwapBacked, 0.0005, 1000},  // in one place
    {PageClass::Balloon, model::kPageOffline, 0.00005, 10}};

// Clusters of all kinds, shuffled.
std::vector<uint64_t> make_machine(std::mt19937_64& random, uint64_t pages) {
  std::vector<std::pair<uint64_t, uint64_t>> clusters;  // flags and length
  for (const Kind& kind : kKinds) {
    auto left = static_cast<uint64_t>(kind.share * static_cast<double>(pages));
    while (left > 0) {
      const uint64_t length =
          std::min(left, kind.cluster / 2 + random() % (kind.cluster + 1) + 1);
      clusters.emplace_back(kind.flags, length);
      left -= length;
    }
  }
  std::shuffle(clusters.begin(), clusters.end(), random);
  std::vector<uint64_t> flags;
  for (const auto& [kind, length] : clusters)
    flags.insert(flags.end(), length, kind);
  flags.resize(pages, model::kPageBuddy);
  return flags;
}

SampleTally draw(const std::vector<uint64_t>& flags,
                 const std::vector<uint64_t>& counts, uint64_t pages,
                 const PageSets& none, std::mt19937_64& random) {
  SampleTally sample(none);
  for (uint64_t part = 0; part < pages; ++part) {
    const uint64_t first = part * flags.size() / pages;
    const uint64_t end = (part + 1) * flags.size() / pages;
    sample.add(chunk_of(flags, counts, first + random() % (end - first), 1));
  }
  return sample;
}

uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

// Nineteen of twenty are promised for each class, however its pages lie, and
// for the rare ones too, of which a sample meets a few or none.
TEST(SampleTally, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  constexpr uint64_t kPages = 400'000;
  constexpr uint64_t kSample = 4'000;
  constexpr uint64_t kDraws = 1'000;
  std::mt19937_64 random(11);
  const PageSets none;
  const std::vector<uint64_t> flags = make_machine(random, kPages);
  std::vector<uint64_t> counts;
  for (uint64_t flag : flags)
    counts.push_back(flag & model::kPageAnon ? 1 : 0);
  SampleTally all(none);
  all.add(chunk_of(flags, counts, 0, kPages));
  const PageTally truth = all.estimate(kPages);
  std::array<uint64_t, std::size(kKinds)> held{};
  std::array<double, std::size(kKinds)> widths{};
  uint64_t held_rest = 0;
  for (uint64_t round = 0; round < kDraws; ++round) {
    const SampleTally sample = draw(flags, counts, kSample, none, random);
    ASSERT_EQ(sample.sampled_pages(), kSample);
    const PageTally estimate = sample.estimate(kPages);
    uint64_t sum = 0;
    for (size_t i = 0; i < kPageClassCount; ++i)
      sum += estimate.count_of(static_cast<PageClass>(i));
    ASSERT_EQ(sum, kPages);
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      const PageClass one = kKinds[i].page_class;
      const uint64_t error = estimate.count_of(one) == 0
                                 ? sample.unseen_pages(kPages)
                                 : sample.error_pages(one, kPages);
      held[i] += distance(truth.count_of(one), estimate.count_of(one)) <= error;
      widths[i] += static_cast<double>(error) / kDraws;
    }
    // Nothing is taken from the pool here: the rest is all of it.
    held_rest += distance(truth.count_of(PageClass::KernelOther),
                          estimate.count_of(PageClass::KernelOther)) <=
                 sample.rest_error_pages(kPages);
  }
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    const double share = kKinds[i].share;
    EXPECT_GE(held[i], kDraws * 93 / 100) << "kind " << i << ", " << share;
    // An interval that holds everything would say nothing: never wider than
    // that of pages taken without any order, and what a rare class needs.
    const double plain = 1.96 * std::sqrt(kSample * share * (1 - share) + 1);
    EXPECT_LE(widths[i], (plain + 2.5) * kPages / kSample) << "kind " << i;
  }
  EXPECT_GE(held_rest, kDraws * 93 / 100);
}

TEST(SampleTally, AllPagesAreASampleWithoutError) {
  const PageSets none;
  SampleTally sample(none);
  std::vector<uint64_t> flags(1000, model::kPageBuddy);
  std::fill_n(flags.begin(), 77, uint64_t{model::kPageSlab});
  const std::vector<uint64_t> counts(1000, 0);
  sample.add(chunk_of(flags, counts, 0, 1000));
  EXPECT_EQ(sample.estimate(1000).count_of(PageClass::Slab), 77U);
  EXPECT_EQ(sample.error_pages(PageClass::Slab, 1000), 0U);
  EXPECT_EQ(sample.unseen_pages(1000), 0U);
  EXPECT_EQ(sample.rest_error_pages(1000), 0U);
}

TEST(SampleTally, OnePageTellsNothing) {
  const PageSets none;
  SampleTally sample(none);
  const std::vector<uint64_t> flags = {model::kPageBuddy};
  const std::vector<uint64_t> counts = {0};
  sample.add(chunk_of(flags, counts, 0, 1));
  EXPECT_EQ(sample.estimate(1000).count_of(PageClass::FreeBuddy), 1000U);
  EXPECT_EQ(sample.error_pages(PageClass::FreeBuddy, 1000), 1000U);
  EXPECT_EQ(sample.unseen_pages(1000), 1000U);
}

TEST(SampleTally, WhatCountersKnowOfIsTakenFromTheOthersByTheirSize) {
  const PageSets none;
  SampleTally sample(none);
  std::vector<uint64_t> flags(16, model::kPageBuddy);
  flags[0] = flags[1] = flags[2] = model::kPageSlab;
  flags[3] = 0;
  const std::vector<uint64_t> counts(16, 0);
  sample.add(chunk_of(flags, counts, 0, 16));
  const PageTally plain = sample.estimate(1600);
  EXPECT_EQ(plain.count_of(PageClass::KernelOther), 100U);
  EXPECT_EQ(plain.count_of(PageClass::Slab), 300U);
  const PageTally estimate = sample.estimate(1600, 150);
  EXPECT_EQ(estimate.count_of(PageClass::KernelOther), 150U);
  EXPECT_EQ(estimate.count_of(PageClass::Slab), 290U);
  EXPECT_EQ(estimate.count_of(PageClass::FreeBuddy), 1160U);
  EXPECT_EQ(sample.estimate(1600, 50).count_of(PageClass::KernelOther), 100U)
      << "they know of some, not of all";
}

TEST(SampleTally, SharedIsToldByTheCountAlone) {
  const PageSets none;
  SampleTally sample(none);
  const std::vector<uint64_t> flags(16, model::kPageAnon | model::kPageLru);
  std::vector<uint64_t> counts(16, 1);
  counts[0] = counts[1] = 3;
  sample.add(chunk_of(flags, counts, 0, 16));
  const PageTally estimate = sample.estimate(1600);
  EXPECT_EQ(estimate.count_of(PageClass::AnonShared), 200U);
  EXPECT_EQ(estimate.count_of(PageClass::Anon), 1400U);
}

// What is not asked for must not matter: the same class with it and without.
RC_GTEST_PROP(SampleTally, WhatIsNotAskedForMakesNoDifference, ()) {
  uint64_t bits = 0;
  for (uint64_t bit : *rc::gen::container<std::vector<uint64_t>>(
           rc::gen::inRange<uint64_t>(0, 34))) {
    bits |= uint64_t{1} << bit;
  }
  const model::PageNeeds needs = PageTally::needs(bits);
  const std::vector<uint64_t> flags = {bits};
  const uint64_t count = *rc::gen::inRange<uint64_t>(0, 4);
  const uint64_t group = *rc::gen::inRange<uint64_t>(0, 3);
  const PageSets none;
  const auto class_counts = [&](uint64_t known_count, uint64_t known_group) {
    const std::vector<uint64_t> counts = {known_count};
    const std::vector<uint64_t> groups = {known_group};
    model::PageChunk page = chunk_of(flags, counts, 0, 1);
    page.groups = groups;
    SampleTally sample(none);
    sample.add(page);
    const PageTally tally = sample.estimate(1);
    std::vector<uint64_t> found;
    for (size_t i = 0; i < kPageClassCount; ++i)
      found.push_back(tally.count_of(static_cast<PageClass>(i)));
    return found;
  };
  RC_ASSERT(class_counts(count, group) ==
            class_counts(needs.count ? count : 0, needs.group ? group : 0));
}

// Ledger of a sample of 1600 pages of 100,000 in which `others` have no type.
model::Ledger ledger_of(uint64_t others, uint64_t given_pages) {
  const PageSets none;
  constexpr uint64_t kPages = 100'000;
  std::vector<uint64_t> flags(1600, model::kPageBuddy);
  for (uint64_t i = 0; i < others; ++i)
    flags[i * 1600 / others] = 0;
  const std::vector<uint64_t> counts(1600, 0);
  SampleTally sample(none);
  sample.add(chunk_of(flags, counts, 0, 1600));
  const PageTally estimate = sample.estimate(kPages);
  LedgerInput input;
  input.tally = &estimate;
  input.sets = &none;
  input.sample = &sample;
  input.meminfo.total_bytes = given_pages * input.page_bytes;
  return make_ledger(input);
}

const model::LedgerRow* row_of(const model::Ledger& ledger,
                               model::LedgerClass ledger_class) {
  const auto row =
      std::ranges::find_if(ledger.rows, [&](const model::LedgerRow& one) {
        return one.parent.empty() && one.ledger_class == ledger_class;
      });
  return row == ledger.rows.end() ? nullptr : &*row;
}

TEST(SampleTally, TheLedgerOfASampleAddsUpAndPrintsItsErrors) {
  const model::Ledger ledger = ledger_of(200, 99'000);
  uint64_t sum = 0;
  for (const model::LedgerRow& row : ledger.rows) {
    if (!row.parent.empty()) continue;
    sum += row.bytes;
    EXPECT_GT(row.error_bytes, 0U);
  }
  EXPECT_EQ(sum, ledger.total_bytes);
  EXPECT_EQ(ledger.sampled_pages, 1600U);
}

// 200 of 1600 met are 12,500 pages, all of which boot has taken by the
// counters: what is left is nothing, give or take as many as those may be off.
TEST(SampleTally, WhatIsLeftHasARowAlsoWhenNothingIsLeft) {
  const model::Ledger ledger = ledger_of(200, 100'000 - 12'500);
  const model::LedgerRow* unnamed = row_of(ledger, model::LedgerClass::Unnamed);
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(unnamed->bytes, 0U);
  EXPECT_GT(unnamed->error_bytes, ledger.unseen_bytes);
  EXPECT_FALSE(row_of(ledger, model::LedgerClass::Slab))
      << "what was not met has less than unseen_bytes";
  EXPECT_TRUE(std::ranges::is_sorted(
      ledger.rows, {},
      [](const model::LedgerRow& row) { return row.ledger_class; }));
}

}  // namespace
}  // namespace tidemark::analysis
