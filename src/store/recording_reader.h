// The inside of store::Recording. Its methods are in eleven files: loading
// (recording.cc), one moment (recording_moment.cc, recording_mappings.cc), all
// moments of a span (recording_walk.cc), sums over time (recording_sums.cc,
// recording_bands.cc), lists (recording_lists.cc), the machine
// (recording_machine.cc), virtual machines (recording_vms.cc), and the trace
// (recording_trace.cc, recording_trace_course.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/recording.h"
#include "model/sample.h"
#include "model/timeline.h"
#include "store/change_walk.h"
#include "store/counter_walk.h"
#include "store/database.h"
#include "store/detail_plan.h"
#include "store/recording.h"
#include "store/timeline_sum.h"

namespace tidemark::store {

// A mapping's head, which never changes.
struct MappingHead {
  int64_t no = 0;
  uint64_t start_address = 0;
  uint64_t offset_bytes = 0;
  int64_t object = 0;
};

// Those of one process.
struct MappingHeads {
  std::vector<MappingHead> sorted;  // by number

  const MappingHead* find(int64_t no) const;
};

struct Object {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;
  std::string name;
};

// A column of KiB in bytes.
std::optional<uint64_t> bytes_of(const Statement& rows, int column);

// Calls `visit` for each row.
base::Status for_each(Statement& rows, const std::function<void()>& visit);

// The tick from which on the counters of a tick are told anew.
int64_t base_of(int64_t tick);
bool lives_at(const model::RecordedProcess& process, int64_t tick);
void fill_times(const model::RecordedTick& tick, model::Sample& sample);
// Who it is, and under which name at that tick.
void fill_head(const model::RecordedProcess& recorded, int64_t tick,
               model::Process& process);

class BandSum;

class Recording::Reader {
 public:
  explicit Reader(Database database) : database_(std::move(database)) {}

  // The filter is SQL in front of a condition; empty: all ticks.
  base::Status load(const std::string& tick_filter);

  base::Result<model::Sample> sample_at(int64_t tick, const ProcessSet& chosen);
  base::Result<Pair> pair_at(int64_t tick, int64_t earlier_tick,
                             const ProcessSet& chosen);
  base::Status walk_samples(int64_t first, int64_t last,
                            const ProcessSet& chosen,
                            const SampleVisitor& visit);
  base::Status walk_machine(const MachineVisitor& visit);
  base::Status walk_cgroup(const std::string& path, const CgroupVisitor& visit);
  base::Result<std::optional<int64_t>> detail_tick(int64_t process,
                                                   int64_t tick);
  base::Result<model::Timeline> timeline(const ProcessSet& chosen);
  base::Result<model::Timeline> whole_timeline();
  base::Result<std::vector<model::Band>> kinds(std::span<const int64_t> ticks);
  base::Result<model::Bands> bands(const ProcessSet& chosen,
                                   std::span<const int64_t> ticks);
  base::Result<std::vector<model::RecordedGap>> gaps();
  base::Result<std::vector<model::RecordedNote>> notes();
  base::Result<std::vector<model::ProcessMaxima>> maxima();
  base::Result<std::vector<TableSize>> table_sizes();
  base::Result<std::optional<model::RecordedTrace>> trace();
  base::Result<model::Trace> trace_at(int64_t tick);
  base::Result<model::TraceCourse> trace_course(int64_t first, int64_t last);
  base::Result<std::optional<model::RecordedVms>> vms();
  base::Status walk_vms(int64_t first, int64_t last, const VmVisitor& visit);

  const std::string& path() const { return database_.path(); }
  const model::RecordingInfo& info() const { return info_; }
  const std::vector<model::RecordedTick>& ticks() const { return ticks_; }
  const std::vector<model::RecordedProcess>& processes() const {
    return processes_;
  }

 private:
  base::Error damaged(const std::string& how) const {
    return base::fail(base::ErrorKind::Malformed,
                      database_.path() + ": damaged: " + how);
  }

