// Adds up the changes of mappings to bands: what each process and each object
// held at some ticks, told only where it changed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text_map.h"
#include "model/category.h"
#include "model/region.h"
#include "model/timeline.h"
#include "store/change_walk.h"
#include "store/timeline_sum.h"

namespace tidemark::store {

class BandSum {
 public:
  // The asked ticks rise. `has_swap_pss` as for share_of().
  BandSum(std::span<const int64_t> ticks, bool has_swap_pss)
      : ticks_(ticks), has_swap_pss_(has_swap_pss) {}

  // Before any add(); in any order.
  void set_end(int64_t process, int64_t tick);
  // In order of ticks. `is_frame`: it is the first of a complete set.
  void add(const ChangeRow& row, bool is_frame, model::RegionKind kind,
           std::string_view name);
  model::Bands take();

 private:
  // In KiB, as they are stored.
  struct Sums {
    int64_t rss = 0;
    int64_t pss = 0;
    int64_t own = 0;
    int64_t swap = 0;
    void add(const MappingShare& share, int64_t sign);
    model::BandShares shares() const;
  };
  struct Open {
    model::Band band;
    Sums sums;
    bool is_changed = false;
  };
  // The bands of one mapping.
  struct Place {
    MappingShare share;
    size_t of_process = 0;
    size_t of_object = 0;
  };
  using Places = std::unordered_map<int64_t, Place>;

  void tell_until(int64_t tick);
  void end_until(int64_t tick);
  void change(size_t band, const MappingShare& share, int64_t sign);
  void clear(Places& places);
  void replace(int64_t process, int64_t no, const MappingShare& share,
               std::string_view name, Places& places);
  size_t process_band(int64_t process, model::Category category);
  size_t object_band(model::Category category, std::string_view name);

  std::span<const int64_t> ticks_;
  bool has_swap_pss_;
  size_t next_tick_ = 0;  // the first that was not told yet
  std::vector<Open> open_;
  std::vector<size_t> changed_;  // of open_
  std::map<std::pair<int64_t, model::Category>, size_t> of_process_;
  std::array<base::TextMap<size_t>, model::kCategoryCount> of_object_;
  std::unordered_map<int64_t, Places> processes_;
  std::map<int64_t, std::vector<int64_t>> ends_;  // by tick
  std::unordered_map<int64_t, int64_t> end_of_;
};

}  // namespace tidemark::store
