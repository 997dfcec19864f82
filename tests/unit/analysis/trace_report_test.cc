#include "analysis/trace_report.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"

namespace tidemark::analysis {
namespace {

using test::made_trace;

std::vector<TraceReportSpec> specs(std::string_view list,
                                   const TraceTreeOptions& defaults = {}) {
  base::Result<std::vector<TraceReportSpec>> parsed =
      parse_trace_reports(list, defaults);
  EXPECT_TRUE(parsed) << parsed.error().what;
  return parsed ? *parsed : std::vector<TraceReportSpec>();
}

TEST(TraceReports, TakesAListWithParameters) {
  const auto parsed =
      specs("task_summary:sort_by_peak:top=5,module_top:throttle=80");
  ASSERT_EQ(parsed.size(), 2U);
  EXPECT_EQ(parsed[0].kind, TraceReportKind::TaskSummary);
  EXPECT_EQ(parsed[0].tree.order, TraceOrder::ByPeak);
  EXPECT_EQ(parsed[0].tree.top, 5U);
  EXPECT_EQ(parsed[1].kind, TraceReportKind::ModuleTop);
  EXPECT_EQ(parsed[1].tree.throttle_percent, 80U);
}

TEST(TraceReports, TakesWhatIsNotSaidFromTheDefaults) {
  TraceTreeOptions defaults;
  defaults.throttle_percent = 60;
  const auto parsed = specs("task_top,task_summary:throttle=10", defaults);
  EXPECT_EQ(parsed[0].tree.throttle_percent, 60U);
  EXPECT_EQ(parsed[1].tree.throttle_percent, 10U);
}

TEST(TraceReports, AReportMayRepeat) {
  EXPECT_EQ(specs("task_top,task_top:sort_by_peak").size(), 2U);
}

TEST(TraceReports, ATreeIsGroupedAsAsked) {
  const auto parsed = specs("tree:by=cgroup+module");
  EXPECT_EQ(parsed[0].tree.groups,
            (std::vector{TraceGroup::Cgroup, TraceGroup::Module}));
}

TEST(TraceReports, EveryModuleOfTheSummaryHasItsStacks) {
  // Most is taken by no module, which is not in these reports.
  const model::Trace trace = made_trace({{{"entry", "alloc"}, 1, 900},
                                         {{"entry", "f@large"}, 1, 60},
                                         {{"entry", "g@small"}, 2, 5},
                                         {{"entry", "h@past"}, 2, 0, 7}});
  TraceTreeOptions throttled;
  throttled.throttle_percent = 80;
  for (const char* list :
       {"module_summary,module_top", "module_summary:top=2,module_top:top=2",
        "module_summary:top=1,module_top:top=10"}) {
    const TraceReport report =
        make_trace_report(trace, specs(list, throttled), {});
    std::vector<std::string> summary;
    std::vector<std::string> with_stacks;
    for (const TraceNode& module : report.sections[0].tree.children)
      summary.push_back(module.name);
    for (const TraceNode& module : report.sections[1].tree.children) {
      if (!module.children.empty()) with_stacks.push_back(module.name);
    }
    EXPECT_EQ(summary.size(), 4U) << list;
    EXPECT_EQ(with_stacks, summary) << list;
  }
}

TEST(TraceReports, ListsOfTasksAreWhole) {
  const model::Trace trace =
      made_trace({{{"a"}, 1, 90}, {{"a"}, 2, 9}, {{"a"}, 3, 1}});
  for (const char* list :
       {"task_summary:top=1", "task_top:throttle=80", "task_top_json:top=1"}) {
    const TraceReport report = make_trace_report(trace, specs(list), {});
    EXPECT_EQ(report.sections[0].tree.children.size(), 3U) << list;
  }
  const TraceReport ours =
      make_trace_report(trace, specs("tree:by=task:top=1"), {});
  EXPECT_EQ(ours.sections[0].tree.children.size(), 1U);
}

TEST(TraceReports, RefusesWhatNobodyKnows) {
  for (const char* list :
       {"", "task", "task_top:top", "task_top:top=x", "task_top:throttle=101",
        "task_top:sort_by_name", "tree:by=colour", "task_top,,task_top",
        "tree:by="}) {
    const auto parsed = parse_trace_reports(list, {});
    ASSERT_FALSE(parsed) << list;
    EXPECT_EQ(parsed.error().kind, base::ErrorKind::Misused);
  }
}

TEST(TraceReports, EveryTokenIsAReport) {
  for (const std::string& token : trace_report_tokens()) {
    const auto parsed = specs(token);
    ASSERT_EQ(parsed.size(), 1U);
    EXPECT_EQ(trace_report_token(parsed[0].kind), token);
  }
}

TEST(TraceReports, TablesAreThrottledAsTreesAre) {
  model::Trace trace;
  model::SlabTrace slab;
  for (uint64_t bytes : {10U, 60U, 30U}) {
    slab.sites.push_back({"cache" + std::to_string(bytes),
                          {bytes, "caller", 0, "", {}},
                          bytes,
                          100 - bytes,
                          1,
                          1,
                          0});
  }
  trace.slab = model::known(slab);
  const auto caches = model::known(std::vector<model::SlabCache>{
      {"small", 0, 0, 0, 0, 1, 0, 10}, {"large", 0, 0, 0, 0, 1, 0, 90}});
  const auto report = [&](const char* list) {
    const auto specs = parse_trace_reports(list, {});
    return make_trace_report(trace, *specs, caches).sections[0];
  };
  const auto names = [&](const char* list) {
    std::vector<std::string> found;
    for (const SlabCacheRow& row : report(list).slab)
      found.push_back(row.name);
    return found;
  };
  EXPECT_EQ(names("slab").size(), 3U);
  EXPECT_EQ(names("slab:throttle=60"), std::vector<std::string>{"cache60"});
  EXPECT_EQ(names("slab:throttle=61"),
            (std::vector<std::string>{"cache60", "cache30"}));
  EXPECT_EQ(names("slab:throttle=61:top=1").size(), 1U);
  EXPECT_EQ(names("slab:sort_by_peak:throttle=1"),
            std::vector<std::string>{"cache10"});
  EXPECT_EQ(report("proc_slab_static:throttle=90").caches->size(), 1U);
  EXPECT_EQ(report("proc_slab_static").caches->size(), 2U);
}

TEST(TraceReports, ReportsOfOneRunAgree) {
  const model::Trace trace =
      made_trace({{{"a", "f@mod"}, 1, 10, 12, 11}, {{"a"}, 2, 4, 4, 4}});
  const TraceReport together = make_trace_report(
      trace, specs("module_summary,module_top,task_summary,task_top"), {});
  for (const TraceSection& section : together.sections)
    EXPECT_EQ(section.tree.total.pages, 14U);
  const TraceReport alone = make_trace_report(trace, specs("module_top"), {});
  EXPECT_EQ(together.sections[1].tree.children[0].total,
            alone.sections[0].tree.children[0].total);
}

model::Trace trace_with_lows(std::vector<uint64_t> lows) {
  model::Trace trace = made_trace({{{"a"}, 1, 100, 100, 100}});
  trace.leaves[0].lows = std::move(lows);
  trace.low_stretch_ns = 1'000'000'000;
  return trace;
}

TEST(TraceGrowth, TellsWhatOnlyRises) {
  const auto growing = find_growth(trace_with_lows({10, 20, 30, 30, 50}));
  ASSERT_EQ(growing.size(), 1U);
  EXPECT_EQ(growing[0].grown_pages, 40U);
  EXPECT_EQ(growing[0].rising_count, 3U);
  EXPECT_DOUBLE_EQ(growing[0].pages_per_second, 10.0);
}

TEST(TraceGrowth, WhatGaveBackIsNoSuspect) {
  EXPECT_TRUE(find_growth(trace_with_lows({10, 20, 15, 30, 50})).empty());
}

TEST(TraceGrowth, WhatRoseOnceAndStayedIsNoSuspect) {
  EXPECT_TRUE(
      find_growth(trace_with_lows({0, 50, 50, 50, 50, 50, 50})).empty());
}

TEST(TraceGrowth, AShortTraceTellsNothing) {
  EXPECT_TRUE(find_growth(trace_with_lows({1, 2, 3})).empty());
  EXPECT_TRUE(find_growth(trace_with_lows({})).empty());
}

TEST(TraceGrowth, IsKnownOnlyWhereItWasLookedAt) {
  EXPECT_TRUE(knows_growth(trace_with_lows({10, 9, 8, 7})));
  EXPECT_FALSE(knows_growth(trace_with_lows({1, 2, 3})));
}

TEST(TraceGrowth, IsSummedUpTheTree) {
  model::Trace trace = trace_with_lows({10, 20, 30, 30, 50});
  trace.leaves[0].held_ns = 7;
  const TraceNode tree = make_trace_tree(trace, {});
  EXPECT_EQ(tree.total.grown_pages, 40U);
  EXPECT_EQ(tree.total.oldest_ns, 7U);
}

}  // namespace
}  // namespace tidemark::analysis
