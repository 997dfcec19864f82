#include "base/shares.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <vector>

namespace tidemark::base {
namespace {

// How often each place was worked on, and the number of parts.
struct Done {
  std::vector<std::atomic<int>> times;
  std::atomic<size_t> parts = 0;
  std::atomic<size_t> smallest = SIZE_MAX;

  explicit Done(size_t count, size_t least_each) : times(count) {
    in_shares(count, least_each, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        ++times[i];
      ++parts;
      size_t seen = smallest;
      while (end - begin < seen &&
             !smallest.compare_exchange_weak(seen, end - begin)) {
      }
    });
  }
};

TEST(InShares, EverythingIsDoneOnce) {
  for (size_t count : {size_t{1}, size_t{2}, size_t{99}, size_t{1001}}) {
    const Done done(count, 10);
    for (const std::atomic<int>& times : done.times)
      EXPECT_EQ(times, 1);
    EXPECT_LE(done.parts, 4U);
  }
}

TEST(InShares, LittleIsNotParted) {
  EXPECT_EQ(Done(19, 10).parts, 1U);
  const Done more(41, 10);
  EXPECT_TRUE(more.parts == 1 || more.smallest >= 10);
}

TEST(InShares, NothingIsOneEmptyPart) {
  const Done done(0, 10);
  EXPECT_EQ(done.parts, 1U);
  EXPECT_EQ(done.smallest, 0U);
}

// Stacks of 64 TiB cannot be had, so no thread can.
TEST(InShares, WithoutThreadsTheCallerDoesItAll) {
  pthread_attr_t before;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  pthread_attr_t impossible;
  ASSERT_EQ(::pthread_attr_init(&impossible), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&impossible, size_t{1} << 46), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&impossible), 0);
  pthread_t thread{};
  const int refused = ::pthread_create(
      &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  const Done done(1000, 10);
  ASSERT_EQ(::pthread_setattr_default_np(&before), 0);
  ::pthread_attr_destroy(&impossible);
  ::pthread_attr_destroy(&before);
  EXPECT_NE(refused, 0) << "this test is about nothing";
  if (refused == 0) ::pthread_join(thread, nullptr);
  for (const std::atomic<int>& times : done.times)
    EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace tidemark::base
