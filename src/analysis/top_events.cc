#include "analysis/top_events.h"

#include <algorithm>

#include "analysis/top_history.h"

namespace tidemark::analysis {
namespace {

// A tenth of the time, in millionths: below it waiting is not an event.
constexpr uint64_t kPressure = 100'000;
// On a machine that starts thousands of programs the oldest go.
constexpr size_t kMostHappenings = 2000;

bool is_pressure(const model::Pressure& before, const model::Pressure& now,
                 uint64_t passed_ns) {
  return stalled_share(before.some_ns, now.some_ns, passed_ns).value_or(0) >=
         kPressure;
}

std::string who(const std::string& comm, int32_t pid) {
  return comm + " (" + std::to_string(pid) + ")";
}

// Ticks of a recording by their number.
class TickTimes {
 public:
  explicit TickTimes(const std::vector<model::RecordedTick>& ticks)
      : ticks_(ticks) {}
  // That of the first at or behind it; empty: there is none.
  std::optional<uint64_t> elapsed(int64_t tick) const {
    const auto found =
        std::ranges::lower_bound(ticks_, tick, {}, &model::RecordedTick::id);
    if (found == ticks_.end()) return std::nullopt;
    return found->monotonic_ns - ticks_.front().monotonic_ns;
  }

 private:
  const std::vector<model::RecordedTick>& ticks_;
};

void add_recorded_process(const model::RecordedProcess& process,
                          const TickTimes& times, int64_t first_tick,
                          std::vector<TopEvent>& events) {
  const auto add = [&](int64_t tick, TopEventKind kind,
                       const std::string& comm) {
    if (const std::optional<uint64_t> at = times.elapsed(tick))
      events.push_back({*at, kind, who(comm, process.process.pid)});
  };
  // Those of the first tick were there before.
  if (process.first_tick > first_tick)
    add(process.first_tick, TopEventKind::Start, process.images.front().comm);
  for (size_t i = 1; i < process.images.size(); ++i) {
    const model::RecordedImage& image = process.images[i];
    // Another name, parent or group, or the end of it: the same program.
    if (image.image == process.images[i - 1].image) continue;
    add(image.from_tick, TopEventKind::Exec, image.comm);
  }
  if (process.gone_at_tick)
    add(*process.gone_at_tick, TopEventKind::Exit, process.images.back().comm);
}

}  // namespace

std::optional<uint64_t> group_limit(const std::vector<model::Cgroup>& groups,
                                    const std::string& path) {
  std::optional<uint64_t> least;
  for (const model::Cgroup& group : groups) {
    const bool is_above =
        path == group.path || path.starts_with(group.path + "/");
    if (!is_above || !group.limit_bytes) continue;
    least = std::min(least.value_or(*group.limit_bytes), *group.limit_bytes);
  }
  return least;
}

std::optional<uint64_t> limit_of(const model::Sample& sample,
                                 const TopTimelineOf& chosen) {
  std::optional<std::string> path;
  for (const model::Process& process : sample.processes) {
    if (process.stat.is_kernel_thread || !chosen.has(process.id)) continue;
    if (path && *path != process.cgroup_path) return std::nullopt;
    path = process.cgroup_path;
  }
  return path ? group_limit(sample.cgroups, *path) : std::nullopt;
}

void TopEventKeeper::add_processes(const model::Sample& sample) {
  const uint64_t now = sample.started_monotonic_ns;
  ++round_;
  for (const model::Process& process : sample.processes) {
    if (process.stat.is_kernel_thread) continue;
    auto [seen, is_new] =
        seen_.try_emplace({process.id.pid, process.id.start_ticks});
    const std::string words = who(process.stat.comm, process.id.pid);
    if (is_new && round_ > 1) {
      happenings_.push_back({now, TopEventKind::Start, process.id, words});
    } else if (!is_new && seen->second.comm != process.stat.comm) {
      happenings_.push_back({now, TopEventKind::Exec, process.id, words});
    }
    seen->second = {process.stat.comm, round_};
  }
  for (const auto& [id, seen] : seen_) {
    if (seen.round == round_) continue;
    happenings_.push_back({now, TopEventKind::Exit,
                           model::ProcessId{id.first, id.second},
                           who(seen.comm, id.first)});
  }
  std::erase_if(
      seen_, [&](const auto& entry) { return entry.second.round != round_; });
}

void TopEventKeeper::add_machine(const model::Sample& sample) {
  if (!sample.machine) return;
  const uint64_t now = sample.started_monotonic_ns;
  const std::optional<uint64_t>& kills = sample.machine->vmstat.oom_kill_count;
  if (kills && oom_kills_ && *kills > *oom_kills_) {
    happenings_.push_back({now, TopEventKind::OutOfMemory, std::nullopt,
                           std::to_string(*kills - *oom_kills_) + " killed"});
  }
  const model::Pressure& pressure = sample.machine->pressure;
  if (before_ns_ != 0 && is_pressure(pressure_, pressure, now - before_ns_)) {
    happenings_.push_back(
        {now, TopEventKind::Pressure, std::nullopt, "waiting for memory"});
  }
  oom_kills_ = kills;
  pressure_ = pressure;
  before_ns_ = now;
}

void TopEventKeeper::add(const model::Sample& sample, uint64_t span_ns) {
  add_processes(sample);
  add_machine(sample);
  const uint64_t now = sample.started_monotonic_ns;
  std::erase_if(happenings_, [&](const Happening& one) {
    return one.time_ns + span_ns < now;
  });
  if (happenings_.size() > kMostHappenings) {
    happenings_.erase(happenings_.begin(), happenings_.end() - kMostHappenings);
  }
}

std::vector<TopEvent> TopEventKeeper::since(uint64_t monotonic_ns,
                                            const TopTimelineOf& of) const {
  std::vector<TopEvent> events;
  for (const Happening& one : happenings_) {
    if (one.time_ns < monotonic_ns) continue;
    if (one.process && !of.has(*one.process)) continue;
    events.push_back({one.time_ns - monotonic_ns, one.kind, one.words});
  }
  return events;
}

std::vector<TopEvent> recorded_events(
    const std::vector<model::RecordedTick>& ticks,
    const std::vector<model::RecordedProcess>& processes,
    const std::vector<TopMachineTick>& machine,
    const std::set<int64_t>& chosen) {
  std::vector<TopEvent> events;
  if (ticks.empty()) return events;
  const TickTimes times(ticks);
  for (const model::RecordedProcess& process : processes) {
    if (!chosen.empty() && !chosen.contains(process.id)) continue;
    add_recorded_process(process, times, ticks.front().id, events);
  }
  for (size_t i = 1; i < std::min(ticks.size(), machine.size()); ++i) {
    const uint64_t at = ticks[i].monotonic_ns - ticks.front().monotonic_ns;
    const std::optional<uint64_t>& kills = machine[i].oom_kill_count;
    const std::optional<uint64_t>& before = machine[i - 1].oom_kill_count;
    if (kills && before && *kills > *before) {
      events.push_back({at, TopEventKind::OutOfMemory,
                        std::to_string(*kills - *before) + " killed"});
    }
    if (is_pressure(machine[i - 1].pressure, machine[i].pressure,
                    ticks[i].monotonic_ns - ticks[i - 1].monotonic_ns)) {
      events.push_back({at, TopEventKind::Pressure, "waiting for memory"});
    }
  }
  std::ranges::stable_sort(events, {}, &TopEvent::elapsed_ns);
  return events;
}

}  // namespace tidemark::analysis
