// Which names have series of their own. Engines pay for every name they have
// ever seen, so it is not enough to show few at a time: a machine that starts
// ten thousand processes a minute would bring new ones with each scrape. A name
// keeps its place while it is large, and newcomers are let in at a bounded
// rate. Pure: time is handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tidemark::analysis {

struct RankedName {
  std::string name;
  uint64_t bytes = 0;
  bool operator==(const RankedName&) const = default;
};

class MetricRoster {
 public:
  // Twice `limit` names at once, and `limit` more in each hour.
  explicit MetricRoster(size_t limit);

  // The chosen among those there are now: at most `limit`.
  std::unordered_set<std::string> choose(std::vector<RankedName> names,
                                         uint64_t now_ns);

  size_t limit() const { return limit_; }
  // Names there was a place for, but which came too soon.
  uint64_t refused_count() const { return refused_count_; }

 private:
  struct Place {
    uint64_t bytes = 0;  // now; 0 for one that is not there
    uint64_t seen_ns = 0;
  };
  void refill(uint64_t now_ns);
  void admit(const RankedName& name, uint64_t now_ns);

  size_t limit_;
  double credit_;
  std::optional<uint64_t> refilled_ns_;
  uint64_t refused_count_ = 0;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace tidemark::analysis
