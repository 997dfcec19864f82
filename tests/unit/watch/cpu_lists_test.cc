#include "watch/cpu_lists.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/source/temporary_tree.h"

namespace tidemark::watch {
namespace {

std::string zone_with(int pages) {
  return "Node 0, zone   Normal\n  pages free     1000\n        managed  5000\n"
         "  pagesets\n    cpu: 0\n              count:    " +
         std::to_string(pages) + "\n";
}

TEST(CpuLists, TellsTheMeanOfAllLooks) {
  const test::TemporaryTree tree;
  const source::Roots roots = tree.roots();
  CpuLists lists(roots);
  for (int pages : {100, 400, 40}) {
    tree.add("zoneinfo", zone_with(pages));
    lists.look();
  }
  EXPECT_EQ(lists.mean_pages(), 180U);
  EXPECT_EQ(lists.error_pages(), 180U) << "half of 400 - 40";
}

TEST(CpuLists, ALookThatFailsDoesNotCount) {
  const test::TemporaryTree tree;
  const source::Roots roots = tree.roots();
  CpuLists lists(roots);
  lists.look();
  EXPECT_EQ(lists.mean_pages(), 0U);
  tree.add("zoneinfo", zone_with(70));
  lists.look();
  tree.remove("zoneinfo");
  lists.look();
  EXPECT_EQ(lists.mean_pages(), 70U);
  EXPECT_EQ(lists.error_pages(), 0U);
}

}  // namespace
}  // namespace tidemark::watch
