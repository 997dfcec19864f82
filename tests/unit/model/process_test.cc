#include "model/process.h"

#include <gtest/gtest.h>

namespace tidemark::model {
namespace {

TEST(ProcessState, HasAWordForEach) {
  EXPECT_EQ(process_state_name(ProcessState::Ok), "ok");
  EXPECT_EQ(process_state_name(ProcessState::Denied), "denied");
  EXPECT_EQ(process_state_name(ProcessState::Gone), "gone");
  EXPECT_EQ(process_state_name(ProcessState::Zombie), "zombie");
  EXPECT_EQ(process_state_name(ProcessState::KernelThread), "kernel thread");
  EXPECT_EQ(process_state_name(ProcessState::Failed), "failed");
}

TEST(ProcessId, ReusedPidIsAnotherProcess) {
  EXPECT_NE((ProcessId{42, 1000}), (ProcessId{42, 2000}));
  EXPECT_EQ((ProcessId{42, 1000}), (ProcessId{42, 1000}));
}

TEST(Process, KnowsNothingBeforeItIsRead) {
  const Process process;
  EXPECT_FALSE(process.rollup);
  EXPECT_FALSE(process.mappings);
  EXPECT_FALSE(process.status.rss_bytes);
}

}  // namespace
}  // namespace tidemark::model
