#include "view/profile/perfetto.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/composition.h"
#include "analysis/process_use.h"
#include "analysis/trace_tree.h"
#include "base/escape.h"

namespace tidemark::view {
namespace {

// Fields of Perfetto's messages, as share/tidemark/perfetto.proto has them.
namespace field {
constexpr uint32_t kPacket = 1;
constexpr uint32_t kTimestamp = 8;
constexpr uint32_t kSequence = 10;
constexpr uint32_t kTrackEvent = 11;
constexpr uint32_t kSequenceFlags = 13;
constexpr uint32_t kTrackDescriptor = 60;
constexpr uint32_t kTrackId = 1;
constexpr uint32_t kTrackName = 2;
constexpr uint32_t kTrackProcess = 3;
constexpr uint32_t kTrackParent = 5;
constexpr uint32_t kTrackCounter = 8;
constexpr uint32_t kProcessPid = 1;
constexpr uint32_t kProcessCommand = 2;
constexpr uint32_t kProcessName = 6;
constexpr uint32_t kCounterUnit = 3;
constexpr uint32_t kEventType = 9;
constexpr uint32_t kEventTrack = 11;
constexpr uint32_t kEventName = 23;
constexpr uint32_t kEventValue = 30;
}  // namespace field

constexpr uint64_t kSequenceId = 1;
constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kUnitBytes = 3;
constexpr uint64_t kUnitCount = 2;
constexpr uint64_t kInstant = 3;
constexpr uint64_t kCounterEvent = 4;

ProtobufWriter counter_of(std::string_view name) {
  ProtobufWriter counter;
  counter.number(field::kCounterUnit,
                 name.ends_with("_bytes") ? kUnitBytes : kUnitCount);
  return counter;
}

// What is held of the pages given out since the trace began.
constexpr std::string_view kTraceCounter = "trace_held_bytes";
// Starts of processes are told in hundredths of a second, on every machine.
constexpr uint64_t kNsPerStartTick = 10'000'000;

}  // namespace

PerfettoTrace::PerfettoTrace(model::TraceCourse course)
    : course_(std::move(course)), task_pages_(course_.tasks.size()) {}

void PerfettoTrace::add_packet(const ProtobufWriter& data,
                               uint32_t data_field) {
  ProtobufWriter packet;
  packet.number(field::kTimestamp, now_ns_);
  packet.number(field::kSequence, kSequenceId);
  if (!is_begun_) packet.number(field::kSequenceFlags, kStateCleared);
  is_begun_ = true;
  packet.message(data_field, data);
  ProtobufWriter trace;
  trace.message(field::kPacket, packet);
  text_ += trace.take();
}

uint64_t PerfettoTrace::new_track(std::string_view name, uint64_t parent,
                                  const ProtobufWriter& detail,
                                  uint32_t detail_field) {
  ProtobufWriter track;
  track.number(field::kTrackId, ++track_count_);
  track.text(field::kTrackName, base::valid_utf8(name));
  track.number(field::kTrackParent, parent);
  track.message(detail_field, detail);
  add_packet(track, field::kTrackDescriptor);
  return track_count_;
}

void PerfettoTrace::describe(ProcessTracks& tracks, int32_t pid,
                             const std::string& name,
                             const std::string& command) {
  ProtobufWriter descriptor;
  descriptor.number(field::kProcessPid, static_cast<uint32_t>(pid));
  descriptor.text(field::kProcessCommand, base::valid_utf8(command));
  descriptor.text(field::kProcessName, base::valid_utf8(name));
  tracks.track = new_track(name, 0, descriptor, field::kTrackProcess);
}

PerfettoTrace::ProcessTracks& PerfettoTrace::tracks_of(
    const model::Process& process) {
  ProcessTracks& tracks = processes_[{process.id.pid, process.id.start_ticks}];
  if (tracks.track != 0) return tracks;
  describe(tracks, process.id.pid, analysis::display_name(process),
           analysis::command_text(process));
  return tracks;
}

// The two know the start of a process by different clocks' ticks: one of them
// may have been rounded.
PerfettoTrace::ProcessTracks& PerfettoTrace::tracks_of(
    const model::TraceTask& task) {
  if (task.pid <= 0 || task.is_interrupt || task.folded_count > 0) {
    return machine_;
  }
  const uint64_t start_ticks = task.start_ns / kNsPerStartTick;
  const auto known = processes_.lower_bound(
      {task.pid, start_ticks - std::min<uint64_t>(start_ticks, 1)});
  if (known != processes_.end() && known->first.first == task.pid &&
      known->first.second <= start_ticks + 1) {
    return known->second;
  }
  ProcessTracks& tracks = processes_[{task.pid, start_ticks}];
  describe(tracks, task.pid, analysis::task_name(task), task.command_line);
  return tracks;
}

void PerfettoTrace::set(ProcessTracks& owner, std::string_view name,
                        int64_t value) {
  auto found = owner.counters.find(name);
  if (found == owner.counters.end()) {
    found = owner.counters.emplace(std::string(name), Counter()).first;
    found->second.track =
        new_track(name, owner.track, counter_of(name), field::kTrackCounter);
  }
  Counter& counter = found->second;
  if (counter.last == value) return;
  counter.last = value;
  ProtobufWriter event;
  event.number(field::kEventType, kCounterEvent);
  event.number(field::kEventTrack, counter.track);
  event.told_number(field::kEventValue, static_cast<uint64_t>(value));
  add_packet(event, field::kTrackEvent);
}

void PerfettoTrace::add_processes(const model::Moment& moment) {
  for (const model::Process& process : moment.sample->processes) {
    ProcessTracks& tracks = tracks_of(process);
    tracks.seen_moment = moment_count_;
    for (const auto& [name, value] :
         model::process_values(process, moment.page_size_bytes)) {
      if (value) set(tracks, name, *value);
    }
    if (!process.mappings) continue;
    // One at a time, since a composition adds up over processes.
    model::Sample one;
    one.memory_devices = moment.sample->memory_devices;
    one.machine = moment.sample->machine;
    one.processes.push_back(process);
    std::array<uint64_t, model::kCategoryCount> sums{};
    for (const analysis::Part& part : analysis::compose(one).parts)
      sums[static_cast<size_t>(part.category)] += part.bytes.pss;
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::string name =
          "pss_" +
          std::string(model::category_token(static_cast<model::Category>(i))) +
          "_bytes";
      // A kind it never had needs no track.
      if (sums[i] > 0 || tracks.counters.contains(name)) {
        set(tracks, name, static_cast<int64_t>(sums[i]));
      }
    }
  }
}

