#include "analysis/process_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tidemark::analysis {
namespace {

using model::Process;

struct Link {
  int32_t pid = 0;
  int32_t parent = 0;
};

std::vector<Process> processes_of(const std::vector<Link>& links) {
  std::vector<Process> processes;
  for (const Link& link : links) {
    Process process;
    process.id.pid = link.pid;
    process.stat.parent_pid = link.parent;
    processes.push_back(std::move(process));
  }
  return processes;
}

// Pids in order, each with a dot for every level above it: "1 .2 ..3".
std::string outline(const std::vector<Link>& links) {
  std::string text;
  for (const TreeEntry& entry : process_tree(processes_of(links))) {
    if (!text.empty()) text += ' ';
    text +=
        std::string(entry.depth, '.') + std::to_string(links[entry.index].pid);
  }
  return text;
}

TEST(ProcessTree, PutsChildrenBehindTheirParent) {
  EXPECT_EQ(outline({{1, 0}, {2, 1}, {3, 1}, {4, 2}}), "1 .2 ..4 .3");
}

TEST(ProcessTree, FindsParentsThatComeLater) {
  EXPECT_EQ(outline({{4, 2}, {2, 1}, {1, 0}}), "1 .2 ..4");
}

TEST(ProcessTree, KeepsTheOrderOfSiblings) {
  EXPECT_EQ(outline({{1, 0}, {9, 1}, {3, 1}, {5, 1}}), "1 .9 .3 .5");
}

TEST(ProcessTree, HasARootForEachUnknownParent) {
  EXPECT_EQ(outline({{7, 5}, {8, 6}, {9, 8}}), "7 8 .9");
}

TEST(ProcessTree, TakesAProcessThatIsItsOwnParentForARoot) {
  EXPECT_EQ(outline({{7, 7}, {8, 7}}), "7 .8");
}

TEST(ProcessTree, ShowsARingOfParentsOnce) {
  EXPECT_EQ(outline({{1, 0}, {5, 6}, {6, 7}, {7, 5}}), "1 5 .7 ..6");
}

TEST(ProcessTree, ShowsWhatHangsOnARing) {
  EXPECT_EQ(outline({{5, 6}, {6, 5}, {9, 6}}), "5 .6 ..9");
}

TEST(ProcessTree, OfNothingIsEmpty) {
  EXPECT_EQ(outline({}), "");
}

TEST(ProcessTree, CountsWhatIsBelow) {
  std::vector<size_t> counts;
  for (const TreeEntry& entry :
       process_tree(processes_of({{1, 0}, {2, 1}, {3, 2}, {4, 1}, {5, 0}}))) {
    counts.push_back(entry.descendant_count);
  }
  EXPECT_EQ(counts, (std::vector<size_t>{3, 1, 0, 0, 0}));
}

TEST(ProcessTree, CanBeVeryDeep) {
  std::vector<Link> chain;
  for (int32_t pid = 1; pid <= 5000; ++pid)
    chain.push_back({pid, pid - 1});
  const std::vector<TreeEntry> tree = process_tree(processes_of(chain));
  ASSERT_EQ(tree.size(), 5000U);
  EXPECT_EQ(tree.back().depth, 4999U);
  EXPECT_EQ(tree.front().descendant_count, 4999U);
}

std::vector<Link> any_links() {
  std::vector<Link> links;
  const auto count = *rc::gen::inRange<int32_t>(0, 20);
  for (int32_t pid = 1; pid <= count; ++pid) {
    links.push_back({pid, *rc::gen::inRange<int32_t>(0, 24)});
  }
  return links;
}

RC_GTEST_PROP(ProcessTree, HasEachProcessExactlyOnce, ()) {
  const std::vector<Link> links = any_links();
  std::vector<bool> is_seen(links.size(), false);
  for (const TreeEntry& entry : process_tree(processes_of(links))) {
    RC_ASSERT(!is_seen.at(entry.index));
    is_seen[entry.index] = true;
  }
  RC_ASSERT(std::ranges::count(is_seen, true) ==
            static_cast<ptrdiff_t>(links.size()));
}

RC_GTEST_PROP(ProcessTree, GoesDownOneLevelAtATimeAndCountsIt, ()) {
  const std::vector<TreeEntry> tree = process_tree(processes_of(any_links()));
  for (size_t i = 0; i < tree.size(); ++i) {
    if (i > 0) RC_ASSERT(tree[i].depth <= tree[i - 1].depth + 1);
    size_t below = 0;
    for (size_t j = i + 1; j < tree.size() && tree[j].depth > tree[i].depth;
         ++j) {
      ++below;
    }
    RC_ASSERT(tree[i].descendant_count == below);
  }
}

}  // namespace
}  // namespace tidemark::analysis
