// Adds up the changes of mappings to bands: what each process and each object
// held at some ticks, told only where it changed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "base/text_map.h"
#include "model/category.h"
#include "model/region.h"
#include "model/timeline.h"
#include "store/change_walk.h"
#include "store/timeline_sum.h"

namespace tidemark::store {

// Which of the asked ticks, by their index; the last one is not among them.
struct TickRange {
  size_t begin = 0;
  size_t end = 0;
};

class BandSum {
 public:
  // The asked ticks rise; those of the range are told. `has_swap_pss` as for
  // share_of().
  BandSum(std::span<const int64_t> ticks, TickRange range, bool has_swap_pss,
          RowNamer name_of)
      : ticks_(ticks.first(range.end)),
        has_swap_pss_(has_swap_pss),
        name_of_(std::move(name_of)),
        next_tick_(range.begin) {}

  // Before any add(); in any order.
  void set_end(int64_t process, int64_t tick);
  // In order of ticks from the first told one on; what stood before it in any
  // order. `is_frame`: it is the first of a complete set.
  void add(const ChangeRow& row, bool is_frame, model::RegionKind kind);
  // In the order in which they were met, also those that were never told.
  std::vector<model::Band> take();

 private:
  // In KiB, as they are stored.
  struct Sums {
    int64_t rss = 0;
    int64_t pss = 0;
    int64_t own = 0;
    int64_t swap = 0;
    int64_t scanned = 0;
    bool is_changed = false;
    void add(const MappingShare& share, int64_t sign);
    model::BandShares shares() const;
  };
  // The bands of one mapping.
  struct Place {
    MappingShare share;
    model::RegionKind kind = model::RegionKind::Anonymous;
    uint32_t of_process = 0;
    uint32_t of_object = 0;
  };
  struct ProcessState {
    base::NumberMap<Place> places;
    std::optional<int64_t> end;
  };

  void tell_until(int64_t tick);
  void end_until(int64_t tick);
  Sums& changing(uint32_t band);
  void change(const Place& place, int64_t sign);
  void clear(ProcessState& state);
  void replace(const ChangeRow& row, int64_t no, const MappingShare& share,
               model::RegionKind kind, ProcessState& state);
  uint32_t new_band(model::Category category);
  uint32_t process_band(int64_t process, model::Category category);
  uint32_t object_band(model::Category category, std::string_view name);

  std::span<const int64_t> ticks_;
  bool has_swap_pss_;
  RowNamer name_of_;
  size_t next_tick_;  // the first that was not told yet
  std::vector<model::Band> bands_;
  std::vector<Sums> sums_;         // of them, apart: they are what is busy
  std::vector<uint32_t> changed_;  // of them
  std::map<std::pair<int64_t, model::Category>, uint32_t> of_process_;
  std::array<base::TextMap<uint32_t>, model::kCategoryCount> of_object_;
  base::NumberMap<ProcessState> processes_;
  std::map<int64_t, std::vector<int64_t>> ends_;  // by tick
};

// Puts together what was summed up for parts of the asked ticks, as one sum
// over all of them would have told it.
class BandJoin {
 public:
  // The parts in order of time. Each knows what stood when it begins.
  void add(std::vector<model::Band> part, TickRange range);
  model::Bands take();

 private:
  using Key = std::tuple<std::optional<int64_t>, model::Category, std::string>;

  std::vector<model::Band> bands_;
  std::map<Key, size_t> index_;
};

}  // namespace tidemark::store
