#include "analysis/trace_outline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "unit/analysis/traces.h"

namespace tidemark::analysis {
namespace {

using model::Trace;
using test::made_trace;

Trace made_outline() {
  return made_trace({
      {{"entry", "read", "cache"}, 1, 10, 20, 15, "/a"},
      {{"entry", "read"}, 1, 3, 3, 3, "/a"},
      {{"fault", "anon"}, 1, 5, 50, 5, "/a"},
      {{"fault", "anon"}, 2, 7, 7, 7, "/b"},
      {{"entry", "write", "ext4_write@ext4", "alloc"}, 2, 9, 9, 9, "/b"},
      {{"fault", "ext4_map@ext4", "alloc"}, 3, 4, 4, 2, "/b"},
      {{"entry", "read", "anon"}, 3, 0, 6, 6, "/b"},
  });
}

TraceOutline outline_of(const Trace& trace, TraceGroup by) {
  return {std::make_shared<const Trace>(trace),
          std::make_shared<const TraceHistory>(),
          std::make_shared<const TraceIndex>(make_trace_index(trace)), by};
}

const TraceNode* child_named(const TraceNode& tree, const OutlineNode& node) {
  for (const TraceNode& one : tree.children) {
    if (one.name == node.name && one.pid == node.pid) return &one;
  }
  return nullptr;
}

// Opened everywhere it is the tree that reports are made of.
void expect_same(const TraceOutline& outline, const TraceNode& tree,
                 const std::vector<OutlineNode>& nodes) {
  ASSERT_EQ(nodes.size(), tree.children.size()) << tree.name;
  for (const OutlineNode& node : nodes) {
    const TraceNode* same = child_named(tree, node);
    ASSERT_NE(same, nullptr) << node.name;
    EXPECT_EQ(node.total, same->total) << node.name;
    EXPECT_EQ(node.has_children, !same->children.empty()) << node.name;
    expect_same(outline, *same, outline.children(node));
  }
}

TEST(TraceOutline, IsTheTreeOfTheReportsLevelByLevel) {
  for (TraceGroup by : {TraceGroup::Task, TraceGroup::Cgroup}) {
    const Trace trace = made_outline();
    const TraceOutline outline = outline_of(trace, by);
    TraceTreeOptions options;
    options.groups = {by, TraceGroup::Stack};
    expect_same(outline, make_trace_tree(trace, options), outline.groups());
  }
}

TEST(TraceOutline, GroupsOfModulesHoldWhatTheReportsSay) {
  const Trace trace = made_outline();
  TraceTreeOptions options;
  options.groups = {TraceGroup::Module};
  const TraceNode tree = make_trace_tree(trace, options);
  const TraceOutline outline = outline_of(trace, TraceGroup::Module);
  ASSERT_EQ(outline.groups().size(), tree.children.size());
  for (const OutlineNode& group : outline.groups()) {
    const TraceNode* same = child_named(tree, group);
    ASSERT_NE(same, nullptr) << group.name;
    EXPECT_EQ(group.total, same->total) << group.name;
  }
}

TEST(TraceOutline, StacksOfAModuleBeginWithItsOwnCode) {
  const TraceOutline outline = outline_of(made_outline(), TraceGroup::Module);
  const auto ext4 =
      std::ranges::find(outline.groups(), "ext4", &OutlineNode::name);
  ASSERT_NE(ext4, outline.groups().end());
  std::map<std::string, uint64_t> below;
  for (const OutlineNode& node : outline.children(*ext4))
    below[node.name] = node.total.pages;
  EXPECT_EQ(below, (std::map<std::string, uint64_t>{{"ext4_map", 4},
                                                    {"ext4_write", 9}}));
}

TEST(TraceOutline, TellsTheWayToTheCodeOfAModule) {
  const Trace trace = made_outline();
  const TraceOutline outline = outline_of(trace, TraceGroup::Module);
  std::vector<std::string> names;
  for (uint32_t frame : outline.outer_frames(trace.leaves[4].stack))
    names.push_back(trace.frames[frame].symbol);
  EXPECT_EQ(names, (std::vector<std::string>{"write", "entry"}));
}

TEST(TraceOutline, KeysAreTheSameWhateverTheOrderOfTheTables) {
  Trace other = made_trace({
      {{"fault", "anon"}, 2, 7, 7, 7, "/b"},
      {{"entry", "read", "cache"}, 1, 10, 20, 15, "/a"},
  });
  const auto keys = [](const TraceOutline& outline) {
    std::vector<std::string> list;
    for (const OutlineNode& group : outline.groups()) {
      list.push_back(group.key);
      for (const OutlineNode& node : outline.children(group))
        list.push_back(node.key);
    }
    std::sort(list.begin(), list.end());
    return list;
  };
  const std::vector<std::string> all =
      keys(outline_of(made_outline(), TraceGroup::Task));
  for (const std::string& key : keys(outline_of(other, TraceGroup::Task)))
    EXPECT_TRUE(std::ranges::binary_search(all, key)) << key;
}

TEST(TraceOutline, SumsWhatWasHeldBefore) {
  TraceHistoryKeeper keeper;
  Trace trace = made_outline();
  trace.elapsed_ns = 1'000'000'000;
  keeper.add(trace);
  trace.elapsed_ns = 3'000'000'000;
  trace.leaves[0].pages = 30;
  const std::shared_ptr<const TraceHistory> history = keeper.add(trace);
  const TraceOutline outline(
      std::make_shared<const Trace>(trace), history,
      std::make_shared<const TraceIndex>(make_trace_index(trace)),
      TraceGroup::Task);
  const OutlineNode& first = outline.groups()[0];
  EXPECT_EQ(first.name, "task 1");
  EXPECT_EQ(first.before_pages, 18U);
  EXPECT_EQ(first.total.pages, 38U);
  EXPECT_EQ(outline.series(first), (std::vector<uint64_t>{18, 38}));
}

// Of some tasks it is what a trace would be that had followed them alone,
// but for peaks, of which more is known.
TEST(TraceOutline, OfSomeTasksHoldsWhatTheyHold) {
  const Trace whole = made_outline();
  std::vector<bool> is_meant;
  for (const model::TraceTask& task : whole.tasks)
    is_meant.push_back(task.pid != 2);
  Trace alone = whole;
  std::erase_if(alone.leaves, [&](const model::TraceLeaf& leaf) {
    return !is_meant[leaf.task];
  });
  for (TraceGroup by :
       {TraceGroup::Task, TraceGroup::Cgroup, TraceGroup::Module}) {
    const TraceOutline all = outline_of(whole, by);
    const TraceOutline some = all.of_tasks(is_meant);
    std::vector<OutlineNode> expected = outline_of(alone, by).groups();
    std::erase_if(expected, [](const OutlineNode& node) {
      return node.begin == node.end;
    });
    ASSERT_EQ(some.groups().size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const OutlineNode& node = some.groups()[i];
      EXPECT_EQ(node.key, expected[i].key);
      EXPECT_EQ(node.total.pages, expected[i].total.pages) << node.key;
      EXPECT_LE(node.total.peak_pages, expected[i].total.peak_pages);
      EXPECT_LE(node.total.pages, node.total.peak_pages);
      uint64_t below = 0;
      for (const OutlineNode& child : some.children(node))
        below += child.total.pages;
      EXPECT_EQ(below, node.total.pages) << node.key;
    }
  }
}

TEST(TraceOutline, OfNothingIsNothing) {
  const TraceOutline outline = outline_of(Trace(), TraceGroup::Task);
  EXPECT_TRUE(outline.groups().empty());
}

}  // namespace
}  // namespace tidemark::analysis
