// What is printed of a trace: one section for each report that was asked for,
// all of them from the same numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/crash_kernel.h"
#include "analysis/module_use.h"
#include "analysis/slab_sites.h"
#include "analysis/trace_growth.h"
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
  Slab,         // objects of slab caches, which are followed for it alone
  ModuleAny,    // modules by every stack they are on
  CrashKernel,  // what size one needs
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

struct TraceSection {
  TraceReportSpec spec;
  TraceNode tree;
  std::vector<Growth> growing;
  ModuleTable modules;
  std::vector<SlabCacheRow> slab;
  std::vector<ModuleShare> shares;
  model::Reading<std::vector<model::SlabCache>> caches;
};

struct TraceReport {
  const model::Trace* trace = nullptr;  // outlives the report
  std::vector<TraceSection> sections;
  // Of a trace of the running machine, from who made it.
  model::Reading<CrashKernel> crash_kernel =
      model::unknown<CrashKernel>("it is told of a running trace alone");
};

// `caches` is for the report of slab caches alone.
TraceReport make_trace_report(
    const model::Trace& trace, const std::vector<TraceReportSpec>& specs,
    const model::Reading<std::vector<model::SlabCache>>& caches);

}  // namespace tidemark::analysis
