#include "cli/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

constexpr std::chrono::milliseconds kOverASecond{1010};

TEST(Progress, IsSilentInTheFirstSecond) {
  const Terminal terminal;
  {
    const Redirect redirect(STDERR_FILENO, terminal.fd());
    Progress progress("reading processes", false);
    progress.update(1, 10);
  }
  EXPECT_EQ(terminal.shown(), "");
}

// One wait for all three, because the set of unit tests is to stay quick.
TEST(Progress, AfterASecondOnlyATerminalThatWantsItIsToldAndWiped) {
  const Terminal terminal;
  std::string shown_meanwhile;
  std::string in_file;
  {
    const Redirect redirect(STDERR_FILENO, terminal.fd());
    Progress loud("reading processes", false);
    Progress quiet("not shown", true);
    in_file = written_to(STDERR_FILENO, [&] {
      Progress to_file("not a terminal", false);
      std::this_thread::sleep_for(kOverASecond);
      to_file.update(1, 10);
    });
    quiet.update(1, 10);
    loud.update(3, 10);
    loud.update(4, 10);  // too soon to draw again
    shown_meanwhile = terminal.shown();
  }
  EXPECT_EQ(in_file, "");
  EXPECT_EQ(shown_meanwhile, "\r\x1b[Ktidemark: reading processes 3 of 10");
  EXPECT_EQ(terminal.shown(), "\r\x1b[K");
}

}  // namespace
}  // namespace tidemark::cli
