#include "source/low_history.h"

#include <algorithm>

namespace tidemark::source {
namespace {

constexpr size_t kMostStretches = 32;

}  // namespace

void LowHistory::join_stretches() {
  stretch_ns_ *= 2;
  ++version_;
  stretch_count_ = (stretch_count_ + 1) / 2;
  for (auto& [id, lows] : lows_) {
    for (size_t i = 0; i < lows.size(); i += 2) {
      lows[i / 2] =
          i + 1 < lows.size() ? std::min(lows[i], lows[i + 1]) : lows[i];
    }
    lows.resize((lows.size() + 1) / 2);
  }
}

void LowHistory::look(uint64_t elapsed_ns, std::span<const Holding> holdings) {
  while (elapsed_ns / stretch_ns_ >= kMostStretches)
    join_stretches();
  const size_t stretch = elapsed_ns / stretch_ns_;
  if (stretch_count_ != stretch + 1) ++version_;
  stretch_count_ = stretch + 1;
  for (const Holding& holding : holdings) {
    auto [at, is_new] = lows_.try_emplace(holding.id);
    std::vector<uint64_t>& lows = at->second;
    // Stretches without a look: as in the last one, or nothing before the
    // first.
    if (lows.size() <= stretch) {
      lows.resize(stretch, lows.empty() ? 0 : lows.back());
      lows.push_back(holding.pages);
    } else {
      lows[stretch] = std::min(lows[stretch], holding.pages);
    }
  }
}

std::vector<uint64_t> LowHistory::lows_of(uint32_t id) const {
  auto at = lows_.find(id);
  if (at == lows_.end() || stretch_count_ < 2) return {};
  std::vector<uint64_t> lows = at->second;
  lows.resize(std::min(lows.size(), stretch_count_ - 1));
  return lows;
}

}  // namespace tidemark::source
