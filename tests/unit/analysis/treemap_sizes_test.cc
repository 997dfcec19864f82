#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/treemap.h"

namespace tidemark::analysis {
namespace {

using model::GraphRecord;
using model::GraphRecordKind;
using model::GraphRecords;

GraphRecord sized_record(GraphRecordKind kind, std::string id,
                         std::string parent, uint64_t bytes = 0) {
  GraphRecord made;
  made.kind = kind;
  made.name = id.substr(id.find('/') + 1);
  made.id = std::move(id);
  made.parent = std::move(parent);
  made.size_bytes = kind == GraphRecordKind::Kernel ? bytes : 0;
  made.pss_bytes = kind == GraphRecordKind::Process ? bytes : 0;
  return made;
}

// RAM of 100, in it programs with 60: p/3 has 25 (a heap of 20 and half of a
// file of 10), p/4 has 15, of which nothing more is told.
GraphRecords two_processes() {
  GraphRecords graph;
  graph.records = {
      sized_record(GraphRecordKind::Kernel, "kernel/physmem", "", 100),
      sized_record(GraphRecordKind::Kernel, "kernel/vmo", "kernel/physmem", 60),
      sized_record(GraphRecordKind::Job, "j/1", "kernel/vmo"),
      sized_record(GraphRecordKind::Job, "j/2", "j/1"),
      sized_record(GraphRecordKind::Process, "p/3", "j/2", 25),
      sized_record(GraphRecordKind::Process, "p/4", "j/1", 15),
  };
  graph.records[4].objects = {{1, "heap", 20, 1, 8, {}, true},
                              {2, "file", 10, 2, 0, {}, true}};
  graph.records[4].private_bytes = 22;
  graph.records[4].swap_pss_bytes = 8;
  graph.records[5].private_bytes = 15;
  graph.records[2].charged_bytes = 50;
  graph.records[3].charged_bytes = 30;
  return graph;
}

Treemap with_sizes(const GraphRecords& graph,
                   TreemapMeasure measure = TreemapMeasure::Pss) {
  base::Result<Treemap> map = make_treemap(graph, measure);
  EXPECT_TRUE(map) << map.error().what;
  if (!map) return {};
  add_treemap_sizes(graph, *map);
  return *map;
}

std::optional<uint64_t> size_of(const Treemap& map, std::string_view word,
                                TreemapMeasure measure) {
  const TreemapNode* found = find_treemap_box(map.root, word);
  EXPECT_NE(found, nullptr) << word;
  if (!found) return std::nullopt;
  return found->sizes[static_cast<size_t>(measure)];
}

// By each measure what is known of the parts is the whole.
void expect_closed(const TreemapNode& node) {
  for (size_t measure = 0; measure < node.sizes.size(); ++measure) {
    uint64_t sum = 0;
    bool is_parted = false;
    for (const TreemapNode& child : node.children) {
      is_parted = is_parted || child.sizes[measure].has_value();
      sum += child.sizes[measure].value_or(0);
    }
    // RAM above the groups has no part in what they are charged.
    if (is_parted && node.sizes[measure]) {
      EXPECT_EQ(sum, node.sizes[measure]) << node.name << " " << measure;
    }
  }
  for (const TreemapNode& child : node.children)
    expect_closed(child);
}

TEST(TreemapSizes, EveryMeasureCloses) {
  for (TreemapMeasure measure : kTreemapMeasures) {
    const Treemap map = with_sizes(two_processes(), measure);
    expect_closed(map.root);
    EXPECT_EQ(size_of(map, "p/3", measure),
              measure == TreemapMeasure::Charged
                  ? std::nullopt
                  : std::optional(find_treemap_box(map.root, "p/3")->bytes));
  }
}

void expect_bytes_closed(const TreemapNode& node) {
  uint64_t sum = 0;
  for (const TreemapNode& child : node.children) {
    sum += child.bytes;
    expect_bytes_closed(child);
  }
  if (!node.children.empty()) {
    EXPECT_EQ(sum, node.bytes) << node.name;
  }
}

TEST(TreemapSizes, WhatOnlyAnotherMeasurePartsIsStillWhole) {
  GraphRecords graph = two_processes();
  graph.records[4].private_bytes = 12;  // less than its heap alone
  for (TreemapMeasure measure : kTreemapMeasures) {
    const Treemap map = with_sizes(graph, measure);
    expect_closed(map.root);
    expect_bytes_closed(map.root);
  }
  EXPECT_EQ(size_of(with_sizes(graph, TreemapMeasure::Private),
                    "not told apart", TreemapMeasure::Private),
            12U);
}

TEST(TreemapSizes, ABoxHasThemAll) {
  const Treemap map = with_sizes(two_processes());
  EXPECT_EQ(size_of(map, "p/3", TreemapMeasure::Pss), 25U);
  EXPECT_EQ(size_of(map, "p/3", TreemapMeasure::Private), 22U);
  EXPECT_EQ(size_of(map, "p/3", TreemapMeasure::Swap), 8U);
  EXPECT_EQ(size_of(map, "heap", TreemapMeasure::Private), 20U);
  EXPECT_EQ(size_of(map, "heap", TreemapMeasure::Swap), 8U);
  EXPECT_EQ(size_of(map, "j/2", TreemapMeasure::Charged), 30U);
  EXPECT_EQ(size_of(map, "the group itself", TreemapMeasure::Charged), 20U);
}

TEST(TreemapSizes, WhatIsNotKnownIsNotZero) {
  const Treemap map = with_sizes(two_processes());
  EXPECT_EQ(size_of(map, "p/4", TreemapMeasure::Swap), std::nullopt);
  EXPECT_EQ(size_of(map, "p/3", TreemapMeasure::Charged), std::nullopt);
  EXPECT_EQ(size_of(map, "kernel/physmem", TreemapMeasure::Swap), std::nullopt);
  EXPECT_EQ(size_of(map, "file", TreemapMeasure::Private), std::nullopt)
      << "two of it may be its alone";
  EXPECT_EQ(size_of(map, "file", TreemapMeasure::Swap), 0U);
}

TEST(TreemapSizes, PartsOfNothingAreNothing) {
  GraphRecords graph = two_processes();
  graph.records[4].swap_pss_bytes = 0;
  graph.records[4].objects[0].swap_bytes = 0;
  EXPECT_EQ(size_of(with_sizes(graph), "heap", TreemapMeasure::Swap), 0U);
}

TEST(TreemapSizes, AProcessThatCouldNotBeReadHasNone) {
  GraphRecords graph = two_processes();
  graph.records[5].is_unknown = true;
  graph.records[5].pss_bytes = graph.records[5].private_bytes = 0;
  const Treemap map = with_sizes(graph);
  EXPECT_EQ(size_of(map, "p/4", TreemapMeasure::Pss), std::nullopt);
  EXPECT_EQ(size_of(map, "p/4", TreemapMeasure::Private), std::nullopt);
}

TEST(TreemapSizes, ACaptureThatDoesNotTellSaysSo) {
  GraphRecords graph = two_processes();
  for (GraphRecord& record : graph.records) {
    record.charged_bytes.reset();
    record.swap_pss_bytes.reset();
  }
  const Treemap map = with_sizes(graph);
  ASSERT_EQ(map.unknown.size(), 2U);
  EXPECT_EQ(map.unknown[0].first, TreemapMeasure::Charged);
  EXPECT_EQ(map.unknown[1].second,
            "graph: it does not tell what is swapped out");
}

TEST(TreemapSizes, ARootWithoutChargeIsAsLargeAsItsGroups) {
  GraphRecords graph = two_processes();
  graph.records[2].charged_bytes.reset();
  const Treemap map = with_sizes(graph, TreemapMeasure::Charged);
  EXPECT_EQ(map.root.bytes, 30U);
  ASSERT_EQ(map.notes.size(), 1U);
}

TEST(TreemapSizes, OthersHaveTheSumOfTheirs) {
  Treemap map = with_sizes(two_processes());
  TreemapLimits limits;
  limits.top = 1;
  const TreemapNode folded = folded_treemap(map.root, limits);
  expect_closed(folded);
}

}  // namespace
}  // namespace tidemark::analysis
