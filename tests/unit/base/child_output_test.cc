#include "base/child_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "base/fd.h"

namespace tidemark::base {
namespace {

using std::chrono::milliseconds;

TEST(ChildOutput, TakesWhatIsPrintedAndHowItEnded) {
  const Result<ChildOutput> child =
      run_child("/bin/sh", {"-c", "cat; echo out; echo err >&2; exit 3"}, {});
  ASSERT_TRUE(child) << child.error().what;
  EXPECT_EQ(child->output, "out\n");
  EXPECT_EQ(child->errors, "err\n");
  EXPECT_EQ(WEXITSTATUS(child->wait_status), 3);
}

TEST(ChildOutput, TakesALotFromBothAtOnce) {
  const Result<ChildOutput> child = run_child(
      "/bin/sh",
      {"-c", "head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero"}, {});
  ASSERT_TRUE(child) << child.error().what;
  EXPECT_EQ(child->output.size(), 3'000'000U);
  EXPECT_EQ(child->errors.size(), 64U << 10U);
}

TEST(ChildOutput, EndsOneThatTakesTooLong) {
  const Result<ChildOutput> child =
      run_child("/bin/sleep", {"60"}, {milliseconds(50), 1000});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::Gone);
}

TEST(ChildOutput, EndsOneThatPrintsTooMuch) {
  const Result<ChildOutput> child =
      run_child("/usr/bin/yes", {}, {milliseconds(10'000), 1000});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::Gone);
  const Result<ChildOutput> just =
      run_child("/bin/sh", {"-c", "printf 12345"}, {milliseconds(10'000), 5});
  ASSERT_TRUE(just);
  EXPECT_EQ(just->output, "12345");
}

TEST(ChildOutput, EndsOneThatIsNotWantedAnyMore) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd read(ends[0]);
  Fd write(ends[1]);
  std::thread closes([&] {
    std::this_thread::sleep_for(milliseconds(50));
    write = Fd();
  });
  const auto began = std::chrono::steady_clock::now();
  const Result<ChildOutput> child =
      run_child("/bin/sleep", {"60"}, {milliseconds(60'000), 5, read.get()});
  closes.join();
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::Gone);
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(30'000));
}

TEST(ChildOutput, SaysWhenThereIsNoSuchProgram) {
  const Result<ChildOutput> child = run_child("/nowhere/at/all", {}, {});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::NotFound);
}

}  // namespace
}  // namespace tidemark::base
