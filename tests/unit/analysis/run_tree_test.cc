#include "analysis/run_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/analysis/runs.h"

namespace tidemark::analysis {
namespace {

using test::kKiB;
using test::life_of;

// One that the picture shows.
RunProcess holding(int32_t pid, int32_t parent, std::string_view name,
                   uint64_t kib, uint64_t started = 0) {
  return {life_of(pid, parent, name, started), std::string(name), kib * kKiB};
}

// One that had ended before the picture, or came after it.
RunProcess passed_over(int32_t pid, int32_t parent, std::string_view name,
                       uint64_t started = 0) {
  return {life_of(pid, parent, name, started), std::string(name), std::nullopt};
}

// "make 100\n  cc1 x2 80\n": two blanks a level.
std::string drawing_of(const std::vector<RunProcess>& processes) {
  std::string text;
  for (const RunTreeRow& row : draw_tree(processes)) {
    text.append(size_t{row.depth} * 2, ' ');
    text += row.name;
    if (row.count > 1) text += " x" + std::to_string(row.count);
    text += " " + std::to_string(row.bytes / kKiB) + "\n";
  }
  return text;
}

TEST(RunTree, ChildrenStandBelowTheirParent) {
  EXPECT_EQ(drawing_of({holding(10, 1, "make", 5), holding(11, 10, "sh", 3),
                        holding(12, 11, "cc1", 90)}),
            "make 5\n  sh 3\n    cc1 90\n");
}

TEST(RunTree, SiblingsStandLargestFirst) {
  EXPECT_EQ(drawing_of({holding(10, 1, "make", 5), holding(11, 10, "as", 3),
                        holding(12, 10, "cc1", 90)}),
            "make 5\n  cc1 90\n  as 3\n");
}

TEST(RunTree, SiblingsOfOneNameShareALine) {
  EXPECT_EQ(drawing_of({holding(10, 1, "make", 5), holding(11, 10, "cc1", 30),
                        holding(12, 10, "as", 50), holding(13, 10, "cc1", 40)}),
            "make 5\n  cc1 x2 70\n  as 50\n");
}

TEST(RunTree, ASiblingWithChildrenHasALineOfItsOwn) {
  EXPECT_EQ(drawing_of({holding(10, 1, "make", 5), holding(11, 10, "sh", 30),
                        holding(12, 10, "sh", 20), holding(13, 10, "sh", 10),
                        holding(14, 12, "cc1", 90)}),
            "make 5\n  sh 20\n    cc1 90\n  sh x2 40\n")
      << "the heaviest branch first";
}

TEST(RunTree, AFoldedLineHasThePidOfTheFirst) {
  const std::vector<RunTreeRow> rows =
      draw_tree({holding(11, 1, "cc1", 1), holding(12, 1, "cc1", 2)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pid, 11);
}

TEST(RunTree, LevelsKnowWhetherASiblingFollows) {
  const std::vector<RunTreeRow> rows =
      draw_tree({holding(10, 1, "make", 5), holding(11, 10, "sh", 30),
                 holding(12, 10, "as", 20), holding(13, 11, "cc1", 90)});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].has_more, (std::vector<bool>{false}));
  EXPECT_EQ(rows[1].has_more, (std::vector<bool>{false, true}));
  EXPECT_EQ(rows[2].has_more, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(rows[3].has_more, (std::vector<bool>{false, false}));
}

// ---- who is missing ---------------------------------------------------------

TEST(RunTree, OnlyThoseInThePictureAreDrawn) {
  EXPECT_EQ(
      drawing_of({holding(10, 1, "make", 5), passed_over(11, 10, "true")}),
      "make 5\n");
}

TEST(RunTree, ChildrenOfTheMissingStandBelowTheNearestAncestor) {
  EXPECT_EQ(drawing_of({holding(10, 1, "make", 5), passed_over(11, 10, "sh"),
                        passed_over(12, 11, "sh"), holding(13, 12, "cc1", 90)}),
            "make 5\n  cc1 90\n");
}

TEST(RunTree, WithoutAnyAncestorItIsARoot) {
  EXPECT_EQ(
      drawing_of({holding(13, 12, "daemon", 90), holding(10, 1, "make", 5)}),
      "daemon 90\nmake 5\n");
}

TEST(RunTree, OfNobodyIsEmpty) {
  EXPECT_TRUE(draw_tree({}).empty());
  EXPECT_TRUE(draw_tree({passed_over(10, 1, "true")}).empty());
}

// ---- pids that were given twice ---------------------------------------------

TEST(RunTree, AParentIsNeverYoungerThanItsChild) {
  // 10 ended and its pid went to another, after 11 had been started.
  EXPECT_EQ(
      drawing_of({passed_over(10, 1, "sh", 0), holding(11, 10, "cc1", 9, 5),
                  holding(10, 1, "make", 7, 20)}),
      "cc1 9\nmake 7\n");
}

TEST(RunTree, ARingOfPidsIsNoEndlessTree) {
  // 20 was the parent of 10, ended, and its pid went to a child of 10.
  EXPECT_EQ(
      drawing_of({holding(10, 20, "a", 9, 5), holding(20, 10, "b", 7, 8)}),
      "a 9\n  b 7\n");
}

TEST(RunTree, ARingOfTheMissingEnds) {
  EXPECT_EQ(drawing_of({passed_over(20, 21, "x"), passed_over(21, 20, "y"),
                        holding(10, 20, "a", 9)}),
            "a 9\n");
}

TEST(RunTree, OneThatIsItsOwnParentIsARoot) {
  EXPECT_EQ(drawing_of({holding(10, 10, "a", 9)}), "a 9\n");
}

// Where processes are sampled, all of one look started at the same time.
TEST(RunTree, ARingOfEqualAgeLosesNobody) {
  EXPECT_EQ(drawing_of({holding(10, 20, "a", 9), holding(20, 10, "b", 7)}),
            "b 7\n  a 9\n");
}

// A picture of each of them would take longer than they live, but nothing but
// the number of pids limits it.
TEST(RunTree, AChainAsLongAsPidsLastIsDrawn) {
  std::vector<RunProcess> chain;
  constexpr int32_t kLength = 65'536;
  for (int32_t i = 1; i <= kLength; ++i) {
    chain.push_back(holding(i, i - 1, "sh", 1, static_cast<uint64_t>(i)));
  }
  uint64_t count = 0;
  size_t level_count = 0;
  for (const RunTreeRow& row : draw_tree(chain)) {
    count += row.count;
    level_count += row.has_more.size();
  }
  EXPECT_EQ(count, uint64_t{kLength});
  EXPECT_LT(level_count, 10U * kLength) << "not the square of it";
}

// ---- properties -------------------------------------------------------------

std::vector<RunProcess> some_processes() {
  std::vector<RunProcess> list;
  const int32_t count = *rc::gen::inRange(0, 30);
  for (int32_t pid = 1; pid <= count; ++pid) {
    RunProcess process =
        holding(pid, *rc::gen::inRange(0, count + 1),
                *rc::gen::element<std::string>("sh", "cc1", "as"),
                *rc::gen::inRange<uint64_t>(0, 1000),
                *rc::gen::inRange<uint64_t>(0, 5));
    if (*rc::gen::inRange(0, 3) == 0) process.at_peak_bytes.reset();
    list.push_back(std::move(process));
  }
  return list;
}

RC_GTEST_PROP(RunTreeProperty, EverybodyInThePictureIsDrawnOnce, ()) {
  const std::vector<RunProcess> processes = some_processes();
  uint64_t held_count = 0;
  uint64_t held_bytes = 0;
  for (const RunProcess& process : processes) {
    held_count += process.at_peak_bytes ? 1 : 0;
    held_bytes += process.at_peak_bytes.value_or(0);
  }
  uint64_t drawn_count = 0;
  uint64_t drawn_bytes = 0;
  for (const RunTreeRow& row : draw_tree(processes)) {
    drawn_count += row.count;
    drawn_bytes += row.bytes;
  }
  RC_ASSERT(drawn_count == held_count);
  RC_ASSERT(drawn_bytes == held_bytes);
}

RC_GTEST_PROP(RunTreeProperty, EveryRowIsAtMostOneLevelBelowTheOneBefore, ()) {
  uint32_t allowed = 0;
  for (const RunTreeRow& row : draw_tree(some_processes())) {
    RC_ASSERT(row.depth <= allowed);
    RC_ASSERT(row.has_more.size() == row.depth + 1);
    allowed = row.depth + 1;
  }
}

}  // namespace
}  // namespace tidemark::analysis
