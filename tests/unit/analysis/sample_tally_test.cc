#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "analysis/ledger.h"
#include "analysis/page_tally.h"

namespace tidemark::analysis {
namespace {

constexpr uint64_t kRun = 16;

// A machine in which classes lie in stretches, as they do.
std::vector<uint64_t> make_machine(std::mt19937& random, uint64_t pages) {
  constexpr std::array kKinds = {
      uint64_t{model::kPageBuddy}, uint64_t{model::kPageSlab},
      uint64_t{model::kPageLru}, model::kPageAnon | model::kPageLru,
      uint64_t{model::kPageTable}};
  std::vector<uint64_t> flags;
  while (flags.size() < pages) {
    const uint64_t kind = kKinds[random() % kKinds.size()];
    const uint64_t length = 1 + random() % 700;
    for (uint64_t i = 0; i < length && flags.size() < pages; ++i)
      flags.push_back(kind);
  }
  return flags;
}

model::PageChunk chunk_of(const std::vector<uint64_t>& flags,
                          const std::vector<uint64_t>& ones, uint64_t first,
                          uint64_t count) {
  model::PageChunk chunk;
  chunk.first_frame = first;
  chunk.flags = std::span(flags).subspan(first, count);
  chunk.counts = std::span(ones).subspan(first, count);
  return chunk;
}

// Nineteen of twenty, for each class, and the estimate adds up to all pages.
TEST(SampleTally, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  std::mt19937 random(11);
  const PageSets none;
  constexpr uint64_t kPages = 400'000;
  constexpr PageClass kClasses[] = {PageClass::FreeBuddy, PageClass::Slab,
                                    PageClass::File, PageClass::Anon,
                                    PageClass::PageTables};
  int held = 0;
  int asked = 0;
  for (int round = 0; round < 40; ++round) {
    const std::vector<uint64_t> flags = make_machine(random, kPages);
    const std::vector<uint64_t> ones(kPages, 1);
    PageTally truth(none, TallyBy::Count);
    truth.add(chunk_of(flags, ones, 0, kPages));
    SampleTally sample(none);
    constexpr uint64_t kRuns = 1000;
    for (uint64_t run = 0; run < kRuns; ++run) {
      const uint64_t part = kPages / kRuns;
      sample.add(chunk_of(flags, ones,
                          part * run + random() % (part - kRun + 1), kRun));
    }
    EXPECT_EQ(sample.sampled_pages(), kRuns * kRun);
    const PageTally estimate = sample.estimate(kPages);
    uint64_t sum = 0;
    for (size_t i = 0; i < kPageClassCount; ++i)
      sum += estimate.count_of(static_cast<PageClass>(i));
    EXPECT_EQ(sum, kPages);
    for (PageClass one : kClasses) {
      const auto far = std::abs(static_cast<int64_t>(truth.count_of(one)) -
                                static_cast<int64_t>(estimate.count_of(one)));
      const uint64_t error = sample.error_pages(one, kPages);
      // An interval that holds everything would say nothing.
      EXPECT_LT(error, kPages / 10);
      ++asked;
      if (static_cast<uint64_t>(far) <= error) ++held;
    }
  }
  EXPECT_GE(held * 20, asked * 19) << held << " of " << asked;
}

// One piece of shared memory, say, of which a sample meets a run or two, or
// none. Squares of what was met alone would hold it four times of five.
TEST(SampleTally, WhatLiesInOnePlaceIsHeldToo) {
  std::mt19937 random(7);
  const PageSets none;
  constexpr uint64_t kPages = 400'000;
  constexpr uint64_t kRuns = 1000;
  constexpr uint64_t kPart = kPages / kRuns;
  const std::vector<uint64_t> ones(kPages, 1);
  int held = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint64_t> flags(kPages, model::kPageBuddy);
    const uint64_t rare = 1 + random() % 900;
    const uint64_t first = random() % (kPages - rare);
    std::fill_n(flags.begin() + static_cast<int64_t>(first), rare,
                uint64_t{model::kPageSlab});
    SampleTally sample(none);
    for (uint64_t run = 0; run < kRuns; ++run) {
      sample.add(chunk_of(flags, ones,
                          kPart * run + random() % (kPart - kRun + 1), kRun));
    }
    const uint64_t found = sample.estimate(kPages).count_of(PageClass::Slab);
    const uint64_t error = found == 0
                               ? sample.unseen_pages(kPages)
                               : sample.error_pages(PageClass::Slab, kPages);
    EXPECT_LT(error, kPages / 100);
    if (found <= rare + error && rare <= found + error) ++held;
  }
  EXPECT_GE(held * 20, kRounds * 19) << held << " of " << kRounds;
}

TEST(SampleTally, WhatCountersKnowOfIsTakenFromTheLargest) {
  const PageSets none;
  SampleTally sample(none);
  std::vector<uint64_t> flags(kRun, model::kPageBuddy);
  flags[0] = flags[1] = model::kPageSlab;
  flags[2] = 0;
  const std::vector<uint64_t> counts(kRun, 0);
  model::PageChunk run;
  run.flags = flags;
  run.counts = counts;
  sample.add(run);
  const PageTally plain = sample.estimate(1600);
  EXPECT_EQ(plain.count_of(PageClass::KernelOther), 100U);
  const PageTally estimate = sample.estimate(1600, 150);
  EXPECT_EQ(estimate.count_of(PageClass::KernelOther), 150U);
  EXPECT_EQ(estimate.count_of(PageClass::Slab), 200U);
  EXPECT_EQ(estimate.count_of(PageClass::FreeBuddy), 1250U);
  EXPECT_EQ(sample.estimate(1600, 50).count_of(PageClass::KernelOther), 100U)
      << "they know of some, not of all";
}

TEST(SampleTally, SharedIsToldByTheCountAlone) {
  const PageSets none;
  SampleTally sample(none);
  const std::vector<uint64_t> flags(kRun, model::kPageAnon | model::kPageLru);
  std::vector<uint64_t> counts(kRun, 1);
  counts[0] = counts[1] = 3;
  model::PageChunk run;
  run.flags = flags;
  run.counts = counts;
  sample.add(run);
  const PageTally estimate = sample.estimate(1600);
  EXPECT_EQ(estimate.count_of(PageClass::AnonShared), 200U);
  EXPECT_EQ(estimate.count_of(PageClass::Anon), 1400U);
}

TEST(SampleTally, TheLedgerOfASampleAddsUpAndPrintsItsErrors) {
  std::mt19937 random(3);
  const PageSets none;
  constexpr uint64_t kPages = 100'000;
  const std::vector<uint64_t> flags = make_machine(random, kPages);
  const std::vector<uint64_t> ones(kPages, 1);
  SampleTally sample(none);
  for (uint64_t run = 0; run < 100; ++run)
    sample.add(chunk_of(flags, ones, run * 1000, kRun));
  const PageTally estimate = sample.estimate(kPages);
  LedgerInput input;
  input.tally = &estimate;
  input.sets = &none;
  input.sample = &sample;
  input.meminfo.total_bytes = 99'000 * input.page_bytes;
  const model::Ledger ledger = make_ledger(input);
  uint64_t sum = 0;
  for (const model::LedgerRow& row : ledger.rows) {
    if (!row.parent.empty()) continue;
    sum += row.bytes;
    EXPECT_GT(row.error_bytes, 0U);
  }
  EXPECT_EQ(sum, kPages * input.page_bytes);
  EXPECT_EQ(ledger.total_bytes, sum);
  EXPECT_EQ(ledger.sampled_pages, 1600U);
}

}  // namespace
}  // namespace tidemark::analysis
