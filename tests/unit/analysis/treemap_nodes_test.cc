#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/treemap.h"

namespace tidemark::analysis {
namespace {

TreemapNode node(TreemapKind kind, std::string id, std::string name,
                 uint64_t bytes, std::vector<TreemapNode> children = {}) {
  TreemapNode made;
  made.kind = kind;
  made.id = std::move(id);
  made.name = std::move(name);
  made.bytes = bytes;
  made.children = std::move(children);
  return made;
}

// RAM of 100: programs 60 (a process of 40 and one of 20, both of that name),
// free 30, slab 10.
TreemapNode example() {
  TreemapNode large = node(TreemapKind::Process, "p/3", "sh", 40);
  large.pid = 33;
  large.category = model::Category::Heap;
  large.count = 7;
  TreemapNode small = node(TreemapKind::Process, "p/4", "sh", 20,
                           {node(TreemapKind::Object, "", "libc", 20)});
  small.pid = 44;
  return node(TreemapKind::Kernel, "kernel/physmem", "physmem", 100,
              {node(TreemapKind::Kernel, "kernel/vmo", "vmo", 60,
                    {std::move(large), std::move(small)}),
               node(TreemapKind::Kernel, "kernel/free", "free", 30),
               node(TreemapKind::Kernel, "kernel/heap", "44", 10)});
}

TEST(TreemapNodes, EveryKindAndMeasureHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (TreemapKind kind :
       {TreemapKind::Kernel, TreemapKind::Job, TreemapKind::Process,
        TreemapKind::Object, TreemapKind::Portion, TreemapKind::Rest,
        TreemapKind::Other}) {
    EXPECT_TRUE(words.insert(treemap_kind_token(kind)).second)
        << treemap_kind_token(kind);
  }
  for (TreemapMeasure measure :
       {TreemapMeasure::Pss, TreemapMeasure::Private, TreemapMeasure::Swap}) {
    EXPECT_TRUE(words.insert(treemap_measure_token(measure)).second)
        << treemap_measure_token(measure);
  }
}

TEST(TreemapNodes, ABoxIsFoundByItsId) {
  const TreemapNode root = example();
  const TreemapNode* found = find_treemap_box(root, "p/4");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 20U);
  EXPECT_EQ(find_treemap_box(root, "kernel/physmem"), &root);
}

TEST(TreemapNodes, APidComesBeforeAName) {
  const TreemapNode root = example();
  const TreemapNode* found = find_treemap_box(root, "44");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "p/4") << "a box is named 44 too";
}

TEST(TreemapNodes, OfOneNameTheLargestIsMeant) {
  const TreemapNode root = example();
  const TreemapNode* found = find_treemap_box(root, "sh");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "p/3");
}

TEST(TreemapNodes, WhatIsNotThereIsNotFound) {
  const TreemapNode root = example();
  EXPECT_EQ(find_treemap_box(root, "nobody"), nullptr);
  EXPECT_EQ(find_treemap_box(root, "45"), nullptr);
  EXPECT_EQ(find_treemap_box(root, ""), nullptr)
      << "boxes made here have no id; that is no name";
}

TEST(TreemapNodes, AloneABoxKeepsAllButItsChildren) {
  TreemapNode large = example().children[0].children[0];
  large.children.push_back(node(TreemapKind::Object, "", "heap", 40));
  TreemapNode alone = without_children(large);
  EXPECT_TRUE(alone.children.empty());
  alone.children = large.children;
  EXPECT_EQ(alone, large);
}

TEST(TreemapNodes, OthersAreCountedAndAddedUp) {
  const TreemapNode root = example();
  const TreemapNode other = treemap_other(root.children, 1);
  EXPECT_EQ(other.kind, TreemapKind::Other);
  EXPECT_EQ(other.count, 2U);
  EXPECT_EQ(other.bytes, 40U);
  EXPECT_TRUE(other.id.empty());
}

TEST(TreemapNodes, FoldingKeepsTheSums) {
  const TreemapNode root = example();
  TreemapLimits limits;
  limits.top = 1;
  const TreemapNode one = folded_treemap(root, limits);
  ASSERT_EQ(one.children.size(), 2U);
  EXPECT_EQ(one.children[0].children.size(), 2U) << "one and the other";
  EXPECT_EQ(one.children[1].kind, TreemapKind::Other);
  EXPECT_EQ(one.children[1].bytes, 40U);
  limits.top = 0;
  ASSERT_EQ(folded_treemap(root, limits).children.size(), 1U);
  EXPECT_EQ(folded_treemap(root, limits).children[0].bytes, 100U);
}

TEST(TreemapNodes, FoldingEndsAtTheDepth) {
  const TreemapNode root = example();
  TreemapLimits limits;
  limits.depth = 1;
  const TreemapNode flat = folded_treemap(root, limits);
  ASSERT_EQ(flat.children.size(), 3U);
  EXPECT_TRUE(flat.children[0].children.empty());
  EXPECT_EQ(flat.children[0].bytes, 60U);
  limits.depth = 0;
  EXPECT_TRUE(folded_treemap(root, limits).children.empty());
  EXPECT_EQ(folded_treemap(root, {}), root);
}

}  // namespace
}  // namespace tidemark::analysis
