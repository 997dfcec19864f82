// The last minutes of each process and of the machine, on one common grid of
// time, so that those of a group can be summed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/system_report.h"
#include "model/category.h"
#include "model/machine.h"
#include "model/process.h"

namespace tidemark::analysis {

// How far back `top` looks.
inline constexpr uint64_t kTopHistoryNs = uint64_t{600} * 1'000'000'000;

// Where all of RAM is, by counters: each kind once. A kind that is not told is
// in what is unnamed, which may be less than nothing: readings are taken one
// after the other.
struct TopMachine {
  uint64_t total_bytes = 0;
  std::array<int64_t, model::kCategoryCount> kinds{};
  std::optional<uint64_t> swap_used_bytes;
  std::optional<uint64_t> available_bytes;
};
TopMachine top_machine(const SystemReport& report,
                       const model::MemInfo& meminfo);

struct TopKinds {
  std::array<uint64_t, model::kCategoryCount> pss_bytes{};
  uint64_t swap_bytes = 0;
  uint64_t bounded_bytes = 0;  // as in TopTimelinePoint
};

// Columns of time; empty where nothing was known.
using TopSeries = std::vector<std::optional<uint64_t>>;

// In millionths of the time that passed; nothing where the counter is not told
// or has begun anew.
std::optional<uint64_t> stalled_share(std::optional<uint64_t> before,
                                      std::optional<uint64_t> now,
                                      uint64_t passed_ns);

struct TopHistory {
  std::vector<uint64_t> times_ns;  // monotonic, rising
  // PSS with huge pages, parallel to the times; nothing before it was there.
  std::map<std::pair<int32_t, uint64_t>, TopSeries> processes;
  std::vector<std::optional<TopMachine>> machine;
  // Kinds of memory of all processes: PSS, and what is swapped out.
  std::vector<TopKinds> kinds;
  // Share of the time since the point before in which tasks waited for memory,
  // in millionths.
  TopSeries stalled_some;
  TopSeries stalled_full;

  uint64_t span_ns() const {
    return times_ns.empty() ? 0 : times_ns.back() - times_ns.front();
  }
  const TopSeries* of(const model::ProcessId& id) const;
};

// What one moment adds.
struct TopMoment {
  uint64_t time_ns = 0;
  std::vector<std::pair<model::ProcessId, std::optional<uint64_t>>> processes;
  std::optional<TopMachine> machine;
  TopKinds kinds;
  model::Pressure pressure;
};

class TopHistoryKeeper {
 public:
  TopHistoryKeeper(uint64_t span_ns, size_t point_count);

  // Kept when a step has passed since the last; says whether it was. A process
  // that has ended is forgotten.
  bool add(const TopMoment& moment);
  const TopHistory& history() const { return history_; }

 private:
  void drop_oldest();
  void add_pressure(const TopMoment& moment);

  uint64_t step_ns_;
  size_t point_count_;
  TopHistory history_;
  model::Pressure pressure_before_;
  uint64_t pressure_time_ns_ = 0;
};

}  // namespace tidemark::analysis
