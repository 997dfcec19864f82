#include "source/low_history.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemark::source {
namespace {

using Holding = LowHistory::Holding;

void look(LowHistory& history, uint64_t at, uint64_t pages) {
  const Holding holdings[] = {{7, pages}};
  history.look(at, holdings);
}

TEST(LowHistory, KeepsTheFewestOfEachStretch) {
  LowHistory history(10);
  look(history, 0, 5);
  look(history, 5, 3);
  look(history, 9, 8);
  look(history, 12, 9);
  look(history, 20, 4);
  EXPECT_EQ(history.lows_of(7), (std::vector<uint64_t>{3, 9}))
      << "the stretch that has begun is not over";
}

TEST(LowHistory, WhatCameLateHeldNothingBefore) {
  LowHistory history(10);
  look(history, 25, 6);
  look(history, 31, 7);
  EXPECT_EQ(history.lows_of(7), (std::vector<uint64_t>{0, 0, 6}));
}

TEST(LowHistory, AStretchWithoutALookIsAsTheOneBefore) {
  LowHistory history(10);
  look(history, 5, 6);
  look(history, 35, 9);
  EXPECT_EQ(history.lows_of(7), (std::vector<uint64_t>{6, 6, 6}));
}

TEST(LowHistory, JoinsStretchesInsteadOfGrowing) {
  LowHistory history(10);
  for (uint64_t at = 0; at < 10'000; at += 5)
    look(history, at, 100'000 - at);
  const std::vector<uint64_t> lows = history.lows_of(7);
  EXPECT_LE(lows.size(), 32U);
  EXPECT_GE(lows.size(), 8U);
  EXPECT_GT(history.stretch_ns(), 10U);
  // Each is the last look of its stretch, since it only falls.
  for (size_t i = 0; i < lows.size(); ++i) {
    const uint64_t end = (i + 1) * history.stretch_ns();
    EXPECT_EQ(lows[i], 100'000 - (end - 5));
  }
}

TEST(LowHistory, SaysWhenWhatItSaysIsAnother) {
  LowHistory history(10);
  look(history, 0, 5);
  look(history, 12, 5);
  const uint64_t before = history.version();
  look(history, 17, 3);
  EXPECT_EQ(history.version(), before) << "the stretch is not over";
  look(history, 21, 3);
  EXPECT_NE(history.version(), before);
  const uint64_t between = history.version();
  history.forget(7);
  EXPECT_NE(history.version(), between);
}

TEST(LowHistory, KnowsNothingOfOthers) {
  LowHistory history(10);
  look(history, 0, 5);
  look(history, 11, 5);
  EXPECT_TRUE(history.lows_of(8).empty());
}

}  // namespace
}  // namespace tidemark::source
