// What is told of real children while they are recorded.
#include "watch/record_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "source/roots.h"
#include "unit/child.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::watch {
namespace {

using test::Child;
using test::Line;

constexpr size_t kHeldBytes = size_t{16} << 20;

int hold(const Line& line) {
  void* held = ::mmap(nullptr, kHeldBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(held, 1, kHeldBytes);
  line.say('r');
  line.rest();
  return 0;
}

TEST(RecordSource, CountsNothingOfAProcessThatWaitsForItsParent) {
  Child child(hold);
  ASSERT_EQ(child.hear(), 'r');
  const source::Roots roots = test::TemporaryTree::open("/proc", true);
  RecordSelection selection;
  selection.members = [&] { return std::vector<int32_t>{child.pid()}; };
  selection.until_exit = false;
  BudgetOptions budget;
  budget.is_limited = false;
  RecordSource source(roots, selection, budget);
  model::Sample sample;
  ASSERT_TRUE(source.collect(sample));
  EXPECT_GE(source.pss_bytes(), kHeldBytes);
  child.hang_up();
  EXPECT_TRUE(test::eventually([&] {
    return source.collect(sample) && sample.processes.size() == 1 &&
           sample.processes[0].state == model::ProcessState::Zombie;
  }));
  EXPECT_EQ(source.pss_bytes(), 0U);
}

// A process that one read would stall, of a tree without pages to scan.
TEST(RecordSource, SaysWhatIsReadSeldomAndWhatStandsForIt) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "big");
  tree.add("7/statm", "9000000 9000000 0 0 0 0 0\n");
  const source::Roots roots = test::TemporaryTree::open(tree.path(), false);
  RecordSelection selection;
  selection.members = [] { return std::vector<int32_t>{7}; };
  selection.until_exit = false;
  RecordSource source(roots, selection, BudgetOptions());
  model::Sample sample;
  ASSERT_TRUE(source.collect(sample));
  EXPECT_TRUE(std::ranges::any_of(sample.notes, [](const auto& note) {
    return note.text.starts_with("smaps is read seldom") &&
           note.text.ends_with("between it is estimated by its counters");
  }));
}

}  // namespace
}  // namespace tidemark::watch
