#include "watch/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"

namespace tidemark::watch {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kMinute = 60'000 * kMillisecond;

bool is_held_back(int signal) {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(StopSignals, ReturnsTheSignalThatCame) {
  base::Result<StopSignals> stop = StopSignals::block();
  ASSERT_TRUE(stop) << stop.error().what;
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ::kill(::getpid(), signal);
    EXPECT_EQ(stop->wait_until(base::monotonic_ns() + kMinute), WaitEnd::Stop)
        << signal;
  }
}

TEST(StopSignals, ReturnsASignalThatCameBeforeItsTimePassed) {
  base::Result<StopSignals> stop = StopSignals::block();
  ASSERT_TRUE(stop) << stop.error().what;
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(stop->wait_until(0), WaitEnd::Stop)
      << "a late loop must still notice that it is to stop";
}

TEST(StopSignals, WaitsUntilItsTime) {
  base::Result<StopSignals> stop = StopSignals::block();
  ASSERT_TRUE(stop) << stop.error().what;
  const uint64_t until = base::monotonic_ns() + 20 * kMillisecond;
  EXPECT_EQ(stop->wait_until(until), WaitEnd::Due);
  EXPECT_GE(base::monotonic_ns(), until);
}

TEST(StopSignals, DoesNotWaitForATimeThatHasPassed) {
  base::Result<StopSignals> stop = StopSignals::block();
  ASSERT_TRUE(stop) << stop.error().what;
  EXPECT_EQ(stop->wait_until(0), WaitEnd::Due);
}

TEST(StopSignals, BlocksWhileItLivesAndRestoresTheMask) {
  ASSERT_FALSE(is_held_back(SIGINT));
  {
    base::Result<StopSignals> stop = StopSignals::block();
    ASSERT_TRUE(stop) << stop.error().what;
    EXPECT_TRUE(is_held_back(SIGINT));
  }
  EXPECT_FALSE(is_held_back(SIGINT));
}

TEST(StopSignals, LeavesASignalBlockedThatWasBlockedBefore) {
  sigset_t quit;
  sigset_t before;
  sigemptyset(&quit);
  sigaddset(&quit, SIGQUIT);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &quit, &before), 0);
  { ASSERT_TRUE(StopSignals::block()); }
  EXPECT_TRUE(is_held_back(SIGQUIT));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(StopSignals, RestoresTheMaskOnceWhenMoved) {
  {
    base::Result<StopSignals> stop = StopSignals::block();
    ASSERT_TRUE(stop) << stop.error().what;
    {
      const StopSignals moved = std::move(*stop);
      EXPECT_TRUE(is_held_back(SIGINT)) << "the end of the empty one is no end";
    }
    EXPECT_FALSE(is_held_back(SIGINT));
  }
  EXPECT_FALSE(is_held_back(SIGINT));
}

TEST(StopSignals, OutlivesAHangUpThatWasIgnoredWhenItBegan) {
  void (*before)(int) = ::signal(SIGHUP, SIG_IGN);
  {
    base::Result<StopSignals> stop = StopSignals::block();
    ASSERT_TRUE(stop) << stop.error().what;
    ::kill(::getpid(), SIGHUP);
    EXPECT_EQ(stop->wait_until(base::monotonic_ns() + 20 * kMillisecond),
              WaitEnd::Due);
    ::kill(::getpid(), SIGTERM);
    EXPECT_EQ(stop->wait_until(base::monotonic_ns() + kMinute), WaitEnd::Stop);
  }
  ::signal(SIGHUP, before);
}

}  // namespace
}  // namespace tidemark::watch
