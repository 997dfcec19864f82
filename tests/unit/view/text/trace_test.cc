#include <gtest/gtest.h>

#include "unit/analysis/traces.h"
#include "unit/json_check.h"
#include "view/json/trace.h"
#include "view/text/trace.h"

namespace tidemark::view {
namespace {

using analysis::TraceReport;
using model::Trace;
using test::made_trace;

Trace some_trace() {
  Trace trace = made_trace({
      {{"entry", "zs_malloc@zsmalloc", "alloc"}, 1, 3269, 3270, 3269},
      {{"entry", "do_fault"}, 1, 10, 500, 100},
      {{"entry", "do_fault"}, 2, 51200, 51200, 51200},
  });
  trace.peak_pages = 54500;
  trace.elapsed_ns = 2'000'000'000;
  return trace;
}

std::string text_of(const Trace& trace, std::string_view list,
                    TraceTextOptions options = {false, true}) {
  auto specs = analysis::parse_trace_reports(list, {});
  EXPECT_TRUE(specs) << specs.error().what;
  const TraceReport report = analysis::make_trace_report(
      trace, *specs, model::unknown<std::vector<model::SlabCache>>("denied"));
  return trace_text(report, options, {});
}

TEST(TraceText, ReportsOfMemstrackLookAsItsDo) {
  EXPECT_EQ(text_of(some_trace(), "module_summary"),
            "======== Report format module_summary: ========\n"
            "Module zsmalloc using 12.8MB (3269 pages), peak allocation 12.8MB "
            "(3270 pages)\n"
            "======== Report format module_summary END ========\n");
  EXPECT_EQ(text_of(some_trace(), "task_summary"),
            "======== Report format task_summary: ========\n"
            "Task task 2 (2) using 51200 pages, peak usage 51200 pages\n"
            "Task task 1 (1) using 3279 pages, peak usage 3770 pages\n"
            "======== Report format task_summary END ========\n");
}

TEST(TraceText, ABoundIsMarkedAsOne) {
  const std::string text = text_of(some_trace(), "task_top");
  EXPECT_NE(text.find("task 1 Pages: 3279 (peak: 3770)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  entry (0x0) Pages: 3279 (peak: <=3770)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("      alloc (0x0) Pages: 3269 (peak: 3270)\n"),
            std::string::npos)
      << text;
}

TEST(TraceText, ABoundOfATaskIsMarkedInEveryLineOfIt) {
  Trace trace = some_trace();
  for (model::TraceTask& task : trace.tasks)
    task.is_peak_bound = task.pid == 1;
  const std::string text = text_of(trace, "task_summary,task_top");
  for (const char* line :
       {"Task task 2 (2) using 51200 pages, peak usage 51200 pages\n",
        "Task task 1 (1) using 3279 pages, peak usage <=3770 pages\n",
        "task 1 Pages: 3279 (peak: <=3770)\n",
        "    do_fault (0x0) Pages: 10 (peak: <=500)\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_NE(view::trace_json(trace, base::JsonWriter::Layout::OneLine)
                .find("\"least_peak_pages\":3369"),
            std::string::npos);
}

TEST(TraceText, NumbersThatCanBeWrongAreMarked) {
  Trace trace = some_trace();
  EXPECT_EQ(text_of(trace, "tree", {true, false}).find('~'), std::string::npos);
  trace.faults.lost_events = 7;
  const std::string text = text_of(trace, "tree", {true, false});
  EXPECT_NE(text.find("~54,479 pages taken since and held, ~54,500 pages"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("~51,200"), std::string::npos) << text;
  trace.faults.lost_events = 0;
  trace.sample_period = 16;
  EXPECT_NE(text_of(trace, "tree", {true, false}).find("~51,200"),
            std::string::npos);
}

TEST(TraceText, LossesAreSaidAboveEachReportAndNotInside) {
  Trace trace = some_trace();
  trace.faults.lost_events = 77;
  trace.faults.overwritten = 3;
  const std::string text = text_of(trace, "task_top_json,task_summary");
  const std::string line =
      "77 events lost; 3 pages taken again whose return was missed: the "
      "numbers below are too high or too low\n";
  EXPECT_TRUE(text.starts_with(line + "======== Report format task_top_json"))
      << text;
  EXPECT_NE(text.find(line + "======== Report format task_summary"),
            std::string::npos)
      << text;
}

TEST(TraceText, WhatWasTakenBeforeMakesNoNumberWrong) {
  Trace trace = some_trace();
  trace.faults.untracked_freed = 3;
  trace.faults.verified_stacks = 2000;
  EXPECT_TRUE(trace.is_exact());
  EXPECT_TRUE(text_of(trace, "task_summary").starts_with("===="));
}

TEST(TraceText, EveryFaultThatChangesNumbersIsALineInEveryReport) {
  using model::TraceFaults;
  for (uint64_t TraceFaults::*fault :
       {&TraceFaults::lost_events, &TraceFaults::missed_events,
        &TraceFaults::overwritten, &TraceFaults::out_of_range,
        &TraceFaults::table_full, &TraceFaults::unmatched_migrations,
        &TraceFaults::wrong_stacks}) {
    Trace trace = some_trace();
    trace.faults.*fault = 5;
    EXPECT_FALSE(trace.is_exact());
    const std::string text = text_of(trace, "module_summary");
    EXPECT_TRUE(text.starts_with("5 ")) << text;
    EXPECT_NE(text.find("too high or too low\n===="), std::string::npos)
        << text;
  }
}

TEST(TraceText, EveryFaultIsSaid) {
  Trace trace = some_trace();
  EXPECT_EQ(text_of(trace, "tree", {}).find("lost"), std::string::npos);
  trace.faults = {1, 2, 3, 4, 5, 6, 7, 2000, 8};
  const std::string text = text_of(trace, "tree", {});
  for (const char* words :
       {"1 events lost", "2 events missed", "3 pages given back",
        "4 pages taken again", "5 pages outside", "6 allocations",
        "7 pages moved", "8 of 2,000 stacks"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(TraceText, AnOnlyChildStandsBelowWithoutAStep) {
  const std::string text = text_of(
      made_trace({{{"entry", "read", "alloc"}, 1, 8, 8, 8}}), "tree", {});
  const auto column_of = [&](const std::string& word) {
    const size_t at = text.find(word + "\n");
    return at - text.rfind('\n', at);
  };
  EXPECT_EQ(column_of("entry"), column_of("read")) << text;
  EXPECT_EQ(column_of("entry"), column_of("alloc")) << text;
}

TEST(TraceText, WithoutAPastThereAreNoPeaks) {
  Trace trace = some_trace();
  EXPECT_NE(text_of(trace, "tree", {}).find("PEAK"), std::string::npos);
  trace.has_peaks = false;
  trace.backend = model::TraceBackend::PageOwner;
  const std::string text = text_of(trace, "tree", {});
  EXPECT_EQ(text.find("PEAK"), std::string::npos) << text;
  EXPECT_NE(text.find("by the kernel's notes"), std::string::npos) << text;
}

TEST(TraceText, NothingInANameMovesTheCursor) {
  Trace trace = some_trace();
  trace.tasks[0].command_line = "evil\x1b[2J\nname";
  trace.frames[0].symbol = "a\rb";
  for (const char* list :
       {"task_top", "task_summary", "tree", "module_top", "modules"}) {
    const std::string text = text_of(trace, list);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << list;
    EXPECT_EQ(text.find('\r'), std::string::npos) << list;
  }
}

TEST(TraceText, ModulesHaveColumnsForEachUse) {
  Trace trace = some_trace();
  trace.before.emplace();
  trace.before->modules =
      model::known(std::vector<model::KernelModule>{{"zsmalloc", 53'248, {}}});
  trace.before->slab =
      model::unknown<std::vector<model::SlabCache>>("slabs are secret");
  const std::string text = text_of(trace, "modules", {true, true});
  EXPECT_NE(text.find("IMAGE  LOADING  LATER  CACHE  SLAB    NOW   PEAK  "
                      "MODULE\n"
                      "   13        0  3,269      0     0  3,269  3,270  "
                      "zsmalloc\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("before the trace"), std::string::npos) << text;
  trace.faults.lost_events = 1;
  EXPECT_NE(text_of(trace, "modules", {true, true}).find(" ~3,269 "),
            std::string::npos)
      << "what may be wrong is marked";
  EXPECT_NE(text.find("slabs are secret"), std::string::npos) << text;
}

model::SlabTrace some_slab() {
  model::SlabTrace slab;
  slab.sites = {
      {"dentry", {0x14, "__d_alloc", 0x4, ""}, 19200, 38400, 100, 250},
      {"maple_node", {0x24, "evil\x1b", 0x4, "m"}, 512, 1024, 2, 9, 3}};
  slab.bytes = 19712;
  slab.peak_bytes = 39424;
  slab.overwritten = 3;
  return slab;
}

TEST(TraceText, SlabObjectsStandByCacheAndCaller) {
  Trace trace = some_trace();
  trace.slab = model::known(some_slab());
  const std::string text = text_of(trace, "slab");
  EXPECT_NE(text.find("  3 objects taken again whose return was not told\n"
                      "  NOW    PEAK  OBJECTS  TAKEN  CACHE AND CALLER\n"
                      "18.8K   37.5K      100    250  dentry\n"
                      "18.8K   37.5K      100    250    __d_alloc+0x4\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("≤512B"), std::string::npos)
      << "not all its returns are told: " << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(TraceText, SlabObjectsThatCannotBeFollowedSayWhy) {
  Trace trace = some_trace();
  EXPECT_NE(text_of(trace, "slab").find("were not followed"),
            std::string::npos);
  trace.slab = model::unknown<model::SlabTrace>("no BPF here");
  EXPECT_NE(text_of(trace, "slab").find("no BPF here"), std::string::npos);
  const std::string json = trace_json(trace, base::JsonWriter::Layout::OneLine);
  EXPECT_NE(json.find("\"slab\":null,\"slab_unknown\":\"no BPF here\""),
            std::string::npos)
      << json;
}

TEST(TraceText, SlabCachesThatCannotBeReadSayWhy) {
  EXPECT_NE(text_of(some_trace(), "proc_slab_static").find("denied"),
            std::string::npos);
}

TEST(TraceJson, IsValidWhateverNamesThereAre) {
  Trace trace = some_trace();
  trace.tasks[0].command_line = "quote\" back\\slash \xff\xfe \x01";
  trace.frames[0].symbol = "\"";
  trace.slab = model::known(some_slab());
  trace.before.emplace();
  trace.modules = {{"\"\\", 1, true, false}};
  const std::string json = trace_json(trace, base::JsonWriter::Layout::OneLine);
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  const auto specs = analysis::parse_trace_reports("task_top_json", {});
  const TraceReport report = analysis::make_trace_report(trace, *specs, {});
  EXPECT_TRUE(
      test::JsonCheck(task_top_json(report.sections[0].tree)).is_valid());
}

TEST(TraceJson, TellsFaultsAndBackend) {
  Trace trace = some_trace();
  trace.faults.untracked_freed = 77;
  const std::string json = trace_json(trace, base::JsonWriter::Layout::OneLine);
  for (const char* words :
       {"\"backend\":\"bpf\"", "\"lost\":0", "\"untracked_frees\":77",
        "\"pid\":2", "\"peak_pages\":54500", "\"modules\":["}) {
    EXPECT_NE(json.find(words), std::string::npos) << words << "\n" << json;
  }
}

}  // namespace
}  // namespace tidemark::view
