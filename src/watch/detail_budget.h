// Decides how closely each process is looked at in each tick of a recording.
//
// Full smaps is the truth and is read each tick while it fits. It costs two
// things: CPU time, bounded as a share of a core, and a stall of the process
// itself, whose mmap calls stand still while one read() walks a mapping.
// Between calls we rest, so the stall is that of the largest mapping. What it
// will be is reckoned from resident pages and from what a page has cost at
// least so far, in CPU time: a slow reading is mostly our own misfortune. A
// reading that would stall longer than is allowed is made all the more rarely,
// and at once when the process has grown by a tenth. Until its first full
// reading, pages are scanned in small steps where the kernel can, which tells
// resident pages and no shares; after it counters scale what was read.
//
// Pure arithmetic: time and measured costs are handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/process.h"

namespace tidemark::watch {

struct BudgetOptions {
  bool is_limited = true;
  double core_share = 0.02;
  uint64_t stall_ns = 5'000'000;
  bool allows_stall = false;
  // All in full at each tick, whatever that stalls, while it takes no more than
  // a tenth of the time; beyond it the limits above hold.
  bool prefers_whole = false;
  uint64_t period_ns = 1'000'000'000;
};

// "2 % of a core, stalls up to 5 ms"; "none"; ....
std::string budget_words(const BudgetOptions& options);

// What the budget knows of one process.
struct DetailState {
  uint32_t step = 1;   // read each so many ticks
  uint32_t phase = 0;  // which of them, so that not all are read at once
  bool has_detail = false;
  bool is_expensive = false;  // one read would stall it too long
  uint64_t full_cost_ns = 0;
  uint64_t scan_cost_ns = 0;
  uint64_t resident_bytes = 0;         // now
  uint64_t detail_resident_bytes = 0;  // when it was last read in detail
  uint64_t size_bytes = 0;             // of its address space, now
  uint64_t detail_size_bytes = 0;      // and then: other mappings
  // Of its largest mapping in small pages, once known.
  std::optional<uint64_t> largest_bytes;
  uint64_t mapping_count = 0;
  // When it was first seen or last read in full, and its size then.
  std::optional<uint64_t> tried_ns;
  uint64_t tried_bytes = 0;
};

// Bytes are those of small pages: a huge one is one step of the walk.
struct DetailMeasure {
  uint64_t cpu_ns = 0;
  uint64_t small_bytes = 0;
  uint64_t largest_bytes = 0;  // of one mapping
  uint64_t mapping_count = 0;
};

class DetailBudget {
 public:
  explicit DetailBudget(const BudgetOptions& options);

  // At the start of each tick, with the CPU time all of us has used so far.
  void begin_tick(uint64_t now_ns, uint64_t own_cpu_ns);

  // Sets `is_expensive`; the tier to read it in now, or Counters for none.
  // `is_urgent`: it is new, has become another program, or memory is at a new
  // high.
  model::DetailTier choose(DetailState& state, bool is_urgent) const;

  void measured(DetailState& state, model::DetailTier tier,
                const DetailMeasure& measure);
  // The kernel cannot scan: between full readings there is nothing.
  void forget_scan() { has_scan_ = false; }
  bool has_scan() const { return has_scan_; }

  // Whether all is read in full now, as preferred.
  bool is_whole() const { return is_whole_; }

  // Whether the steps should be computed again.
  bool is_plan_due(size_t process_count) const;
  void plan(const std::vector<DetailState*>& processes);

  uint64_t predicted_hold_ns(const DetailState& state) const;
  uint32_t largest_step() const;

 private:
  bool is_due(const DetailState& state) const;
  bool has_changed(const DetailState& state) const;
  bool may_try(const DetailState& state) const;
  uint64_t full_cost_of(const DetailState& state) const;
  uint64_t cost_of(const DetailState& state) const;
  double ns_for(uint64_t bytes) const;

  BudgetOptions options_;
  bool has_scan_ = true;
  bool is_whole_ = false;
  std::optional<double> ns_per_page_;  // the least so far
  uint64_t tick_index_ = 0;
  uint64_t planned_index_ = 0;
  size_t planned_count_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t last_cpu_ns_ = 0;
  double credit_ns_ = 0;
  double other_cost_ns_ = 0;     // per tick, for all but detail; smoothed
  uint64_t detail_cost_ns_ = 0;  // of the tick so far
};

}  // namespace tidemark::watch
