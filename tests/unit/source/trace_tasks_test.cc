#include "source/trace_tasks.h"

#include <gtest/gtest.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::TemporaryTree;

model::TraceTask built(TraceTasks& tasks, uint32_t index) {
  std::vector<bool> is_used(index + 1);
  is_used[index] = true;
  model::TraceBuilder builder;
  const std::vector<uint32_t> task_of = tasks.build(is_used, builder);
  return builder.task_at(task_of[index]);
}

class TraceTasksTest : public testing::Test {
 protected:
  TraceTasksTest() {
    tree_.add_process(10, 1, "shell");
    tree_.add("10/cmdline", std::string_view("sh\0-c\0x\0", 8));
    tree_.add("2/stat",
              TemporaryTree::stat(2, 0, "kthreadd", 'S', 5, 0x200040));
  }
  TemporaryTree tree_;
  TraceFilter filter_;
};

TEST_F(TraceTasksTest, AProcessIsNamedWhenItIsFirstMet) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  const uint32_t index = tasks.find(10);
  EXPECT_EQ(tasks.find(10), index);
  const model::TraceTask task = built(tasks, index);
  EXPECT_EQ(task.name, "shell");
  EXPECT_EQ(task.command_line, "sh -c x");
  EXPECT_EQ(task.start_ns, 1'000'000'000U);
  EXPECT_FALSE(task.has_exited);
  EXPECT_TRUE(built(tasks, tasks.find(2)).is_kernel_thread);
  EXPECT_TRUE(built(tasks, tasks.find(0)).is_kernel_thread);
}

TEST_F(TraceTasksTest, WhoIsGoneHasNoNameButAnEnd) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  const model::TraceTask task = built(tasks, tasks.find(77));
  EXPECT_EQ(task.pid, 77);
  EXPECT_TRUE(task.has_exited);
}

TEST_F(TraceTasksTest, AChildIsItsParentUntilItExecs) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  tasks.forked(11, 10, 500);
  const uint32_t index = tasks.find(11);
  EXPECT_EQ(built(tasks, index).name, "shell");
  EXPECT_EQ(built(tasks, index).command_line, "sh -c x");
  tasks.renamed(11, "tail");
  tasks.execed(11, "");
  EXPECT_EQ(tasks.find(11), index);
  EXPECT_EQ(built(tasks, index).name, "tail");
  EXPECT_EQ(built(tasks, index).command_line, "")
      << "it is gone: its parent's would be wrong";
  tasks.execed(11, "tail -c 1");
  EXPECT_EQ(built(tasks, index).command_line, "tail -c 1");
}

TEST_F(TraceTasksTest, BeyondTheBoundProcessesCountTogether) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_, 2);
  const uint32_t first = tasks.find(10);
  tasks.forked(11, 10, 1);
  tasks.forked(12, 10, 2);
  tasks.forked(13, 10, 3);
  tasks.renamed(13, "tail");
  tasks.exited(13);
  EXPECT_NE(tasks.find(11), first);
  EXPECT_NE(tasks.find(12), tasks.find(11));
  EXPECT_EQ(tasks.find(13), tasks.find(12));
  const model::TraceTask others = built(tasks, tasks.find(13));
  EXPECT_EQ(others.name, "other processes");
  EXPECT_FALSE(others.has_exited);
}

TEST_F(TraceTasksTest, APidThatIsUsedAgainIsAnother) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  tasks.forked(11, 10, 500);
  const uint32_t first = tasks.find(11);
  tasks.exited(11);
  tasks.forked(11, 10, 900);
  const uint32_t second = tasks.find(11);
  EXPECT_NE(first, second);
  EXPECT_TRUE(built(tasks, first).has_exited);
  EXPECT_NE(built(tasks, first).start_ns, built(tasks, second).start_ns);
}

TEST_F(TraceTasksTest, AnEndThatWasLostIsFoundOut) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  const uint32_t index = tasks.find(10);
  tree_.remove("10");
  EXPECT_TRUE(built(tasks, index).has_exited);
}

TEST_F(TraceTasksTest, ATreeIsFollowedThroughForks) {
  tree_.add_process(20, 10, "child");
  tree_.add_process(30, 1, "other");
  filter_.tree_pid = 10;
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  EXPECT_TRUE(tasks.is_wanted(tasks.find(10)));
  EXPECT_TRUE(tasks.is_wanted(tasks.find(20)));
  EXPECT_FALSE(tasks.is_wanted(tasks.find(30)));
  tasks.forked(21, 20, 1);
  tasks.forked(31, 30, 1);
  EXPECT_TRUE(tasks.is_wanted(tasks.find(21)));
  EXPECT_FALSE(tasks.is_wanted(tasks.find(31)));
  EXPECT_FALSE(tasks.is_wanted(tasks.interrupts()));
}

TEST_F(TraceTasksTest, ANameIsWantedWhenItIsBorne) {
  filter_.comm = "a-name-of-seventeen";
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  EXPECT_FALSE(tasks.is_wanted(tasks.find(10)));
  tasks.renamed(10, "a-name-of-seven");
  EXPECT_TRUE(tasks.is_wanted(tasks.find(10)));
}

TEST_F(TraceTasksTest, ThreadsBelongToTheirProcess) {
  tree_.add("10/task/10/stat", "");
  tree_.add("10/task/15/stat", "");
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  tasks.meet_all(true);
  EXPECT_EQ(tasks.process_of(15), 10);
  EXPECT_EQ(tasks.process_of(10), 10);
  EXPECT_EQ(tasks.process_of(99), 99);
  tasks.thread_started(16, 10);
  EXPECT_EQ(tasks.process_of(16), 10);
  tasks.forked(16, 10, 1);
  EXPECT_EQ(tasks.process_of(16), 16) << "its number is a process's now";
}

TEST_F(TraceTasksTest, InterruptsAreOneTask) {
  const Roots roots = tree_.roots();
  TraceTasks tasks(roots, filter_);
  const uint32_t index = tasks.interrupts();
  EXPECT_EQ(tasks.interrupts(), index);
  EXPECT_TRUE(tasks.is_wanted(index));
  EXPECT_TRUE(built(tasks, index).is_interrupt);
  EXPECT_FALSE(built(tasks, index).has_exited);
}

}  // namespace
}  // namespace tidemark::source
