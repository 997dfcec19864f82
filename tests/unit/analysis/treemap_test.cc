#include "analysis/treemap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::GraphRecord;
using model::GraphRecordKind;
using model::GraphRecords;

constexpr uint64_t kMost = uint64_t{1} << 60;

GraphRecord record(GraphRecordKind kind, std::string id, std::string parent,
                   uint64_t bytes = 0) {
  GraphRecord made;
  made.kind = kind;
  made.name = id.substr(id.find('/') + 1);
  made.id = std::move(id);
  made.parent = std::move(parent);
  made.size_bytes = kind == GraphRecordKind::Kernel ? bytes : 0;
  made.pss_bytes = kind == GraphRecordKind::Process ? bytes : 0;
  return made;
}

// RAM of 100, in it free 30 and vmo 60, in that the groups j/1 and j/2, in them
// processes of 10 and 20.
GraphRecords example() {
  GraphRecords graph;
  graph.timestamp = "then";
  graph.records = {
      record(GraphRecordKind::Process, "p/4", "j/2", 20),
      record(GraphRecordKind::Kernel, "kernel/physmem", "", 100),
      record(GraphRecordKind::Kernel, "kernel/free", "kernel/physmem", 30),
      record(GraphRecordKind::Kernel, "kernel/vmo", "kernel/physmem", 60),
      record(GraphRecordKind::Job, "j/1", "kernel/vmo"),
      record(GraphRecordKind::Job, "j/2", "j/1"),
      record(GraphRecordKind::Process, "p/3", "j/1", 10),
      record(GraphRecordKind::Thread, "t/5", "p/3"),
  };
  graph.records[0].pid = 44;
  return graph;
}

Treemap made(const GraphRecords& graph,
             TreemapMeasure measure = TreemapMeasure::Pss) {
  base::Result<Treemap> map = make_treemap(graph, measure);
  EXPECT_TRUE(map) << map.error().what;
  return map ? *map : Treemap{};
}

std::string refusal(const GraphRecords& graph) {
  base::Result<Treemap> map = make_treemap(graph, TreemapMeasure::Pss);
  if (map) return "no failure";
  EXPECT_EQ(map.error().kind, base::ErrorKind::Malformed);
  return map.error().what;
}

void expect_sums(const TreemapNode& node) {
  if (node.children.empty()) return;
  uint64_t sum = 0;
  for (size_t i = 0; i < node.children.size(); ++i) {
    sum += node.children[i].bytes;
    if (i > 0) {
      EXPECT_GE(node.children[i - 1].bytes, node.children[i].bytes);
    }
    expect_sums(node.children[i]);
  }
  EXPECT_EQ(sum, node.bytes) << node.name;
}

TreemapNode box(const Treemap& map, std::string_view word) {
  const TreemapNode* found = find_treemap_box(map.root, word);
  EXPECT_NE(found, nullptr) << word;
  return found ? *found : TreemapNode{};
}

TEST(Treemap, BoxesAreAsLargeAsWhatIsInThem) {
  const Treemap map = made(example());
  EXPECT_EQ(map.root.bytes, 100U);
  expect_sums(map.root);
  EXPECT_EQ(box(map, "j/1").bytes, 30U);
  EXPECT_EQ(box(map, "j/2").bytes, 20U);
  EXPECT_EQ(box(map, "in no process").bytes, 30U) << "vmo without its groups";
  EXPECT_EQ(box(map, "the rest").bytes, 10U) << "RAM without its parts";
  EXPECT_EQ(map.process_count, 2U);
  EXPECT_EQ(map.timestamp, "then");
}

TEST(Treemap, OrderIsBySizeThenName) {
  GraphRecords graph = example();
  graph.records.push_back(record(GraphRecordKind::Process, "p/9", "j/1", 20));
  const TreemapNode group = box(made(graph), "j/1");
  ASSERT_EQ(group.children.size(), 3U);
  EXPECT_EQ(group.children[0].name, "2");
  EXPECT_EQ(group.children[1].name, "9");
  EXPECT_EQ(group.children[2].name, "3");
}

