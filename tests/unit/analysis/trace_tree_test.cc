#include "analysis/trace_tree.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"

namespace tidemark::analysis {
namespace {

using model::Trace;
using test::made_trace;

const TraceNode* child(const TraceNode& node, const std::string& name) {
  for (const TraceNode& one : node.children) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

void expect_sums(const TraceNode& node) {
  uint64_t pages = node.own_pages;
  uint64_t at_peak = 0;
  for (const TraceNode& one : node.children) {
    pages += one.total.pages;
    at_peak += one.total.machine_peak_pages;
    expect_sums(one);
  }
  EXPECT_EQ(pages, node.total.pages) << node.name;
  if (node.own_pages == 0 && !node.children.empty()) {
    EXPECT_EQ(at_peak, node.total.machine_peak_pages) << node.name;
  }
}

Trace some_leaves() {
  return made_trace({
      {{"entry", "read", "cache"}, 1, 10, 20, 15},
      {{"entry", "read"}, 1, 3, 3, 3},
      {{"fault", "anon"}, 1, 5, 50, 5},
      {{"fault", "anon"}, 2, 7, 7, 7},
  });
}

TEST(TraceTree, EveryNodeHoldsItsOwnAndItsChildrens) {
  const TraceNode tree = make_trace_tree(some_leaves(), {});
  expect_sums(tree);
  EXPECT_EQ(tree.total.pages, 25U);
}

TEST(TraceTree, ANodeMayHoldPagesAndHaveChildren) {
  const TraceNode tree = make_trace_tree(some_leaves(), {});
  const TraceNode* task = child(tree, "task 1");
  ASSERT_NE(task, nullptr);
  const TraceNode* read = child(*child(*task, "entry"), "read");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->own_pages, 3U);
  EXPECT_EQ(read->total.pages, 13U);
}

TEST(TraceTree, APeakBetweenLeafAndTaskIsABound) {
  Trace trace = some_leaves();
  trace.tasks[0].peak_pages = 60;  // its leaves' peaks sum to 73
  trace.peak_pages = 64;
  const TraceNode tree = make_trace_tree(trace, {});
  const TraceNode* task = child(tree, "task 1");
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->total.peak_pages, 60U);
  EXPECT_TRUE(task->total.is_peak_exact());
  const TraceNode* entry = child(*task, "entry");
  EXPECT_EQ(entry->total.peak_pages, 23U);
  EXPECT_EQ(entry->total.least_peak_pages, 20U);
  EXPECT_FALSE(entry->total.is_peak_exact());
}

TEST(TraceTree, NoPeakIsAboveThatOfWhatItIsPartOf) {
  Trace trace = made_trace({{{"a", "b"}, 1, 1, 30}, {{"a", "c"}, 1, 1, 30}});
  trace.tasks[0].peak_pages = 40;
  const TraceNode tree = make_trace_tree(trace, {});
  EXPECT_EQ(tree.children[0].children[0].total.peak_pages, 40U);
}

TEST(TraceTree, SortsByWhatIsAskedFor) {
  TraceTreeOptions options;
  options.groups = {TraceGroup::Stack};
  const TraceNode by_pages = make_trace_tree(some_leaves(), options);
  EXPECT_EQ(by_pages.children[0].name, "entry");
  options.order = TraceOrder::ByPeak;
  const TraceNode by_peak = make_trace_tree(some_leaves(), options);
  EXPECT_EQ(by_peak.children[0].name, "fault");
}

TEST(TraceTree, GroupsByModuleOfTheInnermostFrameThatHasOne) {
  TraceTreeOptions options;
  options.groups = {TraceGroup::Module};
  const TraceNode tree = make_trace_tree(
      made_trace({{{"entry", "write@ext4", "start@jbd2", "alloc"}, 1, 8},
                  {{"entry", "alloc"}, 1, 2}}),
      options);
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_EQ(tree.children[0].name, "jbd2");
  EXPECT_EQ(tree.children[1].name, "") << "the kernel's image";
}

TEST(TraceTree, ATaskOfTwoGroupsIsOneTask) {
  Trace trace =
      made_trace({{{"a"}, 1, 4, 4, 4, "/x"}, {{"a"}, 1, 6, 6, 6, "/y"}});
  EXPECT_EQ(make_trace_tree(trace, {}).children.size(), 1U);
  TraceTreeOptions options;
  options.groups = {TraceGroup::Cgroup, TraceGroup::Task};
  const TraceNode tree = make_trace_tree(trace, options);
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_EQ(tree.children[0].name, "/y");
}

TEST(TraceTree, AThrottleKeepsTheLargestThatHoldTheShare) {
  TraceTreeOptions options;
  options.groups = {TraceGroup::Task};
  options.throttle_percent = 70;
  const TraceNode tree = make_trace_tree(
      made_trace({{{"a"}, 1, 60}, {{"a"}, 2, 25}, {{"a"}, 3, 15}}), options);
  EXPECT_EQ(tree.children.size(), 2U);
  EXPECT_EQ(tree.total.pages, 100U) << "what is not shown still counts";
}

TEST(TraceTree, TopBoundsEveryLevel) {
  TraceTreeOptions options;
  options.top = 1;
  const TraceNode tree = make_trace_tree(some_leaves(), options);
  ASSERT_EQ(tree.children.size(), 1U);
  EXPECT_EQ(tree.children[0].children.size(), 1U);
}

TEST(TraceTree, EntriesCanBeKeptWhileWhatIsBelowThemIsCut) {
  TraceTreeOptions options;
  options.keeps_entries = true;
  options.top = 1;
  options.throttle_percent = 50;
  const TraceNode tree = make_trace_tree(some_leaves(), options);
  ASSERT_EQ(tree.children.size(), 2U);
  for (const TraceNode& task : tree.children)
    EXPECT_EQ(task.children.size(), 1U) << task.name;
}

TEST(TraceTree, WhatGaveAllBackKeepsTheStackOfItsPeak) {
  TraceTreeOptions options;
  options.throttle_percent = 80;
  const TraceNode tree = make_trace_tree(
      made_trace({{{"a"}, 1, 0, 3}, {{"b"}, 1, 0, 9}}), options);
  ASSERT_EQ(tree.children.size(), 1U);
  ASSERT_EQ(tree.children[0].children.size(), 1U);
  EXPECT_EQ(tree.children[0].children[0].name, "b");
}

TEST(TraceTree, AnEmptyTraceIsARootAlone) {
  const TraceNode tree = make_trace_tree(Trace(), {});
  EXPECT_TRUE(tree.children.empty());
  EXPECT_EQ(tree.total.pages, 0U);
}

TEST(TraceTree, TwoCallsInOneFunctionAreOneNode) {
  model::TraceBuilder builder;
  const uint32_t first[] = {builder.frame({0x110, "f", 0x10, ""})};
  const uint32_t second[] = {builder.frame({0x120, "f", 0x20, ""})};
  const uint32_t task = builder.task({});
  builder.leaf(builder.stack(first), task).pages = 1;
  builder.leaf(builder.stack(second), task).pages = 2;
  TraceTreeOptions options;
  options.groups = {TraceGroup::Stack};
  const TraceNode tree = make_trace_tree(builder.finish(), options);
  ASSERT_EQ(tree.children.size(), 1U);
  EXPECT_EQ(tree.children[0].total.pages, 3U);
  EXPECT_EQ(tree.children[0].address, 0x110U) << "the first in the code";
}

TEST(TraceTree, TheOrderOfLeavesDoesNotMatter) {
  model::TraceBuilder builder;
  const uint32_t second[] = {builder.frame({0x120, "f", 0x20, ""})};
  const uint32_t first[] = {builder.frame({0x110, "f", 0x10, ""})};
  const uint32_t task = builder.task({});
  builder.leaf(builder.stack(second), task).pages = 2;
  builder.leaf(builder.stack(first), task).pages = 1;
  TraceTreeOptions options;
  options.groups = {TraceGroup::Stack};
  const TraceNode tree = make_trace_tree(builder.finish(), options);
  ASSERT_EQ(tree.children.size(), 1U);
  EXPECT_EQ(tree.children[0].address, 0x110U);
}

TEST(TraceTree, WhereOnlyNamesAreToldTheyTellFunctionsApart) {
  model::TraceBuilder builder;
  const uint32_t first[] = {builder.frame({0, "f", 0x10, ""})};
  const uint32_t second[] = {builder.frame({0, "f", 0x20, ""})};
  const uint32_t task = builder.task({});
  builder.leaf(builder.stack(first), task).pages = 1;
  builder.leaf(builder.stack(second), task).pages = 2;
  TraceTreeOptions options;
  options.groups = {TraceGroup::Stack};
  EXPECT_EQ(make_trace_tree(builder.finish(), options).children.size(), 1U);
}

}  // namespace
}  // namespace tidemark::analysis
