// One instant, and the two interfaces everything that runs over time is made
// of: a Source fills a Sample, a Sink takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/kernel_memory.h"
#include "model/machine.h"
#include "model/page_sharing.h"
#include "model/process.h"
#include "model/region.h"
#include "model/trace.h"
#include "model/vm.h"

namespace tidemark::model {

// A tick whose time passed without a reading.
struct MissedTick {
  uint64_t due_monotonic_ns = 0;
  uint64_t count = 1;  // of them in a row, once there are very many
  std::string because;
  bool operator==(const MissedTick&) const = default;
};

// What the reader did that a person looking at the numbers should know: it read
// less often, could not read at all, ….
struct ObserverNote {
  ProcessId process;  // pid 0: all of them
  std::string text;
  bool operator==(const ObserverNote&) const = default;
};

struct Sample {
  uint64_t started_realtime_ns = 0;
  uint64_t started_monotonic_ns = 0;
  uint64_t ended_monotonic_ns = 0;
  // CPU time of the reader since it began; empty where nobody measured it.
  std::optional<uint64_t> own_cpu_ns;
  bool is_new_high = false;     // taken because memory rose, not by the clock
  bool reader_is_root = false;  // a denied read then is not for want of it
  std::optional<Machine> machine;
  std::optional<KernelReadings> kernel;  // only when asked for
  // False when nobody looked for processes: those known live on as they were.
  bool has_processes = true;
  std::vector<Process> processes;  // in order of discovery; parents may follow
  std::vector<Cgroup> cgroups;
  // Who maps which pages, when asked for: then shares are exact.
  std::optional<PageSharing> sharing;
  // File systems whose files are memory; one list serves all processes.
  std::vector<DeviceNumber> memory_devices;
  std::optional<Trace> trace;  // of page allocations, since it began
  std::optional<VmScan> vms;   // when they were asked for
  std::vector<MissedTick> missed_before;
  std::vector<ObserverNote> notes;
};

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  // Gone when what it reads has ended: the caller stops in good order.
  virtual base::Status collect(Sample& sample) = 0;
};

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual base::Status accept(const Sample& sample) = 0;
  // Ticks that passed since the last sample, before finish(). Who keeps no gaps
  // has nothing to do.
  virtual void miss(const std::vector<MissedTick>& /*missed*/) {}
  // Called once, on every way out.
  virtual base::Status finish() = 0;
};

}  // namespace tidemark::model
