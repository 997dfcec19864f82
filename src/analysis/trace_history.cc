#include "analysis/trace_history.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceTask;

// Two for each cell of the widest trend, and then some to halve.
constexpr size_t kMostPoints = 48;
constexpr size_t kMostTotals = 640;
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

uint64_t mixed(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15U;
  return hash ^ hash >> 29U;
}
uint64_t mixed(uint64_t hash, std::string_view text) {
  return mixed(hash, std::hash<std::string_view>{}(text));
}

// Of what leaves are told apart by, whatever the indices are.
std::vector<uint64_t> leaf_marks(const Trace& trace) {
  std::vector<uint64_t> stacks;
  stacks.reserve(trace.stacks.size());
  for (const model::TraceStack& stack : trace.stacks) {
    uint64_t hash = stack.size();
    for (uint32_t index : stack) {
      const TraceFrame& frame = trace.frames[index];
      hash = mixed(hash, frame.address);
      // Names come later than addresses, so they tell only where there is none.
      if (frame.address == 0) hash = mixed(hash, frame.symbol);
      if (!frame.loads.empty()) hash = mixed(hash, frame.loads);
    }
    stacks.push_back(hash);
  }
  std::vector<uint64_t> tasks;
  tasks.reserve(trace.tasks.size());
  for (const TraceTask& task : trace.tasks) {
    uint64_t hash = mixed(static_cast<uint32_t>(task.pid), task.start_ns);
    hash = mixed(hash, task.cgroup);
    if (task.start_ns == 0) hash = mixed(hash, task.name);
    tasks.push_back(hash);
  }
  std::vector<uint64_t> marks;
  marks.reserve(trace.leaves.size());
  for (const model::TraceLeaf& leaf : trace.leaves)
    marks.push_back(mixed(stacks[leaf.stack], tasks[leaf.task]));
  return marks;
}

uint32_t clipped(uint64_t pages) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  return static_cast<uint32_t>(std::min(pages, kMost));
}

// Which points of the old ones stay.
std::vector<size_t> kept_points(size_t count, bool halves) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < count; ++i) {
    if (!halves || i % 2 == 0) kept.push_back(i);
  }
  return kept;
}

}  // namespace

// Where each leaf was in the last reading is in `places`.
void TraceHistoryKeeper::take_point(const Trace& trace, const TraceHistory& old,
                                    const std::vector<size_t>& places,
                                    TraceHistory& made) {
  const size_t old_count = old.times_ns.size();
  const bool is_due = old.times_ns.empty() ||
                      trace.elapsed_ns >= old.times_ns.back() + step_ns_;
  const bool halves = is_due && old_count == kMostPoints;
  if (halves) step_ns_ *= 2;
  const std::vector<size_t> kept = kept_points(old_count, halves);
  for (size_t i : kept)
    made.times_ns.push_back(old.times_ns[i]);
  if (is_due) made.times_ns.push_back(trace.elapsed_ns);
  made.pages.reserve(trace.leaves.size() * made.times_ns.size());
  for (size_t leaf = 0; leaf < trace.leaves.size(); ++leaf) {
    // What was not there held nothing.
    const size_t at = places[leaf];
    for (size_t i : kept)
      made.pages.push_back(at == kNowhere ? 0 : old.pages[at * old_count + i]);
    if (is_due) made.pages.push_back(clipped(trace.leaves[leaf].pages));
  }
}

void TraceHistoryKeeper::add_total(const Trace& trace) {
  if (trace.elapsed_ns < total_due_ns_) return;
  if (total_pages_.size() == kMostTotals) {
    total_step_ns_ *= 2;
    for (size_t i = 0; i < kMostTotals / 2; ++i)
      total_pages_[i] = total_pages_[2 * i];
    total_pages_.resize(kMostTotals / 2);
  }
  total_pages_.push_back(trace.pages);
  total_due_ns_ = trace.elapsed_ns + total_step_ns_;
}

std::shared_ptr<const TraceHistory> TraceHistoryKeeper::add(
    const Trace& trace) {
  const TraceHistory nothing;
  const TraceHistory& old = last_ ? *last_ : nothing;
  const std::vector<uint64_t> marks = leaf_marks(trace);
  std::vector<size_t> places(marks.size(), kNowhere);
  auto made = std::make_shared<TraceHistory>();
  made->before_pages.assign(marks.size(), 0);
  made->before_ns = last_ns_;
  for (size_t i = 0; i < marks.size(); ++i) {
    const auto known = known_.find(marks[i]);
    if (known == known_.end()) continue;
    places[i] = known->second;
    made->before_pages[i] = last_pages_[known->second];
  }
  take_point(trace, old, places, *made);
  add_total(trace);
  made->total_pages = total_pages_;
  known_.clear();
  last_pages_.clear();
  for (size_t i = 0; i < marks.size(); ++i) {
    known_.emplace(marks[i], i);
    last_pages_.push_back(trace.leaves[i].pages);
  }
  last_ns_ = trace.elapsed_ns;
  last_ = std::move(made);
  return last_;
}

}  // namespace tidemark::analysis
