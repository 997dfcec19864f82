// A made-up run with every line a report can have, for both renderers.
#pragma once

#include <string>
#include <vector>

#include "analysis/run_report.h"
#include "unit/view/examples.h"

namespace tidemark::view {

inline constexpr uint64_t kMs = 1'000'000;

inline analysis::RunProcess run_process(int32_t pid, int32_t parent,
                                        std::string name, uint64_t peak_bytes) {
  analysis::RunProcess process;
  process.life.pid = pid;
  process.life.parent_pid = parent;
  process.life.comm = name;
  process.life.path = "/usr/bin/" + name;
  process.life.started_ns = 7'010 * kMs;
  process.life.ended_ns = 7'030 * kMs;
  process.life.wait_status = 0;
  process.life.peak_rss_bytes = peak_bytes;
  process.life.has_execed = true;
  process.name = std::move(name);
  return process;
}

inline analysis::RunName run_name(std::string name, uint64_t count,
                                  uint64_t at_peak_bytes) {
  analysis::RunName row;
  row.name = std::move(name);
  row.count = count;
  row.at_peak_count = at_peak_bytes > 0 ? count : 0;
  row.at_peak_bytes = at_peak_bytes;
  row.peak_rss_bytes = 9 * kMiB;
  row.shortest_ns = 3 * kMs;
  row.longest_ns = 20 * kMs;
  return row;
}

inline analysis::RunTreeRow tree_row(std::string name, uint64_t bytes,
                                     std::vector<bool> has_more) {
  analysis::RunTreeRow row;
  row.name = std::move(name);
  row.bytes = bytes;
  row.pid = 42;
  row.depth = static_cast<uint32_t>(has_more.size() - 1);
  row.has_more = std::move(has_more);
  return row;
}

// 100 MiB at 400 ms of 1 s, of which 96 MiB are in a picture 2 ms before.
inline analysis::RunReport run_report() {
  using model::Category;
  analysis::RunReport report;
  report.command = "make -j8";
  report.realtime_ns = kExampleTimeNs;
  report.start_ns = 7'000 * kMs;
  report.duration_ns = 1'000 * kMs;
  report.method = model::RunMethod::ChargeGate;
  report.peak = {100 * kMiB, 7'400 * kMs, "memory.peak"};
  report.peak_is_charge = true;
  report.peak_measure = analysis::RunMeasure::Charge;
  report.peak_at_ns = static_cast<int64_t>(400 * kMs);
  report.rss = {150 * kMiB, 7'410 * kMs, "counted at every change"};
  report.pss = {90 * kMiB, 7'398 * kMs, "highest of the captures"};
  report.has_capture = true;
  report.captured_bytes = 96 * kMiB;
  report.coverage = 0.96;
  report.capture_after_ns = -static_cast<int64_t>(2 * kMs);
  report.captured_at_ns = static_cast<int64_t>(398 * kMs);
  report.parts = {
      {Category::Heap, "heap", static_cast<int64_t>(80 * kMiB),
       "cc1plus x8, as, 3 others"},
      {Category::Code, "program and libraries", static_cast<int64_t>(20 * kMiB),
       "libc.so.6"},
      {Category::Unnamed, "charged elsewhere", -static_cast<int64_t>(5 * kMiB),
       "mapped here, first read by others"},
  };
  report.not_explained_bytes = static_cast<int64_t>(1 * kMiB);
  report.not_caught_bytes = 4 * kMiB;
  report.mappings = {
      {"[heap]", Category::Heap, 80 * kMiB, 80 * kMiB, 9},
      {"libc.so.6", Category::Code, 20 * kMiB, 40 * kMiB, 1},
  };
  report.tree = {tree_row("make", 2 * kMiB, {false}),
                 tree_row("cc1plus", 70 * kMiB, {false, true}),
                 tree_row("as", 8 * kMiB, {false, false})};
  report.tree[1].count = 8;
  report.processes = {run_process(42, 1, "make", 3 * kMiB),
                      run_process(43, 42, "cc1plus", 70 * kMiB)};
  report.processes[1].at_peak_bytes = 68 * kMiB;
  report.names = {run_name("cc1plus", 8, 70 * kMiB), run_name("make", 1, 0)};
  report.process_count = 2;
  report.lists_every_process = true;
  report.peak_error_bytes = 768 * kKiB;
  report.history = {
      {0, 10 * kMiB}, {400 * kMs, 100 * kMiB}, {900 * kMs, 50 * kMiB}};
  report.cost.cpu_ns = 7 * kMs;
  report.cost.capture_count = 31;
  report.cost.capture_ns = 12 * kMs;
  report.cost.longest_capture_ns = 1 * kMs;
  return report;
}

// Every place of a report that a stranger can write into, and every line.
inline analysis::RunReport hostile_run_report(const std::string& name) {
  analysis::RunReport report = run_report();
  report.command = name;
  report.notes = {"no BPF: " + name};
  for (analysis::RunPart& part : report.parts)
    part.mostly = name;
  for (analysis::RunMapping& mapping : report.mappings)
    mapping.name = name;
  for (analysis::RunTreeRow& row : report.tree)
    row.name = name;
  for (analysis::RunName& row : report.names)
    row.name = name;
  for (analysis::RunProcess& process : report.processes)
    process.name = process.life.comm = process.life.path = name;
  report.swap = {kMiB, std::nullopt, "memory.swap.peak"};
  report.hugetlb = {kMiB, std::nullopt, "highest of the captures"};
  report.lists_every_process = false;
  report.unlisted_count = 12'345;
  report.lost_count = 12'345;
  report.left_running_count = 12'345;
  report.unreadable_count = 12'345;
  report.process_count = 212'345;
  return report;
}

}  // namespace tidemark::view