TEST(Treemap, ProcessWithoutObjectsHasTwoPortions) {
  GraphRecords graph = example();
  graph.records[0].private_bytes = 15;
  const TreemapNode process = box(made(graph), "p/4");
  ASSERT_EQ(process.children.size(), 2U);
  EXPECT_EQ(process.children[0].name, "private");
  EXPECT_EQ(process.children[0].bytes, 15U);
  EXPECT_EQ(process.children[1].bytes, 5U);
  graph.records[0].private_bytes = 25;  // more than its share: counted later
  EXPECT_EQ(box(made(graph), "p/4").bytes, 25U);
}

TEST(Treemap, ObjectsOfOneNameAreOneBox) {
  GraphRecords graph = example();
  graph.records[0].objects = {
      {1, "lib", 10, 2, {}, model::Category::Code, true},
      {2, "heap", 4, 1, {}, {}, true},
      {3, "lib", 6, 1, {}, {}, true},
      {4, "held", 9, 2, {}, {}, false},
  };
  const Treemap map = made(graph);
  const TreemapNode process = box(map, "p/4");
  EXPECT_EQ(process.bytes, 5U + 6U + 4U + 3U);
  const TreemapNode& lib = process.children[0];
  EXPECT_EQ(lib.name, "lib");
  EXPECT_EQ(lib.count, 2U);
  EXPECT_EQ(lib.bytes, 11U) << "half of ten, and six";
  EXPECT_EQ(lib.category, model::Category::Code);
  EXPECT_EQ(box(map, "held").bytes, 3U) << "among two and the holder";
  expect_sums(map.root);
}

TEST(Treemap, WhatMayNotBeReadIsNobodyElses) {
  GraphRecords graph = example();
  graph.records[3].unread_bytes = 12;
  const Treemap map = made(graph);
  EXPECT_EQ(box(map, "not readable").bytes, 12U);
  EXPECT_EQ(box(map, "in no process that was read").bytes, 18U);
  expect_sums(map.root);
  ASSERT_EQ(map.notes.size(), 1U);
  EXPECT_NE(map.notes[0].find("may not be read"), std::string::npos);
  EXPECT_EQ(box(made(graph, TreemapMeasure::Private), "not readable").bytes,
            12U);
}

TEST(Treemap, PartsLargerThanTheWholeAreSaid) {
  GraphRecords graph = example();
  graph.records[0].pss_bytes = 90;
  const Treemap map = made(graph);
  EXPECT_EQ(box(map, "kernel/vmo").bytes, 100U);
  EXPECT_EQ(map.root.bytes, 130U);
  expect_sums(map.root);
  ASSERT_EQ(map.notes.size(), 2U);
  EXPECT_EQ(map.notes[0],
            "kernel/vmo should be 60 B, but what is in it is 100 B");
}

TEST(Treemap, ByPrivateTheRestIsShared) {
  GraphRecords graph = example();
  graph.records[0].private_bytes = 7;
  const Treemap map = made(graph, TreemapMeasure::Private);
  EXPECT_EQ(map.root.bytes, 100U);
  EXPECT_EQ(box(map, "p/4").bytes, 7U);
  EXPECT_EQ(box(map, "shared, or in no process").bytes, 53U);
  expect_sums(map.root);
}

TEST(Treemap, BySwapTheGroupsAreTheRoot) {
  GraphRecords graph = example();
  graph.records[0].swap_pss_bytes = 9;
  graph.records[0].objects = {{1, "heap", 4, 1, 6, {}, true},
                              {2, "lib", 4, 1, 0, {}, true}};
  graph.records[6].swap_pss_bytes = 1;
  const Treemap map = made(graph, TreemapMeasure::Swap);
  EXPECT_EQ(map.root.id, "j/1");
  EXPECT_EQ(map.root.bytes, 10U);
  EXPECT_EQ(box(map, "heap").bytes, 6U);
  EXPECT_EQ(box(map, "the rest").bytes, 3U);
  expect_sums(map.root);
}

TEST(Treemap, BySwapNeedsACaptureThatTellsIt) {
  base::Result<Treemap> map = make_treemap(example(), TreemapMeasure::Swap);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().kind, base::ErrorKind::Unsupported);
}

