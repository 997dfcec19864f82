#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/best_known.h"
#include "store/recording_reader.h"

namespace tidemark::store {

using model::Process;
using model::RecordedProcess;
using model::Sample;

// What is known of every process at the tick that was visited last.
struct Recording::Reader::WalkState {
  std::map<int64_t, const RecordedProcess*> chosen;
  std::map<int64_t, Process> processes;  // those that live
  std::map<int64_t, std::map<int64_t, ChangeRow>> mappings;
  std::set<int64_t> changed;  // since then
  // When the mappings of each were read, and its counters then.
  struct Reading {
    uint64_t monotonic_ns = 0;
    std::optional<model::ResidentCounters> counters;
  };
  std::map<int64_t, Reading> readings;
};

// Everything up to `first`, which is then visited like the others.
base::Status Recording::Reader::begin_walk(int64_t first,
                                           const ProcessSet& chosen,
                                           WalkState& state) {
  for (const RecordedProcess& recorded : processes_) {
    if (!chosen.empty() && !chosen.contains(recorded.id)) continue;
    state.chosen[recorded.id] = &recorded;
    if (!lives_at(recorded, first)) continue;
    fill_head(recorded, first, state.processes[recorded.id]);
  }
  base::Status status = fill_counters(base_of(first), first, state.processes);
  if (status) status = fill_states(base_of(first), first, state.processes);
  return status;
}

base::Status Recording::Reader::step_counters(int64_t tick, WalkState& state) {
  std::map<int64_t, model::Statm> before;
  for (const auto& [id, process] : state.processes) {
    if (process.statm) before[id] = *process.statm;
  }
  base::Status status = fill_counters(tick, tick, state.processes);
  // Counters tell two of its numbers; the others stand until a state is told.
  for (const auto& [id, statm] : before) {
    std::optional<model::Statm>& now = state.processes[id].statm;
    if (!now) continue;
    now->size_pages = statm.size_pages;
    now->text_pages = statm.text_pages;
    now->data_pages = statm.data_pages;
  }
  if (status) status = fill_states(tick, tick, state.processes);
  return status;
}

base::Status Recording::Reader::step_processes(int64_t tick, WalkState& state) {
  std::erase_if(state.processes, [&](const auto& entry) {
    return !lives_at(*state.chosen.at(entry.first), tick);
  });
  for (const auto& [id, recorded] : state.chosen) {
    if (!lives_at(*recorded, tick)) continue;
    fill_head(*recorded, tick, state.processes[id]);
  }
  base::Status status = step_counters(tick, state);
  if (!status) return status;
  for (int64_t id : std::exchange(state.changed, {})) {
    auto found = state.processes.find(id);
    if (found == state.processes.end()) continue;
    std::vector<const ChangeRow*> rows;
    for (const auto& [no, row] : state.mappings[id])
      rows.push_back(&row);
    base::Result<Process> made =
        make_process(rows, id, std::move(found->second));
    if (!made) return made.error();
    found->second = std::move(*made);
  }
  for (auto& [id, process] : state.processes) {
    if (!process.mappings) continue;
    process.mappings.unknown_because.clear();
    status = note_reading(tick, id, process, state);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status Recording::Reader::note_reading(int64_t tick, int64_t id,
                                             Process& process,
                                             WalkState& state) {
  const std::optional<DetailReading> reading = reading_at(tick, id);
  if (!reading) return base::Ok{};
  process.tier = reading->tier;
  const auto monotonic_ns = [&](int64_t at) {
    return ticks_[static_cast<size_t>(at)].monotonic_ns;
  };
  if (reading->tick == tick) {
    state.readings[id] = {
        monotonic_ns(tick),
        model::resident_counters(process, info_.page_size_bytes)};
    return base::Ok{};
  }
  if (state.readings.contains(id)) return base::Ok{};
  base::Result<std::optional<model::ResidentCounters>> then =
      counters_at(database_, info_.page_size_bytes, id, reading->tick);
  if (!then) return then.error();
  state.readings[id] = {monotonic_ns(reading->tick), *then};
  return base::Ok{};
}

// As it is likely to be at the tick: its mappings may be of an earlier one.
// Empty where they are of this one, or the same.
std::optional<Process> Recording::Reader::brought_to(
    const model::RecordedTick& tick, int64_t id, const Process& process,
    const WalkState& state) const {
  auto reading = state.readings.find(id);
  if (!process.mappings || reading == state.readings.end() ||
      !reading->second.counters ||
      reading->second.monotonic_ns == tick.monotonic_ns) {
    return std::nullopt;
  }
  Process brought = process;
  model::bring_to_now(*reading->second.counters,
                      tick.monotonic_ns - reading->second.monotonic_ns,
                      info_.page_size_bytes, brought);
  return brought;
}

base::Status Recording::Reader::emit_tick(int64_t tick,
                                          const SampleVisitor& visit,
                                          WalkState& state) {
  base::Status status = step_processes(tick, state);
  if (!status) return status;
  const model::RecordedTick& at = ticks_[static_cast<size_t>(tick)];
  Sample sample;
  fill_times(at, sample);
  status = fill_machine_at(tick, sample);
  if (!status) return status;
  // Lent for the length of the visit: most of them are the same at the next.
  std::vector<Process*> lent;
  for (auto& [id, process] : state.processes) {
    std::optional<Process> brought = brought_to(at, id, process, state);
    lent.push_back(brought ? nullptr : &process);
    sample.processes.push_back(brought ? std::move(*brought)
                                       : std::move(process));
  }
  status = visit(at, sample);
  for (size_t i = 0; i < lent.size(); ++i) {
    if (lent[i] != nullptr) *lent[i] = std::move(sample.processes[i]);
  }
  return status;
}

base::Status Recording::Reader::walk_samples(int64_t first, int64_t last,
                                             const ProcessSet& chosen,
                                             const SampleVisitor& visit) {
  base::Status status = check_all_ticks();
  if (status) status = load_details();
  if (!status) return status;
  WalkState state;
  status = begin_walk(first, chosen, state);
  if (!status) return status;
  if (first < 0 || last >= static_cast<int64_t>(ticks_.size())) {
    return base::fail(base::ErrorKind::NotFound,
                      database_.path() + ": no such ticks");
  }
  const std::map<int64_t, int64_t> starts =
      keyframes_before(first, state.processes);
  int64_t begin = first;
  for (const auto& [id, start] : starts)
    begin = std::min(begin, start);
  int64_t next_tick = first;
  const auto emit_before = [&](int64_t tick) {
    while (status && next_tick < tick && next_tick <= last)
      status = emit_tick(next_tick++, visit, state);
  };
  std::map<int64_t, int64_t> frame_of;  // the last that was begun
  const auto take = [&](const ChangeRow& row) {
    if (!status || !state.chosen.contains(row.process)) return;
    auto start = starts.find(row.process);
    if (row.tick < (start == starts.end() ? first : start->second)) return;
    emit_before(row.tick);
    std::map<int64_t, ChangeRow>& rows = state.mappings[row.process];
    const auto frames = keyframes_.find(row.process);
    if (frames != keyframes_.end() && frame_of[row.process] != row.tick + 1 &&
        std::ranges::binary_search(frames->second, row.tick)) {
      frame_of[row.process] = row.tick + 1;
      rows.clear();
    }
    state.changed.insert(row.process);
    if (row.is_end()) {
      rows.erase(row.no);
    } else {
      rows.insert_or_assign(row.no, row);
    }
  };
  base::Result<ChangeWalk> walk = ChangeWalk::prepare(database_, {});
  if (!walk) return walk.error();
  base::Status walked = walk->walk(begin, last, take);
  emit_before(last + 1);
  return status ? walked : status;
}

}  // namespace tidemark::store
