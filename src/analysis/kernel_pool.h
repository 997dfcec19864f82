// Kernel pages without a type look alike. How many of them are stacks, areas of
// vmalloc or free on a processor's list only the kernel's counters tell: this
// is what they tell, and the pool they are taken from, which cannot give more
// than it has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/ledger_input.h"

namespace tidemark::analysis {

class KernelPool {
 public:
  void add(uint64_t pages) { other_ += pages; }
  void add_charged(uint64_t group, uint64_t pages) { charged_[group] += pages; }
  // How many it gave.
  uint64_t take(uint64_t pages);
  uint64_t take_charged(uint64_t group, uint64_t pages);

  uint64_t other() const { return other_; }
  const std::map<uint64_t, uint64_t>& charged() const { return charged_; }
  uint64_t charged_pages() const;  // of all groups

 private:
  uint64_t other_ = 0;                    // charged to nobody
  std::map<uint64_t, uint64_t> charged_;  // by group
};

// RAM that the allocator was never given.
uint64_t never_given_pages(const LedgerInput& input);

// Free, and not in the lists of the allocator.
struct FreeElsewhere {
  uint64_t untouched_pages = 0;  // not yet given to it
  uint64_t per_cpu_pages = 0;
};
FreeElsewhere free_elsewhere(const LedgerInput& input);

// A power of two of pages, the same for every thread; 0 when it is not told.
uint64_t stack_pages_each(const LedgerInput& input);

// The first chunk was taken at boot and stands there already.
uint64_t later_percpu_pages(const LedgerInput& input);

struct VmallocUse {
  // Areas with pages of their own, by caller, the largest first.
  std::vector<std::pair<uint64_t, std::string>> callers;
  uint64_t caller_pages = 0;  // of all of them
  uint64_t stack_pages = 0;   // stacks of tasks, which are none of these
};
VmallocUse vmalloc_use(const LedgerInput& input);

// How many pages that are neither charged nor typed the counters know of: what
// an estimate must leave room for.
uint64_t counted_other_pages(const LedgerInput& input);

}  // namespace tidemark::analysis
