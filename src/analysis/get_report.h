// The report of `get`: one process or a tree, with its total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/process_use.h"
#include "model/region.h"
#include "model/sample.h"

namespace tidemark::analysis {

struct GetProcess {
  model::ProcessId id;
  int32_t parent_pid = 0;
  uint32_t depth = 0;  // below the root of its tree
  std::string name;
  std::string comm;
  std::string command;
  model::ProcessState state = model::ProcessState::Ok;
  Use use;
  std::optional<uint64_t> peak_rss_bytes;  // VmHWM, since it started
  std::vector<std::pair<std::string, std::string>> unknown;
  std::vector<CategoryUse> categories;  // only when mappings were read
};

// What a watch has seen when it ends.
struct PeakReadings {
  uint64_t count = 0;
  uint64_t new_high_count = 0;  // of them taken because memory rose
  // The highest sum of RSS, counted at every change, where that was possible.
  std::optional<uint64_t> rss_bytes;
};

struct GetReport {
  bool is_new_high = false;  // read because memory rose, not by the clock
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;   // how long reading took
  bool is_exact = false;  // shares to the page; private of a tree is the tree's
  Use total;
  std::vector<GetProcess> processes;  // parents before children
  std::vector<CategoryUse> categories;
  std::vector<std::string> notes;
  std::string denied_hint;  // when a process was denied

  // In RAM less the categories: the rounding of smaps, and what changed between
  // the reads.
  int64_t not_explained_bytes() const;
  // Why the headline is unknown or a lower bound; empty when it is neither.
  std::string unknown_because() const;
};

// One list of memory devices (tmpfs, ramfs) serves
// all processes of a report.
GetReport make_get_report(
    const model::Sample& sample,
    const std::vector<model::DeviceNumber>& memory_devices);

}  // namespace tidemark::analysis
