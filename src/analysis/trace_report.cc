#include "analysis/trace_report.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/text.h"

namespace tidemark::analysis {
namespace {

using base::ErrorKind;
using model::Trace;

struct Named {
  TraceReportKind kind;
  std::string_view token;
};
constexpr std::array<Named, 14> kReports = {{
    {TraceReportKind::ModuleSummary, "module_summary"},
    {TraceReportKind::ModuleTop, "module_top"},
    {TraceReportKind::TaskSummary, "task_summary"},
    {TraceReportKind::TaskTop, "task_top"},
    {TraceReportKind::TaskTopJson, "task_top_json"},
    {TraceReportKind::ProcSlabStatic, "proc_slab_static"},
    {TraceReportKind::CgroupSummary, "cgroup_summary"},
    {TraceReportKind::Tree, "tree"},
    {TraceReportKind::Peak, "peak"},
    {TraceReportKind::Growth, "growth"},
    {TraceReportKind::Modules, "modules"},
    {TraceReportKind::Slab, "slab"},
    {TraceReportKind::ModuleAny, "module_any"},
    {TraceReportKind::CrashKernel, "crash_kernel"},
}};

constexpr std::array<std::pair<TraceGroup, std::string_view>, 4> kGroups = {{
    {TraceGroup::Task, "task"},
    {TraceGroup::Cgroup, "cgroup"},
    {TraceGroup::Module, "module"},
    {TraceGroup::Stack, "stack"},
}};

std::vector<TraceGroup> groups_of(TraceReportKind kind,
                                  const std::vector<TraceGroup>& wanted) {
  switch (kind) {
    case TraceReportKind::ModuleSummary:
      return {TraceGroup::Module};
    case TraceReportKind::ModuleTop:
      return {TraceGroup::Module, TraceGroup::Stack};
    case TraceReportKind::TaskSummary:
      return {TraceGroup::Task};
    case TraceReportKind::TaskTop:
    case TraceReportKind::TaskTopJson:
      return {TraceGroup::Task, TraceGroup::Stack};
    case TraceReportKind::CgroupSummary:
      return {TraceGroup::Cgroup};
    case TraceReportKind::Tree:
    case TraceReportKind::Peak:
    case TraceReportKind::Growth:
    case TraceReportKind::Modules:
    case TraceReportKind::ModuleAny:
    case TraceReportKind::CrashKernel:
    case TraceReportKind::Slab:
    case TraceReportKind::ProcSlabStatic:
      break;
  }
  return wanted;
}

// Programs that read memstrack's reports expect every module and task in them,
// however small.
bool lists_all(TraceReportKind kind) {
  return kind == TraceReportKind::ModuleSummary ||
         kind == TraceReportKind::ModuleTop ||
         kind == TraceReportKind::TaskSummary ||
         kind == TraceReportKind::TaskTop ||
         kind == TraceReportKind::TaskTopJson;
}

base::Error unknown_parameter(std::string_view word) {
  return base::fail(ErrorKind::Misused,
                    "'" + std::string(word) + "' is no parameter of a report",
                    "sort_by_alloc, sort_by_peak, throttle=N, top=N, "
                    "by=task+stack");
}

base::Result<std::vector<TraceGroup>> parse_groups(std::string_view text) {
  std::vector<TraceGroup> groups;
  for (std::string_view word : base::split(text, '+')) {
    const auto* known = std::ranges::find(
        kGroups, word, &decltype(kGroups)::value_type::second);
    if (known == kGroups.end()) {
      return base::fail(ErrorKind::Misused,
                        "'" + std::string(word) + "' is nothing to group by",
                        "task, cgroup, module, stack");
    }
    groups.push_back(known->first);
  }
  if (groups.empty()) {
    return base::fail(ErrorKind::Misused, "by= names nothing to group by",
                      "task, cgroup, module, stack");
  }
  return groups;
}

base::Status take_parameter(std::string_view word, TraceTreeOptions& tree) {
  if (word == "sort_by_alloc") {
    tree.order = TraceOrder::ByPages;
    return base::Ok{};
  }
  if (word == "sort_by_peak") {
    tree.order = TraceOrder::ByPeak;
    return base::Ok{};
  }
  std::string_view value = word;
  const std::string_view name = base::take_until(value, '=');
  if (name == "by") {
    base::Result<std::vector<TraceGroup>> groups = parse_groups(value);
    if (!groups) return groups.error();
    tree.groups = std::move(*groups);
    return base::Ok{};
  }
  const std::optional<uint64_t> number = base::parse_u64(value);
  if (name == "throttle" && number && *number <= 100) {
    tree.throttle_percent = static_cast<uint32_t>(*number);
  } else if (name == "top" && number) {
    tree.top = *number;
  } else {
    return unknown_parameter(word);
  }
  return base::Ok{};
}

base::Result<TraceReportSpec> parse_report(std::string_view text,
                                           const TraceTreeOptions& defaults) {
  const std::string_view name = base::take_until(text, ':');
  const auto* known = std::ranges::find(kReports, name, &Named::token);
  if (known == kReports.end()) {
    std::string all;
    for (const Named& one : kReports)
      all += (all.empty() ? "" : ", ") + std::string(one.token);
    return base::fail(ErrorKind::Misused,
                      "'" + std::string(name) + "' is no report", all);
  }
  TraceReportSpec spec;
  spec.kind = known->kind;
  spec.tree = defaults;
  spec.tree.keeps_entries = lists_all(spec.kind);
  // As people know it: two at each level say what a module does.
  if (spec.kind == TraceReportKind::ModuleTop && defaults.top == 0) {
    spec.tree.top = 2;
  }
  // There are thousands of places; JSON has them all.
  constexpr size_t kSlabTop = 12;
  if (spec.kind == TraceReportKind::Slab && defaults.top == 0) {
    spec.tree.top = kSlabTop;
  }
  while (!text.empty()) {
    base::Status status =
        take_parameter(base::take_until(text, ':'), spec.tree);
    if (!status) return status.error();
  }
  spec.tree.groups = groups_of(spec.kind, spec.tree.groups);
  if (spec.kind == TraceReportKind::Peak) {
    spec.tree.order = TraceOrder::ByMachinePeak;
  }
  return spec;
}

}  // namespace

std::string_view trace_report_token(TraceReportKind kind) {
  const auto* known = std::ranges::find(kReports, kind, &Named::kind);
  return known == kReports.end() ? "?" : known->token;
}

std::vector<std::string> trace_report_tokens() {
  std::vector<std::string> tokens;
  tokens.reserve(kReports.size());
  for (const Named& one : kReports)
    tokens.emplace_back(one.token);
  return tokens;
}

base::Result<std::vector<TraceReportSpec>> parse_trace_reports(
    std::string_view list, const TraceTreeOptions& defaults) {
  std::vector<TraceReportSpec> specs;
  for (std::string_view text : base::split(list, ',')) {
    base::Result<TraceReportSpec> spec = parse_report(text, defaults);
    if (!spec) return spec.error();
    specs.push_back(std::move(*spec));
  }
  if (specs.empty())
    return base::fail(ErrorKind::Misused, "no report is named");
  return specs;
}

namespace {

// Of rows that are sorted the first ones that hold the percentage of all, as in
// trees.
template <typename Row, typename SizeOf>
void throttle(std::vector<Row>& rows, const TraceTreeOptions& options,
              SizeOf size_of) {
  if (options.throttle_percent == 0) return;
  uint64_t whole = 0;
  for (const Row& row : rows)
    whole += size_of(row);
  const uint64_t enough = (whole * options.throttle_percent + 99) / 100;
  uint64_t held = 0;
  size_t count = 0;
  while (count < rows.size() && held < enough)
    held += size_of(rows[count++]);
  rows.resize(count);
}

std::vector<Growth> growth_rows(const Trace& trace,
                                const TraceTreeOptions& options) {
  std::vector<Growth> rows = find_growth(trace);
  throttle(rows, options, [](const Growth& row) { return row.grown_pages; });
  if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
  return rows;
}

ModuleTable module_rows(const Trace& trace, const TraceTreeOptions& options) {
  const bool is_throttled = options.throttle_percent > 0;
  ModuleTable table =
      make_module_table(trace, options.order, is_throttled ? 0 : options.top);
  if (!is_throttled) return table;
  throttle(table.rows, options, [&](const ModuleRow& row) {
    return options.order == TraceOrder::ByPages ? row.total.pages
                                                : row.total.peak_pages;
  });
  const size_t count = table.rows.size();
  table = make_module_table(trace, options.order, options.top);
  table.rows.resize(std::min(count, table.rows.size()));
  return table;
}

std::vector<ModuleShare> share_rows(const Trace& trace,
                                    const TraceTreeOptions& options) {
  std::vector<ModuleShare> rows = make_module_shares(trace);
  if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
  return rows;
}

std::vector<SlabCacheRow> slab_rows(const model::SlabTrace& slab,
                                    const TraceTreeOptions& options) {
  const auto cut = [&](auto& rows) {
    throttle(rows, options, [&](const auto& row) {
      return options.order == TraceOrder::ByPages ? row.bytes : row.peak_bytes;
    });
    if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
  };
  std::vector<SlabCacheRow> rows = make_slab_rows(slab, options.order, 0);
  for (SlabCacheRow& row : rows)
    cut(row.sites);
  cut(rows);
  return rows;
}

model::Reading<std::vector<model::SlabCache>> cache_rows(
    model::Reading<std::vector<model::SlabCache>> caches,
    const TraceTreeOptions& options) {
  if (!caches) return caches;
  const auto size_of = [](const model::SlabCache& cache) {
    return cache.slabs * cache.pages_per_slab;
  };
  std::ranges::stable_sort(*caches.value, std::greater<>(), size_of);
  throttle(*caches.value, options, size_of);
  return caches;
}

}  // namespace

TraceReport make_trace_report(
    const Trace& trace, const std::vector<TraceReportSpec>& specs,
    const model::Reading<std::vector<model::SlabCache>>& caches) {
  TraceReport report;
  report.trace = &trace;
  for (const TraceReportSpec& spec : specs) {
    TraceSection section;
    section.spec = spec;
    if (spec.kind == TraceReportKind::ProcSlabStatic) {
      section.caches = cache_rows(caches, spec.tree);
    } else if (spec.kind == TraceReportKind::Growth) {
      section.growing = growth_rows(trace, spec.tree);
    } else if (spec.kind == TraceReportKind::Modules) {
      section.modules = module_rows(trace, spec.tree);
    } else if (spec.kind == TraceReportKind::ModuleAny) {
      section.shares = share_rows(trace, spec.tree);
    } else if (spec.kind == TraceReportKind::CrashKernel) {
      // Not of the trace alone: whoever made it fills it in.
    } else if (spec.kind == TraceReportKind::Slab) {
      if (trace.slab && *trace.slab) {
        section.slab = slab_rows(**trace.slab, spec.tree);
      }
    } else {
      section.tree = make_trace_tree(trace, spec.tree);
    }
    report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace tidemark::analysis
