// Lives, pictures and records of runs for tests, in KiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/run.h"
#include "unit/analysis/processes.h"

namespace tidemark::test {

inline constexpr uint64_t kRunStart = 1'000'000;

// One that lived from `started` to `ended` nanoseconds after the start.
inline model::ProcessLife life_of(int32_t pid, int32_t parent,
                                  std::string_view path, uint64_t started = 0,
                                  uint64_t ended = 1000) {
  model::ProcessLife life;
  life.pid = pid;
  life.parent_pid = parent;
  life.path = path;
  const size_t slash = life.path.rfind('/');
  life.comm = life.path.substr(slash + 1).substr(0, 15);
  life.started_ns = kRunStart + started;
  life.ended_ns = kRunStart + ended;
  life.wait_status = 0;
  life.peak_rss_bytes = kKiB;
  life.has_execed = true;
  return life;
}

inline model::ProcessLife still_running(model::ProcessLife life) {
  life.ended_ns.reset();
  life.wait_status.reset();
  return life;
}

// What smaps says of a mapping: `own_kib` of its pages are the process's own.
struct Filled {
  uint64_t pss_kib = 0;
  uint64_t rss_kib = 0;
  uint64_t own_kib = 0;
};

inline model::Mapping mapping_of(uint64_t start, std::string_view letters,
                                 std::string_view name, uint64_t inode,
                                 Filled filled) {
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + uint64_t{1} * 1024 * kKiB;
  mapping.permissions = {letters[0] == 'r', letters[1] == 'w',
                         letters[2] == 'x', letters[3] == 's'};
  mapping.name = name;
  mapping.inode_id = inode;
  mapping.fields.set(model::SmapsField::Pss, filled.pss_kib * kKiB);
  mapping.fields.set(model::SmapsField::Rss, filled.rss_kib * kKiB);
  mapping.fields.set(model::SmapsField::Anonymous, filled.own_kib * kKiB);
  return mapping;
}

inline model::Mapping heap_of(uint64_t kib) {
  return mapping_of(0x10000000, "rw-p", "[heap]", 0, {kib, kib, kib});
}
inline model::Mapping anonymous_of(uint64_t kib) {
  return mapping_of(0x20000000, "rw-p", "", 0, {kib, kib, kib});
}
inline model::Mapping file_of(std::string_view name, Filled filled) {
  return mapping_of(0x30000000, "r--s", name, 7, filled);
}
inline model::Mapping library_of(std::string_view name, Filled filled) {
  return mapping_of(0x40000000, "r-xp", name, 8, filled);
}
inline model::Mapping memfd_of(std::string_view name, Filled filled) {
  return mapping_of(0x50000000, "rw-s", "/memfd:" + std::string(name), 9,
                    filled);
}

// A process of the picture, with its mappings in order of their addresses.
inline model::Process pictured(int32_t pid, std::string_view comm,
                               std::vector<model::Mapping> mappings) {
  model::Process process = process_named(pid, 1, comm);
  model::SmapsFields sum;
  for (const model::Mapping& mapping : mappings)
    sum.add(mapping.fields);
  process.rollup = model::known(sum);
  process.mappings = model::known(std::move(mappings));
  return process;
}

inline model::Capture picture_of(std::vector<model::Process> processes) {
  model::Capture capture;
  capture.sample = sample_of(std::move(processes));
  capture.sample.started_monotonic_ns = kRunStart + 500;
  capture.sample.ended_monotonic_ns = kRunStart + 510;
  return capture;
}

inline model::Capture charged(model::Capture capture, uint64_t before_kib,
                              uint64_t after_kib) {
  capture.charged_before_bytes = before_kib * kKiB;
  capture.charged_after_bytes = after_kib * kKiB;
  return capture;
}

// A run of 1000 ns whose group was charged this much at most, 600 ns in.
inline model::RunRecord charged_run(uint64_t peak_kib) {
  model::RunRecord record;
  record.command = {"make", "-j8"};
  record.started_ns = kRunStart;
  record.ended_ns = kRunStart + 1000;
  record.method = model::RunMethod::ChargeGate;
  record.charge = {peak_kib * kKiB, kRunStart + 600, "memory.peak"};
  record.lists_every_process = true;
  return record;
}

}  // namespace tidemark::test
