// Reads a recording, also while it is being written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/recording.h"
#include "model/sample.h"
#include "model/timeline.h"
#include "model/trace.h"
#include "model/trace_course.h"

namespace tidemark::store {

// Processes by their number in the recording; empty: all.
using ProcessSet = std::set<int64_t>;

struct TableSize {
  std::string name;
  uint64_t row_count = 0;
  std::optional<uint64_t> bytes;  // where SQLite can tell
};

class Recording {
 public:
  // Malformed or Unsupported, with a sentence, for what is no recording.
  static base::Result<Recording> open(const std::string& path);
  // For a look at one moment, which need not wait until a day of ticks is read:
  // ticks() are the first, the last, the asked one if it is there, and the last
  // one at least so long before it. Nothing over time can be asked for.
  static base::Result<Recording> open_at(const std::string& path, int64_t tick,
                                         uint64_t before_ns);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  const std::string& path() const;
  const model::RecordingInfo& info() const;
  const std::vector<model::RecordedTick>& ticks() const;
  const std::vector<model::RecordedProcess>& processes() const;
  base::Result<std::vector<model::RecordedGap>> gaps() const;
  base::Result<std::vector<model::RecordedNote>> notes() const;
  base::Result<std::vector<model::ProcessMaxima>> maxima() const;
  base::Result<std::vector<TableSize>> table_sizes() const;

  // The instant as it was read, with what was known of each process then.
  // `detail_tick` tells for each process when its mappings were read.
  base::Result<model::Sample> sample_at(int64_t tick,
                                        const ProcessSet& processes) const;
  // The same of two ticks, with one reading of what lies behind both.
  struct Pair {
    model::Sample at;
    model::Sample earlier;
  };
  base::Result<Pair> pair_at(int64_t tick, int64_t earlier_tick,
                             const ProcessSet& processes) const;
  // The same for each tick from `first` to `last`, in order and in one pass:
  // asking for them one by one reads what lies before each again. Without the
  // control groups. The sample is used again after the visit, whose failure
  // ends the walk.
  using SampleVisitor =
      std::function<base::Status(const model::RecordedTick&, model::Sample&)>;
  base::Status walk_samples(int64_t first, int64_t last,
                            const ProcessSet& processes,
                            const SampleVisitor& visit) const;
  // What was read of the machine alone, in order of time; and each change of a
  // control group, by its path. A group that ended has no charge.
  using MachineVisitor =
      std::function<void(int64_t tick, const model::Machine& machine)>;
  base::Status walk_machine(const MachineVisitor& visit) const;
  using CgroupVisitor =
      std::function<void(int64_t tick, const model::Cgroup& cgroup)>;
  base::Status walk_cgroup(const std::string& path,
                           const CgroupVisitor& visit) const;
  // When the mappings of a process were last read, at or before the tick.
  base::Result<std::optional<int64_t>> detail_tick(int64_t process,
                                                   int64_t tick) const;

  // Empty when page allocations were not followed.
  base::Result<std::optional<model::RecordedTrace>> trace() const;
  // As it was read at the tick, or last before it; NotFound where it had not
  // begun. What rises is kept of the last one alone: others have no lows.
  base::Result<model::Trace> trace_at(int64_t tick) const;
  // What its tasks held from `first` to `last`, in one pass; empty when page
  // allocations were not followed.
  base::Result<model::TraceCourse> trace_course(int64_t first,
                                                int64_t last) const;

  // Empty when virtual machines were not read.
  base::Result<std::optional<model::RecordedVms>> vms() const;
  // As they were read in each tick from `first` to `last` that they were read
  // in, in order; those of a tick are what make_vm_report takes. None is no
  // failure. The visit's failure ends the walk.
  using VmVisitor =
      std::function<base::Status(int64_t tick, model::VmScan scan)>;
  base::Status walk_vms(int64_t first, int64_t last,
                        const VmVisitor& visit) const;
  base::Result<std::vector<model::VmScan>> vm_scans(int64_t first,
                                                    int64_t last) const;
  base::Result<std::vector<model::VmScan>> vm_scans() const;  // all

  base::Result<model::Timeline> timeline(const ProcessSet& processes) const;
  // What all processes held of each kind at those ticks, which rise, as it was
  // summed up when it was written: no mapping is looked at.
  base::Result<std::vector<model::Band>> kinds(
      std::span<const int64_t> ticks) const;
  // What each process and each object held at those ticks, which rise.
  base::Result<model::Bands> bands(const ProcessSet& processes,
                                   std::span<const int64_t> ticks) const;

 private:
  class Reader;
  static base::Result<Recording> open_filtered(const std::string& path,
                                               const std::string& tick_filter);
  explicit Recording(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

}  // namespace tidemark::store
