#include "analysis/page_tally.h"

#include <algorithm>

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

model::PageNeeds PageTally::needs(uint64_t flags) {
  constexpr uint64_t kTelling =
      model::kPagePoisoned | model::kPageBuddy | model::kPageOffline |
      model::kPageAbsent | model::kPageReserved | model::kPageZero |
      model::kPageHugetlb | model::kPageSlab | model::kPageTable;
  if (flags & kTelling) return {};
  if (flags & model::kPageAnon) return {.count = true};
  if (flags & kCacheFlags) return {};
  return {.count = true, .group = true};
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

PageTally::Page PageTally::page_of(const model::PageChunk& chunk,
                                   size_t index) {
  Page page;
  page.frame = chunk.first_frame + index;
  page.flags = chunk.flags[index];
  page.map_count = chunk.counts[index];
  if (!chunk.groups.empty()) page.group = chunk.groups[index];
  if (!chunk.structs.empty()) page.info = chunk.structs[index];
  return page;
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
  for (size_t i = 0; i < chunk.flags.size(); ++i) {
    const Page page = page_of(chunk, i);
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

}  // namespace tidemark::analysis
