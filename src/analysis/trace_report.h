// What is printed of a trace: one section for each report that was asked for,
// all of them from the same numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/slab_sites.h"
#include "analysis/trace_modules.h"
#include "analysis/trace_tree.h"
#include "base/result.h"
#include "model/kernel_memory.h"
#include "model/reading.h"
#include "model/trace.h"

namespace tidemark::analysis {

enum class TraceReportKind : uint8_t {
  ModuleSummary,
  ModuleTop,
  TaskSummary,
  TaskTop,
  TaskTopJson,
  ProcSlabStatic,
  CgroupSummary,
  Tree,    // grouped as asked
  Peak,    // the same as it stood at the machine's peak
  Growth,  // what only rises
  Modules,
  Slab,  // objects of slab caches, which are followed for it alone
};
std::string_view trace_report_token(TraceReportKind kind);
std::vector<std::string> trace_report_tokens();

struct TraceReportSpec {
  TraceReportKind kind = TraceReportKind::TaskTop;
  TraceTreeOptions tree;
};

// "task_summary:sort_by_peak:top=5,module_top:throttle=80". What a report does
// not say itself is taken from `defaults`. Misused for a name or a parameter
// nobody knows.
base::Result<std::vector<TraceReportSpec>> parse_trace_reports(
    std::string_view list, const TraceTreeOptions& defaults);

// Pages that one piece of code has come to hold and did not give back: in no
// stretch of the trace did it hold less than in the one before.
struct Growth {
  uint32_t stack = 0;  // in the trace
  uint32_t task = 0;
  uint64_t pages = 0;
  uint64_t grown_pages = 0;    // between the first and the last stretch
  uint64_t stretch_count = 0;  // over which it was watched
  uint64_t rising_count = 0;   // in which it rose
  uint64_t held_ns = 0;        // how long it has held any without a break
  double pages_per_second = 0;
};

struct TraceSection {
  TraceReportSpec spec;
  TraceNode tree;
  std::vector<Growth> growing;
  ModuleTable modules;
  std::vector<SlabCacheRow> slab;
  model::Reading<std::vector<model::SlabCache>> caches;
};

struct TraceReport {
  const model::Trace* trace = nullptr;  // outlives the report
  std::vector<TraceSection> sections;
};

std::vector<Growth> find_growth(const model::Trace& trace);

// `caches` is for the report of slab caches alone.
TraceReport make_trace_report(
    const model::Trace& trace, const std::vector<TraceReportSpec>& specs,
    const model::Reading<std::vector<model::SlabCache>>& caches);

}  // namespace tidemark::analysis
