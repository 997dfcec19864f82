// Adds up the changes of mappings to sums per tick, and to sums per object.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "model/category.h"
#include "model/recording.h"
#include "model/region.h"
#include "model/rollup.h"
#include "model/timeline.h"
#include "store/change_walk.h"

namespace tidemark::store {

// What one mapping adds. Those that live are kept by their number, which only
// grows: a process that maps and unmaps all day has millions behind it.
struct MappingShare {
  int64_t rss_kib = 0;
  int64_t pss_kib = 0;
  int64_t private_kib = 0;
  int64_t swap_kib = 0;
  bool is_scanned = false;
  bool is_there = false;
  model::Category category = model::Category::Anon;
};
using MappingShares = base::NumberMap<MappingShare>;
// The name of the object that a row's mapping is of that kind; empty where the
// recording does not know the mapping. Asked for what is new alone.
using RowNamer = std::function<std::optional<std::string_view>(
    const ChangeRow&, model::RegionKind)>;
// `has_swap_pss`: this kernel prints it, so that its zero is a zero and not a
// reason to take the whole of Swap.
MappingShare share_of(const ChangeRow& row, model::RegionKind kind,
                      bool has_swap_pss);
// The same for the totals of a whole process, which are of several kinds; each
// share has a number that no mapping has.
std::array<std::pair<int64_t, MappingShare>, model::kRollupShareCount>
shares_of_rollup(const ChangeRow& row, bool has_swap_pss);

// The kernel's own counters, which are told for each process.
class CounterSum {
 public:
  explicit CounterSum(const std::vector<model::RecordedTick>& ticks);

  void set_end(int64_t process, int64_t tick);
  // By process in order of ticks.
  void set_resident(int64_t process, int64_t tick, int64_t bytes);
  void set_alive(int64_t process, int64_t tick, bool has_memory);
  // After the last: resident_bytes and process_count of each point.
  void fill(std::vector<model::TimelinePoint>& points);

 private:
  struct ProcessState {
    int64_t resident_bytes = 0;
    bool is_alive = false;
    std::optional<int64_t> end;
  };
  size_t index_of(int64_t tick) const;

  std::vector<int64_t> ticks_;
  base::NumberMap<ProcessState> processes_;
  std::vector<int64_t> resident_deltas_;
  std::vector<int64_t> alive_deltas_;
};

class TimelineSum {
 public:
  TimelineSum(const std::vector<model::RecordedTick>& ticks, bool has_swap_pss);

  // Before any add(); in any order.
  void set_end(int64_t process, int64_t tick);

  // In order of ticks. `is_frame`: it is the first of a complete set.
  void add(const ChangeRow& row, bool is_frame, model::RegionKind kind);

  // All but what the counters tell; undetailed_count holds the detailed ones.
  model::Timeline take();

 private:
  struct ProcessState {
    MappingShares mappings;
    size_t there_count = 0;
    size_t scanned_count = 0;
  };
  void advance(int64_t tick);
  void apply(const MappingShare& share, int64_t sign, ProcessState& state);
  void replace(int64_t no, const MappingShare& share, ProcessState& state);
  void clear(ProcessState& state);

  model::Timeline timeline_;
  bool has_swap_pss_;
  size_t next_point_ = 0;
  model::TimelinePoint sums_;
  std::unordered_map<int64_t, ProcessState> processes_;
  std::map<int64_t, std::vector<int64_t>> ends_;  // by tick
};

// The timeline of all processes from sums per category, a row where one
// changed.
class CategoryTimeline {
 public:
  explicit CategoryTimeline(const std::vector<model::RecordedTick>& ticks);
  // In order of ticks.
  void set(int64_t tick, model::Category category,
           const model::BandShares& shares);
  model::Timeline take();

 private:
  struct Sum {
    uint64_t private_bytes = 0;
    uint64_t swap_bytes = 0;
  };
  void advance(int64_t tick);

  model::Timeline timeline_;
  size_t next_point_ = 0;
  model::TimelinePoint sums_;
  std::array<Sum, model::kCategoryCount> others_{};
};

class SeriesSum {
 public:
  SeriesSum(const std::vector<model::RecordedTick>& ticks, RowNamer name_of)
      : ticks_(ticks), name_of_(std::move(name_of)) {}

  void set_end(int64_t process, int64_t tick);
  void add(const ChangeRow& row, bool is_frame, model::RegionKind kind);
  std::vector<model::Series> take(uint64_t least_bytes);

 private:
  struct Sum {
    model::Series series;
    int64_t kib = 0;
  };
  // The series of one mapping.
  struct Place {
    int64_t pss_kib = 0;
    model::RegionKind kind = model::RegionKind::Anonymous;
    model::Category category = model::Category::Anon;
    size_t series = 0;
  };
  struct ProcessState {
    base::NumberMap<Place> places;
    std::optional<int64_t> end;
  };
  void end_until(int64_t tick);
  void change(size_t series, int64_t tick, int64_t delta_kib);
  void clear(ProcessState& state, int64_t tick);
  void replace(const ChangeRow& row, int64_t no, const MappingShare& share,
               model::RegionKind kind, ProcessState& state);
  size_t series_of(model::Category category, std::string_view name);

  const std::vector<model::RecordedTick>& ticks_;
  RowNamer name_of_;
  std::map<std::pair<model::Category, std::string>, size_t> index_;
  std::vector<Sum> sums_;
  base::NumberMap<ProcessState> processes_;
  std::map<int64_t, std::vector<int64_t>> ends_;
};

}  // namespace tidemark::store
