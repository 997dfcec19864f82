// Sums over time, as found in a recording.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/category.h"

namespace tidemark::model {

struct TimelinePoint {
  int64_t tick = 0;
  // Over the mappings of all chosen processes; hugetlb is in each.
  uint64_t rss_bytes = 0;
  uint64_t pss_bytes = 0;  // the best value (model/best_known.h)
  uint64_t private_bytes = 0;
  uint64_t swap_bytes = 0;
  uint64_t bounded_bytes = 0;    // of pss: only this bound is known
  uint64_t estimated_bytes = 0;  // of pss: scaled since it was read
  uint64_t resident_bytes = 0;   // the kernel's own counter: statm
  uint32_t process_count = 0;    // with memory
  // Of them those whose mappings were not read yet, or may not be, and those
  // whose pages were only scanned: their part of pss is bounded.
  uint32_t undetailed_count = 0;
  uint32_t scanned_count = 0;
  std::array<uint64_t, kCategoryCount> category_pss_bytes{};
  std::array<uint64_t, kCategoryCount> category_rss_bytes{};
  std::optional<uint64_t> traced_bytes;     // held, as a trace of pages knows
  std::optional<uint64_t> available_bytes;  // of the machine
  std::optional<uint64_t> available_computed_bytes;  // memory-watcher's formula
  bool operator==(const TimelinePoint&) const = default;
};

struct Timeline {
  std::vector<TimelinePoint> points;  // one per tick
};

struct BandShares {
  uint64_t rss_bytes = 0;
  uint64_t pss_bytes = 0;  // the best value
  uint64_t private_bytes = 0;
  uint64_t swap_bytes = 0;
  uint64_t bounded_bytes = 0;    // of pss, as in TimelinePoint
  uint64_t estimated_bytes = 0;  // of pss

  void add(const BandShares& other) {
    rss_bytes += other.rss_bytes;
    pss_bytes += other.pss_bytes;
    private_bytes += other.private_bytes;
    swap_bytes += other.swap_bytes;
    bounded_bytes += other.bounded_bytes;
    estimated_bytes += other.estimated_bytes;
  }
  // Unsigned on purpose: a fall wraps, and adding it up wraps back.
  void subtract(const BandShares& other) {
    rss_bytes -= other.rss_bytes;
    pss_bytes -= other.pss_bytes;
    private_bytes -= other.private_bytes;
    swap_bytes -= other.swap_bytes;
    bounded_bytes -= other.bounded_bytes;
    estimated_bytes -= other.estimated_bytes;
  }
  bool operator==(const BandShares&) const = default;
};

// From this one of the asked ticks on, until the next point.
struct BandPoint {
  size_t tick_index = 0;
  BandShares shares;
  bool operator==(const BandPoint&) const = default;
};

// One part of the memory over time: a category of one process, or an object
// over all of them. There is nothing of it before its first point.
struct Band {
  std::optional<int64_t> process;  // within the recording; empty: of all
  Category category = Category::Anon;
  std::string name;  // of the object; empty for a whole category
  std::vector<BandPoint> points;
  bool operator==(const Band&) const = default;
};

// Both add up to the whole, at each tick.
struct Bands {
  std::vector<Band> by_process;  // and category
  std::vector<Band> by_object;
};

}  // namespace tidemark::model
