#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

namespace tidemark::base {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

Fd some_file() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(Fd, HasNothingAtFirst) {
  const Fd fd;
  EXPECT_FALSE(fd);
  EXPECT_EQ(fd.get(), -1);
}

TEST(Fd, ClosesWhatItHas) {
  int number = -1;
  {
    const Fd fd = some_file();
    ASSERT_TRUE(fd);
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, ZeroIsADescriptor) {
  Fd fd(0);
  EXPECT_TRUE(fd);
  EXPECT_EQ(fd.release(), 0) << "or standard input would be closed";
}

TEST(Fd, MovingLeavesOneOwner) {
  Fd first = some_file();
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what this is about
  EXPECT_TRUE(is_open(number));
  static_assert(!std::is_copy_constructible_v<Fd>);
  static_assert(!std::is_copy_assignable_v<Fd>);
}

TEST(Fd, AssigningClosesWhatWasThereInTheEnd) {
  Fd target = some_file();
  const int before = target.get();
  int after = -1;
  {
    Fd source = some_file();
    after = source.get();
    target = std::move(source);
  }
  EXPECT_EQ(target.get(), after);
  EXPECT_TRUE(is_open(after));
  EXPECT_FALSE(is_open(before));
}

TEST(Fd, ReleasingGivesItAway) {
  int number = -1;
  {
    Fd fd = some_file();
    number = fd.release();
    EXPECT_FALSE(fd);
  }
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace tidemark::base