// A counter stands until its next value: one that ended would stay for ever.
void PerfettoTrace::end_absent() {
  for (auto& [id, tracks] : processes_) {
    if (tracks.seen_moment == moment_count_) continue;
    for (auto& [name, counter] : tracks.counters) {
      // Pages outlive who took them, and the trace goes on telling of them.
      if (name != kTraceCounter) set(tracks, name, 0);
    }
  }
}

void PerfettoTrace::add_course(int64_t tick) {
  const auto bytes = [&](uint64_t pages) {
    return static_cast<int64_t>(pages * course_.page_size_bytes);
  };
  for (; next_step_ < course_.steps.size() &&
         course_.steps[next_step_].tick <= tick;
       ++next_step_) {
    const model::TraceCourse::Step& step = course_.steps[next_step_];
    set(machine_, kTraceCounter, bytes(step.pages));
    for (const model::TraceCourse::Change& change : step.changes) {
      ProcessTracks& tracks = tracks_of(course_.tasks[change.task]);
      // One process may be several tasks, in control groups of their own.
      tracks.traced_pages +=
          change.pages - std::exchange(task_pages_[change.task], change.pages);
      if (&tracks != &machine_) {
        set(tracks, kTraceCounter, bytes(tracks.traced_pages));
      }
    }
  }
}

void PerfettoTrace::add_machine(const model::Machine& machine) {
  for (const auto& [name, value] : model::machine_values(machine)) {
    if (value) set(machine_, name, *value);
  }
}

void PerfettoTrace::add_remarks(const model::Moment& moment) {
  for (const model::ObserverNote& note : moment.notes) {
    const auto process =
        processes_.find({note.process.pid, note.process.start_ticks});
    ProtobufWriter event;
    event.number(field::kEventType, kInstant);
    if (process != processes_.end()) {
      event.number(field::kEventTrack, process->second.track);
    }
    event.text(field::kEventName, base::valid_utf8(note.text));
    add_packet(event, field::kTrackEvent);
  }
}

std::string PerfettoTrace::packets(const model::Moment& moment) {
  now_ns_ = moment.tick.monotonic_ns;
  ++moment_count_;
  if (moment.sample->machine) add_machine(*moment.sample->machine);
  add_processes(moment);
  end_absent();
  add_course(moment.tick.id);
  add_remarks(moment);
  return std::exchange(text_, {});
}

}  // namespace tidemark::view
