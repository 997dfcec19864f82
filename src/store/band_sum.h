// Adds up the changes of mappings and counters to bands: what each process and
// each object held at some ticks, told only where it changed. What was not read
// at a tick has its best value (model/best_known.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
#include "base/units.h"
#include "model/best_known.h"
#include "model/category.h"
#include "model/region.h"
#include "model/rollup.h"
#include "model/timeline.h"
#include "store/change_walk.h"

namespace tidemark::store {

// What one mapping adds, in KiB.
struct MappingShare {
  model::BestShare whole;
  uint64_t anonymous_kib = 0;  // of its resident pages
  bool is_there = false;
  model::Category category = model::Category::Anon;
};
// `has_swap_pss`: this kernel prints it, so that its zero is a zero and not a
// reason to take the whole of Swap.
MappingShare share_of(const ChangeRow& row, model::RegionKind kind,
                      bool has_swap_pss);
// The same for the totals of a whole process, which are of several kinds; each
// share has a number that no mapping has.
std::array<std::pair<int64_t, MappingShare>, model::kRollupShareCount>
shares_of_rollup(const ChangeRow& row, bool has_swap_pss);

// Which of the asked ticks, by their index; the last one is not among them.
struct TickRange {
  size_t begin = 0;
  size_t end = 0;
};

struct BandOptions {
  std::span<const int64_t> ticks;  // asked for; they rise
  TickRange range;                 // of them those that are told
  bool has_swap_pss = false;       // as for share_of()
  // When the mappings of a process were last read, at or before a tick.
  std::function<std::optional<int64_t>(int64_t process, int64_t tick)>
      detail_tick;
  // The name of the object that a row's mapping is of that kind; empty where
  // the recording does not know the mapping. Asked for what is new alone.
  // Without it bands are by process alone.
  std::function<std::optional<std::string_view>(const ChangeRow&,
                                                model::RegionKind)>
      name_of;
};

class BandSum {
 public:
  explicit BandSum(BandOptions options);

  // Before any add(); in any order.
  void set_end(int64_t process, int64_t tick);
  // In order of ticks from the first told one on; what stood before it in any
  // order. `is_frame`: it is the first of a complete set. Counters of a tick
  // come before its rows.
  void add(const ChangeRow& row, bool is_frame, model::RegionKind kind);
  void set_counters(int64_t process, int64_t tick,
                    const std::optional<model::ResidentCounters>& counters);
  // After what stood before the first told tick: its counters there, and when
  // it was read.
  void begin(int64_t process, std::optional<int64_t> read_tick,
             const std::optional<model::ResidentCounters>& then,
             const std::optional<model::ResidentCounters>& now);
  // In the order in which they were met, also those that were never told.
  std::vector<model::Band> take();

 private:
  // The bands of one mapping.
  struct Place {
    MappingShare share;
    model::RegionKind kind = model::RegionKind::Anonymous;
    uint32_t of_process = 0;
    uint32_t of_object = 0;
  };
  // What one process adds to one band.
  struct Held {
    model::Category category = model::Category::Anon;
    model::SplitShare split;   // as it was read
    model::BestShare unsplit;  // what was never split
    model::BestShare added;    // to the sum, so far
  };
  struct ProcessState {
    int64_t id = 0;
    base::NumberMap<Place> places;
    std::map<uint32_t, Held> held;  // by band
    model::ResidentCounters split_resident;
    // Nothing is read at first.
    std::optional<model::ResidentCounters> then = model::ResidentCounters();
    std::optional<model::ResidentCounters> now;
    int64_t read_tick = -1;
    std::optional<int64_t> end;
    bool is_marked = false;
  };
  struct Sum {
    model::BestShare share;
    bool is_changed = false;
  };

  ProcessState& state_of(int64_t process);
  bool has_ended(const ProcessState& state, int64_t tick) const {
    return state.end && tick >= *state.end;
  }
  void tell_until(int64_t tick);
  void tell_next();
  void end_until(int64_t tick);
  void mark(ProcessState& state);
  void note_reading(int64_t tick, ProcessState& state) const;
  bool update(int64_t tick, ProcessState& state);
  void hold_unsplit(const model::BestShares& unsplit, ProcessState& state);
  void change(const Place& place, bool is_added, ProcessState& state);
  void clear(ProcessState& state);
  void replace(const ChangeRow& row, int64_t no, const MappingShare& share,
               model::RegionKind kind, ProcessState& state);
  uint32_t new_band(model::Category category);
  uint32_t process_band(int64_t process, model::Category category);
  uint32_t object_band(model::Category category, std::string_view name);

  BandOptions options_;
  size_t next_tick_;  // the first that was not told yet
  std::vector<model::Band> bands_;
  std::vector<Sum> sums_;          // of them, apart: they are what is busy
  std::vector<uint32_t> changed_;  // of them
  std::map<std::pair<int64_t, model::Category>, uint32_t> of_process_;
  std::array<base::TextMap<uint32_t>, model::kCategoryCount> of_object_;
  base::NumberMap<ProcessState> processes_;
  // Those to be looked at when a tick is told: they have changed, or what they
  // hold is scaled and may be read again without a change.
  std::vector<int64_t> marked_;
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

// Counts once, at each of the ticks, what processes share beyond what there is.
// A limit for each tick.
void limit_shared(std::span<const model::SharedLimits> limits,
                  model::Bands& bands);

}  // namespace tidemark::store
