#include "analysis/treemap_boxes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace tidemark::analysis {
namespace {

TreemapNode leaf(std::string name, uint64_t bytes) {
  TreemapNode node;
  node.name = std::move(name);
  node.bytes = bytes;
  return node;
}

TreemapNode parent(std::vector<TreemapNode> children) {
  TreemapNode node = leaf("all", 0);
  for (const TreemapNode& child : children)
    node.bytes += child.bytes;
  node.children = std::move(children);
  return node;
}

// Every box is in its parent, below its title, apart from its neighbours, and
// as large as what is in it.
void expect_sound(const TreemapBox& box) {
  if (box.children.empty()) return;
  uint64_t sum = 0;
  for (const TreemapBox& child : box.children) {
    sum += child.node.bytes;
    if (!child.cells) continue;
    ASSERT_TRUE(box.cells);
    EXPECT_GE(child.cells->left, box.cells->left);
    EXPECT_GT(child.cells->top, box.cells->top);
    EXPECT_LE(child.cells->right, box.cells->right);
    EXPECT_LE(child.cells->bottom, box.cells->bottom);
    EXPECT_LT(child.cells->left, child.cells->right);
    EXPECT_LT(child.cells->top, child.cells->bottom);
    for (const TreemapBox& other : box.children) {
      if (&other == &child || !other.cells) continue;
      const bool is_apart = child.cells->right <= other.cells->left ||
                            other.cells->right <= child.cells->left ||
                            child.cells->bottom <= other.cells->top ||
                            other.cells->bottom <= child.cells->top;
      EXPECT_TRUE(is_apart) << child.node.name << " " << other.node.name;
    }
    expect_sound(child);
  }
  EXPECT_EQ(sum, box.node.bytes);
}

TEST(TreemapBoxes, HalvesStandSideBySide) {
  const TreemapBox box =
      lay_out_treemap(parent({leaf("a", 5), leaf("b", 5)}), {}, {81, 22});
  EXPECT_EQ(box.cells, (CellRect{0, 0, 80, 21}));
  ASSERT_EQ(box.children.size(), 2U);
  EXPECT_EQ(box.children[0].cells, (CellRect{0, 1, 40, 21}));
  EXPECT_EQ(box.children[1].cells, (CellRect{40, 1, 80, 21}));
}

TEST(TreemapBoxes, SmallOnesShareABox) {
  std::vector<TreemapNode> children = {leaf("large", 10'000)};
  for (int i = 0; i < 500; ++i)
    children.push_back(leaf("small", 4));
  const TreemapBox box = lay_out_treemap(parent(children), {}, {80, 24});
  ASSERT_EQ(box.children.size(), 2U);
  EXPECT_EQ(box.children[1].node.kind, TreemapKind::Other);
  EXPECT_EQ(box.children[1].node.count, 500U);
  EXPECT_TRUE(box.children[1].cells) << "together they can be seen";
  expect_sound(box);
}

TEST(TreemapBoxes, SingleSmallOneKeepsItsName) {
  const TreemapBox box = lay_out_treemap(
      parent({leaf("large", 1'000'000), leaf("tiny", 1)}), {}, {80, 24});
  ASSERT_EQ(box.children.size(), 2U);
  EXPECT_EQ(box.children[1].node.name, "tiny");
  EXPECT_FALSE(box.children[1].cells);
}

TEST(TreemapBoxes, LimitsHold) {
  const TreemapNode tree = parent({parent({leaf("a", 3), leaf("b", 2)}),
                                   leaf("c", 2), leaf("d", 1), leaf("e", 1)});
  TreemapLimits limits;
  limits.depth = 1;
  limits.top = 2;
  const TreemapBox box = lay_out_treemap(tree, limits, {80, 24});
  ASSERT_EQ(box.children.size(), 3U);
  EXPECT_TRUE(box.children[0].children.empty());
  EXPECT_EQ(box.children[2].node.count, 2U);
  expect_sound(box);
}

RC_GTEST_PROP(TreemapBoxes, AnyTreeIsSoundOnAnyScreen, ()) {
  std::vector<TreemapNode> groups;
  const auto group_count = *rc::gen::inRange(0, 12);
  for (int g = 0; g < group_count; ++g) {
    const auto sizes = *rc::gen::container<std::vector<uint64_t>>(
        rc::gen::inRange<uint64_t>(0, uint64_t{1} << (3 * g + 1)));
    std::vector<TreemapNode> children;
    for (uint64_t size : sizes)
      children.push_back(leaf("x", size));
    std::sort(children.begin(), children.end(),
              [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    groups.push_back(parent(std::move(children)));
  }
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  const TreemapScreen screen{*rc::gen::inRange<size_t>(40, 300),
                             *rc::gen::inRange<size_t>(5, 80)};
  expect_sound(lay_out_treemap(parent(groups), {}, screen));
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace tidemark::analysis
