// A recording as a Perfetto trace: a process track for each process with a
// counter for each of its figures and for each kind of its memory, counters of
// the machine beside them, remarks as instants; where allocations were followed
// a counter for what each task holds of them. The few messages it takes are in
// share/tidemark/perfetto.proto.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/moment.h"
#include "model/trace_course.h"
#include "view/profile/protobuf.h"

namespace tidemark::view {

class PerfettoTrace {
 public:
  PerfettoTrace() = default;
  explicit PerfettoTrace(model::TraceCourse course);

  // Packets of one moment, which a trace file holds one after the other: tracks
  // that are new, then the values that changed. A value that is not known is
  // left out: the track has no point there.
  std::string packets(const model::Moment& moment);

 private:
  struct Counter {
    uint64_t track = 0;
    std::optional<int64_t> last;
  };
  struct ProcessTracks {
    uint64_t track = 0;
    std::map<std::string, Counter, std::less<>> counters;
    uint64_t seen_moment = 0;
    uint64_t traced_pages = 0;
  };

  void add_packet(const ProtobufWriter& data, uint32_t field);
  uint64_t new_track(std::string_view name, uint64_t parent,
                     const ProtobufWriter& detail, uint32_t detail_field);
  void describe(ProcessTracks& tracks, int32_t pid, const std::string& name,
                const std::string& command);
  ProcessTracks& tracks_of(const model::Process& process);
  ProcessTracks& tracks_of(const model::TraceTask& task);
  void set(ProcessTracks& owner, std::string_view name, int64_t value);
  void add_processes(const model::Moment& moment);
  void end_absent();
  void add_machine(const model::Machine& machine);
  void add_course(int64_t tick);
  void add_remarks(const model::Moment& moment);

  std::map<std::pair<int32_t, uint64_t>, ProcessTracks> processes_;
  ProcessTracks machine_;
  model::TraceCourse course_;
  size_t next_step_ = 0;
  std::vector<uint64_t> task_pages_;  // of each task of the course
  uint64_t track_count_ = 0;
  uint64_t moment_count_ = 0;
  uint64_t now_ns_ = 0;
  bool is_begun_ = false;
  std::string text_;  // of this moment
};

}  // namespace tidemark::view
