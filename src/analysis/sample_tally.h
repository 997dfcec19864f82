// Estimates the tally of all pages from single ones at random places, one in
// each of many equal parts of RAM. Single ones, since neighbours are much
// alike: a run of eight took as long as two and a half and told little more
// than one.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/page_tally.h"
#include "model/page_census.h"

namespace tidemark::analysis {

class SampleTally {
 public:
  explicit SampleTally(const PageSets& none) : rules_(none, TallyBy::Count) {}

  // Pages in the order of their places. All of RAM is a sample too, and one
  // without error.
  void add(const model::PageChunk& pages);
  uint64_t sampled_pages() const { return sampled_pages_; }
  // Classes alone, which add up to `total_pages`. Counters may tell how many
  // kernel pages without a type there are at least.
  PageTally estimate(uint64_t total_pages,
                     uint64_t least_other_pages = 0) const;
  // Half the width of the 95 % interval of a class.
  uint64_t error_pages(PageClass page_class, uint64_t total_pages) const;
  // Of what no class is left for once the counters have parted the kernel's
  // pages: it is as far off as all of those together.
  uint64_t rest_error_pages(uint64_t total_pages) const;
  // Of a class that was not met at all.
  uint64_t unseen_pages(uint64_t total_pages) const {
    return error_of(0, total_pages);
  }

 private:
  void note(PageClass page_class);
  uint64_t error_of(uint64_t steps, uint64_t total_pages) const;

  PageTally rules_;
  uint64_t sampled_pages_ = 0;
  std::array<uint64_t, kPageClassCount> counts_{};
  PageClass last_ = PageClass::Unstable;
  // How often one of two neighbours was of the class and the other was not.
  std::array<uint64_t, kPageClassCount> steps_{};
  uint64_t pool_steps_ = 0;
};

}  // namespace tidemark::analysis