  base::Status load_ticks(const std::string& filter);
  // Misused after Recording::open_at().
  base::Status check_all_ticks() const;
  base::Status load_processes();
  base::Status load_images();
  base::Status load_objects();
  base::Status load_traits();
  base::Status load_keyframes();
  base::Status load_plans();
  base::Status load_details();
  base::Result<const MappingHeads*> heads_of(int64_t process);
  base::Status fill_counters(int64_t base_tick, int64_t tick,
                             std::map<int64_t, model::Process>& processes);
  base::Status fill_states(int64_t base_tick, int64_t tick,
                           std::map<int64_t, model::Process>& processes);
  struct Moment;
  struct MappingState;
  base::Result<Moment> begin_moment(int64_t tick, const ProcessSet& chosen);
  base::Result<std::vector<model::Sample>> samples_at(
      std::span<const int64_t> ticks, const ProcessSet& chosen);
  base::Status fill_mappings(std::vector<Moment>& moments);
  base::Status fill_mappings_of(std::span<const int64_t> processes,
                                std::vector<Moment>& moments);
  base::Status walk_to(std::map<int64_t, MappingState>& states);
  struct Span;
  static std::vector<Span> spans_of_all(
      const std::map<int64_t, MappingState>& states);
  base::Result<model::Process> make_process(
      const std::vector<const ChangeRow*>& rows, int64_t process_id,
      model::Process process);
  struct WalkState;
  base::Status begin_walk(int64_t first, const ProcessSet& chosen,
                          WalkState& state);
  std::optional<int64_t> keyframe_before(int64_t tick, int64_t process) const;
  std::map<int64_t, int64_t> keyframes_before(
      int64_t tick, const std::map<int64_t, model::Process>& processes) const;
  base::Status step_counters(int64_t tick, WalkState& state);
  base::Status step_processes(int64_t tick, WalkState& state);
  base::Status note_reading(int64_t tick, int64_t id, model::Process& process,
                            WalkState& state);
  std::optional<model::Process> brought_to(const model::RecordedTick& tick,
                                           int64_t id,
                                           const model::Process& process,
                                           const WalkState& state) const;
  base::Status emit_tick(int64_t tick, const SampleVisitor& visit,
                         WalkState& state);
  struct TraceParts;
  base::Result<model::Trace> read_trace_head();
  base::Status load_trace_parts(TraceParts& parts);
  base::Status read_trace_tick(int64_t tick, model::Trace& trace,
                               int64_t& found_tick, uint64_t& low_count);
  base::Status read_trace_faults(int64_t tick, model::TraceFaults& faults);
  base::Status read_trace_modules(int64_t tick, model::Trace& trace);
  base::Status read_trace_additions(int64_t tick, model::Trace& trace);
  base::Result<uint64_t> folded_task_count();
  base::Status read_trace_notes(int64_t tick, model::Trace& trace);
  base::Status read_trace_tasks(int64_t first, int64_t last, TraceParts& parts,
                                model::Trace& trace);
  base::Status read_trace_leaves(int64_t first, int64_t last, TraceParts& parts,
                                 model::Trace& trace);
  base::Status read_trace_lows(uint64_t count, const TraceParts& parts,
                               model::Trace& trace);
  base::Status load_course_tasks(model::TraceCourse& course,
                                 std::map<int64_t, uint32_t>& index);
  base::Status load_course_steps(int64_t first, int64_t last,
                                 const std::map<int64_t, uint32_t>& index,
                                 model::TraceCourse& course);
  struct VmParts;
  base::Status load_vm_heads(VmParts& parts);
  base::Status load_vm_ticks(int64_t first, int64_t last, VmParts& parts);
  std::optional<std::string> vm_word(VmParts& parts, int64_t id);
  base::Status fill_vm_scan(VmParts& parts, model::VmScan& scan);
  std::optional<DetailReading> reading_at(int64_t tick, int64_t id) const;
  base::Result<uint64_t> age_at(int64_t tick, int64_t read_tick);
  base::Status bring_to_tick(int64_t tick, int64_t id, model::Process& process);
  base::Status fill_machine_at(int64_t tick, model::Sample& sample);
  base::Status fill_cgroups_at(int64_t tick, model::Sample& sample);
  base::Status sum_counters(const ProcessSet& chosen, CounterSum& sum);
  using CategoryVisitor = std::function<void(
      int64_t tick, model::Category category, const model::BandShares& shares)>;
  base::Status walk_categories(const CategoryVisitor& visit);
  base::Result<model::Timeline> chosen_timeline(const ProcessSet& chosen);
  base::Status read_available(model::Timeline& timeline);
  base::Status read_traced(model::Timeline& timeline);
  // The changes of those ticks in order; `first` is rounded down to its epoch.
  // Without a kind: what the recording has no traits of.
  using StateVisitor = std::function<void(const ChangeRow&, bool is_frame,
                                          std::optional<model::RegionKind>)>;
  base::Status walk_states(const ProcessSet& chosen, int64_t first,
                           int64_t last, const StateVisitor& visit);
  // What stood at the tick: a row for each mapping, in no order.
  base::Status visit_newest(int64_t tick, const ProcessSet& living,
                            const std::function<void(const ChangeRow&)>& visit);
  int64_t last_tick() const { return ticks_.empty() ? 0 : ticks_.back().id; }
  enum class BandNames { All, ByProcessAlone };
  struct BandPart {
    const ProcessSet& chosen;
    std::span<const int64_t> ticks;  // all that are asked for
    const std::vector<model::RecordedProcess>& processes;
    BandNames names = BandNames::All;
    int64_t first = 0;  // of the part
    int64_t last = 0;
  };
  base::Result<std::unique_ptr<Reader>> twin() const;
  base::Result<model::Bands> bands_at(const ProcessSet& chosen,
                                      std::span<const int64_t> ticks,
                                      BandNames names);
  base::Status begin_bands(const BandPart& part, CounterWalk& counters,
                           BandSum& sum);
  base::Result<std::vector<model::Band>> sum_bands(const BandPart& part);
  // As of the last reading of the machine at each tick.
  base::Result<std::vector<model::SharedLimits>> shared_limits(
      std::span<const int64_t> ticks);
  int64_t kept_tick(int64_t tick) const;
  using RowNamer = std::function<std::optional<std::string_view>(
      const ChangeRow&, model::RegionKind)>;
  // Failures to read go to the status.
  RowNamer row_namer(base::Status& status);
  std::string_view name_of(int64_t process, const MappingHeads& heads,
                           const MappingHead& head, model::RegionKind kind);
  bool has_swap_pss() const;

  Database database_;
  model::RecordingInfo info_;
  std::vector<model::RecordedTick> ticks_;
  bool has_all_ticks_ = false;
  bool has_best_sums_ = false;
  std::vector<model::RecordedProcess> processes_;

  bool has_details_ = false;
  PresentFields present_;
  std::map<int64_t, Object> objects_;
  std::map<int64_t, Trait> traits_;
  std::map<int64_t, std::vector<int64_t>> keyframes_;  // by process, ascending
  std::map<int64_t, DetailPlan> plans_;
  std::map<int64_t, MappingHeads> heads_;
  // The object whose name a mapping without one has, by process and number.
  std::map<std::pair<int64_t, int64_t>, int64_t> image_of_bss_;
  MappingHeads heads_read_;  // being read by head_rows_
  std::optional<Statement> head_rows_;
};

}  // namespace tidemark::store
