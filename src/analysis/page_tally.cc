#include "analysis/page_tally.h"

#include <algorithm>
#include <cmath>

namespace tidemark::analysis {
namespace {

using model::PageStruct;
using model::PageType;

constexpr size_t kMostDisagreements = size_t{1} << 16;

// Being mapped is none of them: kernel pages that programs map are too.
constexpr uint64_t kCacheFlags =
    model::kPageLru | model::kPageSwapBacked | model::kPageUptodate;

}  // namespace

void PageTally::set_stacks(const std::vector<model::KernelStack>& stacks) {
  for (const model::KernelStack& stack : stacks) {
    for (uint64_t frame : stack.frames)
      stacks_[frame] = stack.pid;
  }
}

// A page of a file or of shared memory.
TallyKey PageTally::classify_cache(const Page& page, SetId set) const {
  const bool is_shmem = (page.flags & model::kPageSwapBacked) != 0;
  const PageClass found = is_shmem ? PageClass::Shmem : PageClass::File;
  if (!page.info.is_known) return {found, set, page.group};
  // Taken from its file between the two looks.
  if (page.info.owner == 0) return {PageClass::Unstable, 0, page.group};
  if (by_ == TallyBy::Mapper) return {found, set, page.group};
  return {found, page.info.owner, page.group};
}

TallyKey PageTally::classify_untyped(const Page& page, SetId set) const {
  if (!stacks_.empty()) {
    auto stack = stacks_.find(page.frame);
    if (stack != stacks_.end()) {
      return {PageClass::KernelStack, static_cast<uint64_t>(stack->second),
              page.group};
    }
  }
  switch (page.info.type) {
    case PageType::LargeKmalloc:
      return {PageClass::LargeKmalloc, 0, page.group};
    case PageType::Zsmalloc:
      return {PageClass::Compressed, 0, page.group};
    case PageType::Offline:
      return {PageClass::Balloon, 0, page.group};
    case PageType::Table:
      return {PageClass::PageTables, 0, page.group};
    case PageType::None:
      break;
  }
  if (page.map_count > 0 || set != 0) {
    // The flags were read first: a program has taken it since.
    if ((page.flags & model::kPageMapped) == 0) {
      return {PageClass::Unstable, 0, page.group};
    }
    return {PageClass::KernelMapped, set, page.group};
  }
  if (page.group != 0) return {PageClass::KernelCharged, 0, page.group};
  if (page.info.is_known && page.info.reference_count == 0) {
    return {PageClass::FreeOther, 0, 0};
  }
  return {PageClass::KernelOther, 0, 0};
}

TallyKey PageTally::classify(const Page& page, SetId set) const {
  const uint64_t flags = page.flags;
  if (flags & model::kPagePoisoned) return {PageClass::Poisoned, 0, 0};
  if (flags & model::kPageBuddy) {
    return {set == 0 ? PageClass::FreeBuddy : PageClass::Unstable, 0, 0};
  }
  if (flags & model::kPageOffline) return {PageClass::Balloon, 0, page.group};
  // The page of zeros is of the kernel's image, however many map it.
  if (flags & (model::kPageAbsent | model::kPageReserved | model::kPageZero)) {
    return {PageClass::Reserved, 0, 0};
  }
  if (flags & model::kPageHugetlb) {
    const bool is_free = page.map_count == 0 && page.info.is_known &&
                         page.info.reference_count == 0;
    return {is_free ? PageClass::HugetlbFree : PageClass::HugetlbUsed, set,
            page.group};
  }
  if (flags & model::kPageSlab) {
    return {PageClass::Slab, page.info.owner, page.group};
  }
  if (flags & model::kPageTable) return {PageClass::PageTables, 0, page.group};
  if (flags & model::kPageAnon) {
    if (by_ == TallyBy::Count && page.map_count > 1) {
      return {PageClass::AnonShared, 0, page.group};
    }
    if (page.map_count > 0 || set != 0) {
      return {PageClass::Anon, set, page.group};
    }
    if (flags & model::kPageSwapCache) {
      return {PageClass::AnonUnmapped, 0, page.group};
    }
    return {PageClass::Unstable, 0, page.group};
  }
  const bool has_file = page.info.is_known && page.info.owner != 0;
  if ((flags & (model::kPageLru | model::kPageSwapBacked)) || has_file ||
      (!page.info.is_known && (flags & kCacheFlags))) {
    return classify_cache(page, set);
  }
  return classify_untyped(page, set);
}

void PageTally::compare(const Page& page, SetId set) {
  if (page.map_count == 0) return;
  ++mapped_count_;
  if (sets_.map_count(set) == page.map_count) {
    ++agreeing_count_;
  } else if (disagreements_.size() < kMostDisagreements) {
    disagreements_.push_back(page);
  }
}

void PageTally::correct(const Page& page, SetId from, SetId to) {
  const TallyKey before = classify(page, from);
  const TallyKey after = classify(page, to);
  counts_.subtract(before, 1);
  counts_.add(after, 1);
  --class_counts_[static_cast<size_t>(before.page_class)];
  ++class_counts_[static_cast<size_t>(after.page_class)];
}

void PageTally::add(const model::PageChunk& chunk) {
  has_structs_ |= !chunk.structs.empty();
  TallyKey last;
  uint64_t run = 0;
  const auto flush = [&] {
    if (run == 0) return;
    counts_.add(last, run);
    class_counts_[static_cast<size_t>(last.page_class)] += run;
    run = 0;
  };
  Page page;
  for (size_t i = 0; i < chunk.flags.size(); ++i) {
    page.frame = chunk.first_frame + i;
    page.flags = chunk.flags[i];
    page.map_count = chunk.counts[i];
    page.group = chunk.groups.empty() ? 0 : chunk.groups[i];
    page.info = chunk.structs.empty() ? PageStruct() : chunk.structs[i];
    // What nothing maps is in no set, but for pages caught in change; asking
    // for each free page would cost more than all the rest.
    const SetId set = page.map_count > 0 ? sets_.find(page.frame) : 0;
    compare(page, set);
    const TallyKey key = classify(page, set);
    if (!(key == last)) {
      flush();
      last = key;
    }
    ++run;
  }
  flush();
  page_count_ += chunk.flags.size();
}

void SampleTally::add(const model::PageChunk& run) {
  runs_.add(run);
  const std::array<uint64_t, kPageClassCount> before = last_;
  last_ = runs_.class_counts_;
  // `last_` holds running totals: the difference of two is the run itself.
  for (size_t i = 0; i < last_.size(); ++i) {
    const uint64_t here = last_[i] - before[i];
    if (run_count_ > 0) {
      const double step =
          static_cast<double>(here) - static_cast<double>(previous_[i]);
      squares_[i] += step * step;
    }
    previous_[i] = here;
  }
  ++run_count_;
}

PageTally SampleTally::estimate(uint64_t total_pages,
                                uint64_t least_other_pages) const {
  PageTally estimate(runs_.sets_, TallyBy::Count);
  constexpr auto kOther = static_cast<size_t>(PageClass::KernelOther);
  std::array<uint64_t, kPageClassCount>& counts = estimate.class_counts_;
  const auto seen = static_cast<double>(runs_.page_count());
  const auto total = static_cast<double>(total_pages);
  uint64_t left = total_pages;
  size_t largest = 0;  // but for kOther
  for (size_t i = 0; i < kPageClassCount; ++i) {
    const auto count = static_cast<double>(runs_.class_counts_[i]);
    if (count == 0) continue;
    counts[i] = std::min(static_cast<uint64_t>(count / seen * total), left);
    left -= counts[i];
    if (i != kOther && counts[i] > counts[largest]) largest = i;
  }
  counts[largest] += left;  // by rounding
  // What the counters know of and the runs have missed was taken for what there
  // is most of, most likely.
  if (least_other_pages > counts[kOther]) {
    const uint64_t missed =
        std::min(least_other_pages - counts[kOther], counts[largest]);
    counts[largest] -= missed;
    counts[kOther] += missed;
  }
  for (size_t i = 0; i < kPageClassCount; ++i) {
    if (counts[i] > 0) {
      estimate.counts_.add({static_cast<PageClass>(i), 0, 0}, counts[i]);
    }
  }
  estimate.page_count_ = total_pages;
  return estimate;
}

// Runs are one to each part of RAM, so two neighbours tell how much the places
// differ. Pages of a class lie together, so that a run holds none or all: what
// counts is how many runs met it. That is a Poisson number, whose upper limit
// for k met is near k + 1.92 + 1.96 √(k + 1): beyond the squares of what was
// met stand those of one run more, as large as a run can be, since the next one
// missed may be full of it.
uint64_t SampleTally::error_of(double steps, uint64_t total_pages) const {
  if (run_count_ < 2) return total_pages;
  constexpr double kWidth = 1.96;
  constexpr double kShift = kWidth * kWidth / 2;
  const auto runs = static_cast<double>(run_count_);
  const auto seen = static_cast<double>(runs_.page_count());
  const double run_pages = seen / runs;
  const double squares = steps / 2 * runs / (runs - 1);
  const double seen_error =
      kWidth * std::sqrt(squares + run_pages * run_pages) + kShift * run_pages;
  const double pages = seen_error / seen * static_cast<double>(total_pages);
  return std::min(static_cast<uint64_t>(pages), total_pages);
}

uint64_t SampleTally::error_pages(PageClass page_class,
                                  uint64_t total_pages) const {
  return error_of(squares_[static_cast<size_t>(page_class)], total_pages);
}

}  // namespace tidemark::analysis
