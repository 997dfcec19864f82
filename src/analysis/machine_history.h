// Where the machine's memory was over the time of a recording: the columns of
// `system` at each drawn tick, summing to its RAM there, the time tasks waited
// for memory, and what happened to the machine in between.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/system_report.h"
#include "analysis/timeline_report.h"
#include "model/machine.h"
#include "model/recording.h"

namespace tidemark::analysis {

// All of it is empty where the machine was not read.
struct MachineTick {
  int64_t id = 0;
  uint64_t elapsed_ns = 0;
  std::optional<uint64_t> total_bytes;
  std::optional<uint64_t> available_bytes;
  std::optional<uint64_t> swap_used_bytes;
  // With the residue they sum to the total.
  std::array<std::optional<int64_t>, kSystemColumnCount> columns;
  std::optional<int64_t> other_bytes;
  // Since the drawn tick before; the first has none.
  std::optional<uint64_t> stalled_some_ns;
  std::optional<uint64_t> stalled_full_ns;
};

enum class ResidueTrend { Unknown, Steady, Rises, Falls };
std::string_view residue_trend_token(ResidueTrend trend);

// Of what no column names, over the drawn ticks.
struct Residue {
  int64_t first_bytes = 0;
  int64_t last_bytes = 0;
  int64_t least_bytes = 0;
  int64_t most_bytes = 0;
  uint64_t span_ns = 0;
  ResidueTrend trend = ResidueTrend::Unknown;  // with too few ticks to tell
};

struct MachineHistory {
  std::string path;
  uint64_t start_realtime_ns = 0;
  std::string_view total_source;
  std::vector<MachineTick> ticks;  // as many as are drawn
  // Why a column is unknown where it is.
  std::array<std::string, kSystemColumnCount> unknown_because;
  std::array<std::string, kSystemColumnCount> remarks;
  std::optional<Residue> residue;
  std::vector<TimelineEvent> events;  // of all ticks, in order of time
};

// Takes the machine at each tick, in order of time.
class MachineHistoryMaker {
 public:
  // `drawn` are indices into `ticks`, rising; both must outlive it.
  MachineHistoryMaker(const std::vector<model::RecordedTick>& ticks,
                      const std::vector<size_t>& drawn);

  void add(int64_t tick, const model::Machine& machine);
  // Empty when the machine was never read.
  std::optional<MachineHistory> take();

 private:
  uint64_t elapsed(int64_t tick) const;
  void note_events(int64_t tick, const model::VmStat& now);
  void fill(const model::Machine& machine, MachineTick& out);

  const std::vector<model::RecordedTick>& ticks_;
  MachineHistory history_;
  bool has_machine_ = false;
  size_t next_ = 0;  // of the drawn ticks
  std::optional<model::VmStat> vmstat_before_;
  model::Pressure pressure_before_;  // at the drawn tick before
  std::optional<uint64_t> last_swapped_out_ns_;
};

}  // namespace tidemark::analysis
