// Processes as a recording gives them back, with the kind of each mapping, for
// tests of what is made of moments.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/composition.h"
#include "model/recording.h"
#include "model/sample.h"
#include "model/timeline.h"

namespace tidemark::test {

// Half of its pages are shared with one other process.
inline model::Mapping mapping_of(uint64_t start, uint64_t pss_kib,
                                 std::string name = {}) {
  using model::SmapsField;
  constexpr uint64_t kKib = 1024;
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + 4096 * kKib;
  mapping.permissions = {true, true, false, false};
  mapping.inode_id = name.starts_with('/') ? 7 : 0;
  mapping.name = std::move(name);
  mapping.fields.set(SmapsField::Rss, 2 * pss_kib * kKib);
  mapping.fields.set(SmapsField::Pss, pss_kib * kKib);
  mapping.fields.set(SmapsField::PrivateClean, 0);
  mapping.fields.set(SmapsField::PrivateDirty, pss_kib / 2 * kKib);
  return mapping;
}

inline model::Process recorded_process(int32_t pid,
                                       std::vector<model::Mapping> mappings,
                                       std::vector<model::RegionKind> kinds) {
  model::Process process;
  process.id = {pid, 1};
  process.stat.comm = "p" + std::to_string(pid);
  process.mappings = model::known(std::move(mappings));
  process.kinds = std::move(kinds);
  return process;
}

inline model::Process unread_process(int32_t pid, uint64_t resident_pages) {
  model::Process process = recorded_process(pid, {}, {});
  process.mappings = model::unknown<std::vector<model::Mapping>>("denied");
  process.statm = model::Statm{.size_pages = 2 * resident_pages,
                               .resident_pages = resident_pages};
  return process;
}

// Any processes, of any kinds of memory, some of it in huge pages or swapped,
// some processes not read. Names repeat, so that there is something to match.
inline model::Sample any_sample() {
  model::Sample sample;
  const auto processes = *rc::gen::inRange(0, 5);
  for (int32_t pid = 1; pid <= processes; ++pid) {
    if (*rc::gen::inRange(0, 8) == 0) {
      sample.processes.push_back(unread_process(pid, 10));
      continue;
    }
    std::vector<model::Mapping> mappings;
    std::vector<model::RegionKind> kinds;
    const auto count = *rc::gen::inRange<uint64_t>(0, 8);
    for (uint64_t i = 0; i < count; ++i) {
      model::Mapping& mapping = mappings.emplace_back(mapping_of(
          0x1000000 * (i + 1), *rc::gen::inRange<uint64_t>(0, 999),
          *rc::gen::element<std::string>("", "/a", "/b", "/c", "[heap]")));
      if (*rc::gen::inRange(0, 4) == 0) {
        mapping.fields.set(model::SmapsField::PrivateHugetlb, 2 << 20);
      }
      if (*rc::gen::inRange(0, 4) == 0) {
        mapping.fields.set(model::SmapsField::SwapPss, 3 << 10);
      }
      kinds.push_back(static_cast<model::RegionKind>(*rc::gen::inRange(0, 19)));
    }
    sample.processes.push_back(
        recorded_process(pid, std::move(mappings), std::move(kinds)));
  }
  return sample;
}

inline model::Timeline timeline_of(const std::vector<uint64_t>& pss) {
  model::Timeline timeline;
  for (uint64_t bytes : pss) {
    model::TimelinePoint point;
    point.tick = static_cast<int64_t>(timeline.points.size());
    point.pss_bytes = bytes;
    timeline.points.push_back(point);
  }
  return timeline;
}

// A process as the list of a recording has it.
inline model::RecordedProcess listed_process(int64_t id, int32_t pid,
                                             const std::string& comm) {
  model::RecordedProcess process;
  process.id = id;
  process.process = {pid, 1};
  process.images.push_back({});
  process.images.back().comm = comm;
  return process;
}

// Ticks of these numbers, a second from one number to the next.
inline std::vector<model::RecordedTick> ticks_of(
    const std::vector<int64_t>& ids) {
  constexpr uint64_t kSecond = 1'000'000'000;
  std::vector<model::RecordedTick> ticks;
  for (int64_t id : ids) {
    model::RecordedTick& tick = ticks.emplace_back();
    tick.id = id;
    tick.monotonic_ns = (50 + static_cast<uint64_t>(id)) * kSecond;
  }
  return ticks;
}

}  // namespace tidemark::test
