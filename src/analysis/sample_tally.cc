#include "analysis/sample_tally.h"

#include <algorithm>
#include <cmath>

namespace tidemark::analysis {
namespace {

size_t index_of(PageClass page_class) {
  return static_cast<size_t>(page_class);
}

// What counters part between boot, stacks, vmalloc, lists of free pages and the
// rest: see ledger_cells.cc.
bool is_parted_by_counters(PageClass page_class) {
  return page_class == PageClass::KernelOther ||
         page_class == PageClass::KernelCharged ||
         page_class == PageClass::KernelMapped ||
         page_class == PageClass::Reserved;
}

}  // namespace

void SampleTally::note(PageClass page_class) {
  ++counts_[index_of(page_class)];
  if (sampled_pages_ > 0 && page_class != last_) {
    ++steps_[index_of(page_class)];
    ++steps_[index_of(last_)];
    if (is_parted_by_counters(page_class) != is_parted_by_counters(last_)) {
      ++pool_steps_;
    }
  }
  last_ = page_class;
  ++sampled_pages_;
}

void SampleTally::add(const model::PageChunk& pages) {
  for (size_t i = 0; i < pages.flags.size(); ++i)
    note(rules_.classify(PageTally::page_of(pages, i), 0).page_class);
}

PageTally SampleTally::estimate(uint64_t total_pages,
                                uint64_t least_other_pages) const {
  PageTally estimate(rules_.sets_, TallyBy::Count);
  constexpr auto kOther = static_cast<size_t>(PageClass::KernelOther);
  std::array<uint64_t, kPageClassCount>& counts = estimate.class_counts_;
  const auto scaled = [](uint64_t count, uint64_t from, uint64_t to) {
    if (from == 0) return uint64_t{0};
    return static_cast<uint64_t>(static_cast<double>(count) /
                                 static_cast<double>(from) *
                                 static_cast<double>(to));
  };
  // What the counters know of and the sample has missed was taken for something
  // else, for whatever there is most of most often.
  const uint64_t others =
      std::max(scaled(counts_[kOther], sampled_pages_, total_pages),
               std::min(least_other_pages, total_pages));
  const uint64_t met_typed = sampled_pages_ - counts_[kOther];
  counts[kOther] = met_typed == 0 ? total_pages : others;
  uint64_t left = total_pages - counts[kOther];
  const uint64_t typed_pages = left;
  size_t largest = kOther;
  for (size_t i = 0; i < kPageClassCount; ++i) {
    if (i == kOther || counts_[i] == 0) continue;
    counts[i] = std::min(scaled(counts_[i], met_typed, typed_pages), left);
    left -= counts[i];
    if (largest == kOther || counts[i] > counts[largest]) largest = i;
  }
  counts[largest] += left;  // by rounding
  for (size_t i = 0; i < kPageClassCount; ++i) {
    if (counts[i] > 0) {
      estimate.counts_.add({static_cast<PageClass>(i), 0, 0}, counts[i]);
    }
  }
  estimate.page_count_ = total_pages;
  return estimate;
}

// Places are one to each part of RAM, so two neighbours tell how much a part
// differs within itself: half of the squares of the steps between them is the
// variance, or more where a class begins or ends. Of a rare class that is a
// Poisson number, whose upper limit for k met is near k + 1.92 + 1.96 √(k + 1).
uint64_t SampleTally::error_of(uint64_t steps, uint64_t total_pages) const {
  if (sampled_pages_ >= total_pages) return 0;
  if (sampled_pages_ < 2) return total_pages;
  constexpr double kWidth = 1.96;
  constexpr double kShift = kWidth * kWidth / 2;
  const auto sampled = static_cast<double>(sampled_pages_);
  const double variance =
      static_cast<double>(steps) / 2 * sampled / (sampled - 1);
  const double seen_error = kWidth * std::sqrt(variance + 1) + kShift;
  const double pages = seen_error / sampled * static_cast<double>(total_pages);
  return std::min(static_cast<uint64_t>(std::ceil(pages)), total_pages);
}

uint64_t SampleTally::error_pages(PageClass page_class,
                                  uint64_t total_pages) const {
  return error_of(steps_[index_of(page_class)], total_pages);
}

uint64_t SampleTally::rest_error_pages(uint64_t total_pages) const {
  return error_of(pool_steps_, total_pages);
}

}  // namespace tidemark::analysis
