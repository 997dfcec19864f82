#include "cli/moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/recorded_peak.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using model::RecordedTick;

constexpr std::string_view kTickWord = "tick:";

std::optional<int64_t> asked_tick(const std::string& word) {
  if (!word.starts_with(kTickWord)) return std::nullopt;
  return base::parse_i64(word.substr(kTickWord.size()));
}

base::Error no_moment(const std::string& word) {
  return base::fail(
      ErrorKind::Misused, "'" + base::visible(word) + "' is no moment",
      "2026-11-15T09:55:12.481Z, 00:41:12 or 90s after the start, tick:17, "
      "start, end, peak");
}

// "41:12", "00:41:12.5": hours are optional, the seconds may have a fraction.
std::optional<uint64_t> parse_clock(std::string_view word) {
  const std::vector<std::string_view> parts = base::split(word, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  uint64_t ns = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    if (!is_last) {
      std::optional<uint64_t> number = base::parse_u64(parts[i]);
      if (!number || *number > 1'000'000) return std::nullopt;
      ns = (ns + *number * base::kNsPerSecond) * 60;
      continue;
    }
    base::Result<uint64_t> seconds =
        parts[i].find_first_not_of('0') == std::string_view::npos &&
                !parts[i].empty()
            ? base::Result<uint64_t>(uint64_t{0})
            : base::parse_duration(std::string(parts[i]) + "s");
    if (!seconds || *seconds >= 60 * base::kNsPerSecond) return std::nullopt;
    ns += *seconds;
  }
  return ns;
}

// "0", "0s", "0.0min": a period of that length makes no sense, a moment does.
bool is_zero_duration(std::string_view word) {
  const size_t end = std::min(word.find_first_not_of("0."), word.size());
  const std::string_view number = word.substr(0, end);
  if (!number.starts_with('0') || std::ranges::count(number, '.') > 1) {
    return false;
  }
  return static_cast<bool>(
      base::parse_duration("1" + std::string(word.substr(end))));
}

// Of the ticks that are not after the moment the latest. They need not be in
// the order of this clock: somebody may have set it back, and imported files
// come as they were named.
base::Result<size_t> last_at(const store::Recording& recording,
                             const std::string& word, uint64_t ns,
                             uint64_t RecordedTick::*time) {
  const std::vector<RecordedTick>& ticks = recording.ticks();
  std::optional<size_t> last;
  for (size_t i = 0; i < ticks.size(); ++i) {
    const bool is_later = !last || ticks[i].*time >= ticks[*last].*time;
    if (ticks[i].*time <= ns && is_later) last = i;
  }
  if (last) return *last;
  const RecordedTick& first =
      *std::ranges::min_element(ticks, {}, &RecordedTick::realtime_ns);
  return base::fail(ErrorKind::NotFound,
                    base::visible(word) + " is before the recording",
                    "it begins at " + base::rfc3339(first.realtime_ns));
}

}  // namespace

base::Result<size_t> find_moment(const store::Recording& recording,
                                 const std::string& word) {
  const std::vector<RecordedTick>& ticks = recording.ticks();
  if (word == "start") return size_t{0};
  if (word == "end") return ticks.size() - 1;
  if (word.starts_with(kTickWord)) {
    std::optional<int64_t> id = asked_tick(word);
    if (!id) return no_moment(word);
    auto found = std::ranges::lower_bound(ticks, *id, {}, &RecordedTick::id);
    if (found != ticks.end() && found->id == *id) {
      return static_cast<size_t>(found - ticks.begin());
    }
    return base::fail(ErrorKind::NotFound, "no " + base::visible(word),
                      fmt::format("they go from {} to {}", ticks.front().id,
                                  ticks.back().id));
  }
  if (std::optional<uint64_t> time = base::parse_rfc3339(word)) {
    return last_at(recording, word, *time, &RecordedTick::realtime_ns);
  }
  std::optional<uint64_t> since_start = parse_clock(word);
  if (!since_start) {
    const std::string plain = word.starts_with('+') ? word.substr(1) : word;
    base::Result<uint64_t> duration = is_zero_duration(plain)
                                          ? base::Result<uint64_t>(uint64_t{0})
                                          : base::parse_duration(plain);
    if (!duration || plain.ends_with("Hz")) return no_moment(word);
    since_start = *duration;
  }
  return last_at(recording, word, ticks[0].monotonic_ns + *since_start,
                 &RecordedTick::monotonic_ns);
}

base::Result<size_t> find_moment_or_peak(const store::Recording& recording,
                                         const std::string& word) {
  if (word != "peak") return find_moment(recording, word);
  base::Result<model::Timeline> timeline = recording.timeline({});
  if (!timeline) return timeline.error();
  return analysis::find_peak(*timeline, analysis::PeakMetric::Pss).value_or(0);
}

base::Result<store::ProcessSet> choose_processes(
    const store::Recording& recording, const std::string& pid,
    const std::string& process_id) {
  store::ProcessSet chosen;
  if (!process_id.empty()) {
    std::optional<int64_t> id = base::parse_i64(process_id);
    const bool is_there = id && std::ranges::any_of(recording.processes(),
                                                    [&](const auto& process) {
                                                      return process.id == *id;
                                                    });
    if (!is_there) {
      return base::fail(
          ErrorKind::NotFound,
          "no process " + base::visible(process_id) + " in the recording",
          "`tidemark info -v` lists them");
    }
    chosen.insert(*id);
    return chosen;
  }
  if (pid.empty()) return chosen;
  std::string list;
  for (const model::RecordedProcess& process : recording.processes()) {
    if (std::to_string(process.process.pid) != pid) continue;
    chosen.insert(process.id);
    list += fmt::format("\n  --process {}  {}", process.id,
                        base::visible(process.images.back().comm));
  }
  if (chosen.empty()) {
    return base::fail(
        ErrorKind::NotFound,
        "no process with the pid " + base::visible(pid) + " in the recording",
        "`tidemark info -v` lists them");
  }
  if (chosen.size() > 1) {
    return base::fail(
        ErrorKind::Misused,
        fmt::format("{} processes had the pid {}:{}", chosen.size(), pid, list),
        "choose one with --process");
  }
  return chosen;
}

base::Result<store::Recording> open_recording(const std::string& path) {
  return open_recording_at(path, "");
}

base::Result<store::Recording> open_recording_at(const std::string& path,
                                                 const std::string& word) {
  if (path.empty()) {
    return base::fail(ErrorKind::Misused, "no recording was named",
                      "`tidemark record` makes one");
  }
  const std::optional<int64_t> tick = asked_tick(word);
  base::Result<store::Recording> recording =
      tick ? store::Recording::open_at(path, *tick, kChangeNs)
           : store::Recording::open(path);
  if (recording && recording->ticks().empty()) {
    return base::fail(ErrorKind::NotFound,
                      base::visible(path) + ": there is no sample in it");
  }
  return recording;
}

}  // namespace tidemark::cli