TEST(Treemap, RefusesWhatIsNoTree) {
  const auto with = [](size_t place, auto change) {
    GraphRecords graph = example();
    change(graph.records[place]);
    return refusal(graph);
  };
  EXPECT_EQ(refusal({}), "graph: no record is the root");
  EXPECT_EQ(with(2, [](GraphRecord& r) { r.id = "kernel/vmo"; }),
            "graph: 'kernel/vmo' comes twice");
  EXPECT_EQ(with(2, [](GraphRecord& r) { r.parent = ""; }),
            "graph: both 'kernel/physmem' and 'kernel/free' have no parent");
  EXPECT_EQ(with(0, [](GraphRecord& r) { r.parent = "j/9"; }),
            "graph: the parent of 'p/4', 'j/9', is not there");
  EXPECT_EQ(with(0, [](GraphRecord& r) { r.parent = "p/3"; }),
            "graph: 'p/4' cannot be in 'p/3'");
  EXPECT_EQ(with(5, [](GraphRecord& r) { r.parent = "j/2"; }),
            "graph: 'p/4' is above itself, or in something that is");
  EXPECT_EQ(with(1, [](GraphRecord& r) { r.parent = "kernel/vmo"; }),
            "graph: no record is the root");
  EXPECT_EQ(with(5, [](GraphRecord& r) { r.parent = "kernel/vmo"; }),
            "graph: both 'j/1' and 'j/2' are the root of all groups");
  EXPECT_EQ(with(2, [](GraphRecord& r) { r.size_bytes = kMost + 1; }),
            "graph: 'kernel/free' has more than any machine");
  EXPECT_EQ(with(0, [](GraphRecord& r) { r.pss_bytes = ~uint64_t{0}; }),
            "graph: 'p/4' has more than any machine");
  EXPECT_EQ(with(2, [](GraphRecord& r) { r.size_bytes = kMost; }),
            "graph: 'kernel/physmem' has more than any machine");
  EXPECT_EQ(with(1, [](GraphRecord& r) { r.kind = GraphRecordKind::Job; }),
            "graph: the root, 'kernel/physmem', is no memory");
}

TEST(Treemap, RefusesACaptureWithoutPrograms) {
  GraphRecords graph;
  graph.records = {record(GraphRecordKind::Kernel, "kernel/physmem", "", 1)};
  EXPECT_EQ(refusal(graph), "graph: there is no 'kernel/vmo'");
  graph.records.push_back(
      record(GraphRecordKind::Kernel, "kernel/vmo", "kernel/physmem", 1));
  EXPECT_EQ(refusal(graph), "graph: no group is the root of all");
}

TEST(Treemap, ObjectsOfOneNameCannotOverflow) {
  GraphRecords graph = example();
  for (uint64_t koid = 1; koid < 40; ++koid)
    graph.records[0].objects.push_back({koid, "x", kMost, 1, {}, {}, true});
  EXPECT_EQ(refusal(graph), "graph: 'p/4' has more than any machine");
}

TEST(Treemap, GroupsMayNestDeepButNotForEver) {
  const auto nested = [](size_t depth) {
    GraphRecords graph = example();
    for (size_t i = 3; i < depth; ++i) {
      graph.records.push_back(
          record(GraphRecordKind::Job, "j/" + std::to_string(100 + i),
                 i == 3 ? "j/1" : "j/" + std::to_string(99 + i)));
    }
    return graph;
  };
  EXPECT_EQ(made(nested(900)).root.bytes, 100U);
  EXPECT_NE(refusal(nested(100'000)).find("is nested too deep"),
            std::string::npos);
}

TEST(Treemap, HundredThousandProcessesHaveTheirBoxes) {
  GraphRecords graph = example();
  for (int i = 0; i < 100'000; ++i) {
    graph.records.push_back(record(GraphRecordKind::Process,
                                   "p/" + std::to_string(1000 + i), "j/2", 0));
  }
  const Treemap map = made(graph);
  EXPECT_EQ(map.process_count, 100'002U);
  EXPECT_EQ(box(map, "j/2").children.size(), 100'001U);
}

}  // namespace
}  // namespace tidemark::analysis
