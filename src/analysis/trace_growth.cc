#include "analysis/trace_growth.h"

#include <algorithm>

namespace tidemark::analysis {
namespace {

using model::Trace;
using model::TraceLeaf;

// Of fewer any that rises looks as if it only rose.
constexpr size_t kFewestStretches = 4;

}  // namespace

// In no stretch less than in the one before, and more in the end.
std::optional<Growth> growth_of(const Trace& trace, const TraceLeaf& leaf) {
  if (leaf.lows.size() < kFewestStretches ||
      leaf.lows.back() <= leaf.lows.front() ||
      !std::ranges::is_sorted(leaf.lows)) {
    return std::nullopt;
  }
  Growth growth;
  growth.stack = leaf.stack;
  growth.task = leaf.task;
  growth.pages = leaf.pages;
  growth.grown_pages = leaf.lows.back() - leaf.lows.front();
  growth.stretch_count = leaf.lows.size();
  for (size_t i = 1; i < leaf.lows.size(); ++i)
    growth.rising_count += leaf.lows[i] > leaf.lows[i - 1] ? 1 : 0;
  // What rose once and stayed has been filled, and does not leak.
  if (growth.rising_count * 2 < growth.stretch_count - 1) return std::nullopt;
  growth.held_ns = leaf.held_ns;
  const uint64_t span_ns = trace.low_stretch_ns * (leaf.lows.size() - 1);
  if (span_ns > 0) {
    growth.pages_per_second = static_cast<double>(growth.grown_pages) * 1e9 /
                              static_cast<double>(span_ns);
  }
  return growth;
}

std::vector<Growth> find_growth(const Trace& trace) {
  std::vector<Growth> growing;
  for (const TraceLeaf& leaf : trace.leaves) {
    const std::optional<Growth> growth = growth_of(trace, leaf);
    if (growth) growing.push_back(*growth);
  }
  std::ranges::stable_sort(growing, [](const Growth& a, const Growth& b) {
    return a.grown_pages > b.grown_pages;
  });
  return growing;
}

bool knows_growth(const Trace& trace) {
  return std::ranges::any_of(trace.leaves, [](const TraceLeaf& leaf) {
    return leaf.lows.size() >= kFewestStretches;
  });
}

}  // namespace tidemark::analysis
