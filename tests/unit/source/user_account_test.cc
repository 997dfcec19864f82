#include "source/user_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::TemporaryTree;

constexpr uint64_t kInterruptAddress = 0x500;

class UserAccountTest : public testing::Test {
 protected:
  UserAccountTest()
      : account_(roots_, {{kInterruptAddress, kInterruptAddress + 16,
                           CodeMeaning::Interrupt}}) {
    inner_ = account_.frames().keep({0x10, "fill", 4, "prog", {}});
    outer_ = account_.frames().keep({0x20, "main", 8, "prog", {}});
  }

  void take(uint64_t frame, uint32_t order, uint32_t weight_shift,
            std::vector<uint64_t> kernel = {0x100, 0x200}) {
    const std::vector<uint32_t> frames = {inner_, outer_};
    account_.take({{frame, order}, weight_shift, 4242, 50, kernel, frames});
  }
  model::Trace read() {
    std::vector<std::string> notes;
    account_.learn_names(
        FrameNames::Patience::None, [] {}, notes);
    return account_.read(100);
  }

  TemporaryTree tree_;
  Roots roots_ = tree_.roots();
  UserAccount account_;
  uint32_t inner_ = 0;
  uint32_t outer_ = 0;
};

TEST_F(UserAccountTest, APageStandsForAsManyAsItsWeightSays) {
  take(1000, 0, 6);
  take(2000, 0, 8);
  take(4096, 9, 0);
  EXPECT_EQ(account_.sum().pages, 64 + 256 + 512);
  account_.give(1984, uint64_t{1} << 16);  // frame 2000
  EXPECT_EQ(account_.sum().pages, 64 + 512);
  account_.give(4096, 0xff);
  const model::Trace trace = read();
  EXPECT_EQ(trace.pages, 64U + 504U);
  EXPECT_EQ(trace.peak_pages, 64U + 256U + 512U);
  EXPECT_EQ(trace.faults.untracked_freed, 0U);
}

TEST_F(UserAccountTest, TheErrorIsThatOfTheRarestSample) {
  take(1000, 0, 6);
  take(4096, 9, 0);
  EXPECT_EQ(read().sample_period, 64U);
  for (uint64_t frame = 0; frame < 8; ++frame)
    take(8192 + frame, 0, 8, {0x300});
  EXPECT_EQ(read().sample_period, 256U);
}

TEST_F(UserAccountTest, WhatTheSampleHasNothingOfIsInItsError) {
  for (uint64_t frame = 0; frame < 8; ++frame)
    take(1000 + frame, 0, 6);
  account_.see_density({512, uint64_t{512} * 64});
  EXPECT_EQ(read().sample_period, 64U);
  // As many again, when it was one page in 4096.
  account_.see_density({1024, 512 * (64 + 4096)});
  EXPECT_EQ(read().sample_period, 2080U);
}

TEST_F(UserAccountTest, WhatIsCertainHasNoError) {
  take(4096, 9, 0);
  EXPECT_EQ(read().sample_period, 1U);
}

TEST_F(UserAccountTest, ProgramsStandOutsideOfTheKernel) {
  take(1000, 0, 6);
  const model::Trace trace = read();
  ASSERT_EQ(trace.leaves.size(), 1U);
  std::vector<std::string> names;
  for (uint32_t frame : trace.stacks[trace.leaves[0].stack]) {
    const model::TraceFrame& at = trace.frames[frame];
    names.push_back(at.symbol.empty() ? "kernel code" : at.symbol);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"kernel code", "kernel code",
                                             "[kernel]", "fill", "main"}));
}

TEST_F(UserAccountTest, WhatAnInterruptTookIsNotTheProcesss) {
  take(1000, 0, 6, {0x100, kInterruptAddress + 4});
  EXPECT_EQ(account_.sum().pages, 0);
}

}  // namespace
}  // namespace tidemark::source
