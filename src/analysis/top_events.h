// What happened while `top` looked, and when: processes that came, went or
// became another program, kills for want of memory, and waiting for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/top_timeline.h"
#include "analysis/top_timeline_of.h"
#include "model/recording.h"
#include "model/sample.h"

namespace tidemark::analysis {

// The smallest limit of a control group and those above it; empty: none.
std::optional<uint64_t> group_limit(const std::vector<model::Cgroup>& groups,
                                    const std::string& path);

// That of the group which these processes are in, where it is one and the same.
std::optional<uint64_t> limit_of(const model::Sample& sample,
                                 const TopTimelineOf& chosen);

// Told from readings that follow one another; what came and went between two
// was never seen.
class TopEventKeeper {
 public:
  void add(const model::Sample& sample, uint64_t span_ns);
  // Those since then, of these processes and of the machine.
  std::vector<TopEvent> since(uint64_t monotonic_ns,
                              const TopTimelineOf& of) const;

 private:
  struct Happening {
    uint64_t time_ns = 0;
    TopEventKind kind = TopEventKind::Start;
    std::optional<model::ProcessId> process;  // empty: of the machine
    std::string words;
  };
  struct Seen {
    std::string comm;
    uint64_t round = 0;
  };
  void add_processes(const model::Sample& sample);
  void add_machine(const model::Sample& sample);

  std::vector<Happening> happenings_;
  std::map<std::pair<int32_t, uint64_t>, Seen> seen_;
  uint64_t round_ = 0;
  uint64_t before_ns_ = 0;
  std::optional<uint64_t> oom_kills_;
  model::Pressure pressure_;
};

// What a recording tells of the machine at each of its ticks.
struct TopMachineTick {
  std::optional<uint64_t> oom_kill_count;
  model::Pressure pressure;
};
// `chosen` are processes of the recording; empty: all. The machine's are
// parallel to the ticks.
std::vector<TopEvent> recorded_events(
    const std::vector<model::RecordedTick>& ticks,
    const std::vector<model::RecordedProcess>& processes,
    const std::vector<TopMachineTick>& machine,
    const std::set<int64_t>& chosen);

}  // namespace tidemark::analysis
