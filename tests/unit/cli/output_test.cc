#include "cli/output.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

TEST(Output, AFileHoldsAllThatWasWritten) {
  const TempFolder folder;
  base::Result<Output> output = Output::open(folder.file("out"));
  ASSERT_TRUE(output) << output.error().what;
  ASSERT_TRUE(output->write("one\n"));
  ASSERT_TRUE(output->write("two\n"));
  EXPECT_EQ(contents(folder.file("out")), "one\ntwo\n");
}

TEST(Output, AFileIsTruncatedBeforeTheWork) {
  const TempFolder folder;
  std::ofstream(folder.file("out")) << "what was there before";
  ASSERT_TRUE(Output::open(folder.file("out")));
  EXPECT_EQ(contents(folder.file("out")), "");
}

TEST(Output, BehindWhatWasThere) {
  const TempFolder folder;
  for (const char* text : {"one\n", "two\n"}) {
    base::Result<Output> output = Output::open_behind(folder.file("out"));
    ASSERT_TRUE(output) << output.error().what;
    ASSERT_TRUE(output->write(text));
  }
  EXPECT_EQ(contents(folder.file("out")), "one\ntwo\n");
}

TEST(Output, EmptyAndDashAreStandardOutput) {
  for (const char* path : {"", "-"}) {
    EXPECT_EQ(written_to(STDOUT_FILENO,
                         [&] {
                           base::Result<Output> output = Output::open(path);
                           ASSERT_TRUE(output);
                           EXPECT_TRUE(output->write("data"));
                         }),
              "data")
        << path;
  }
}

TEST(Output, ADashMakesNoFile) {
  ASSERT_TRUE(Output::open("-"));
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(Output, APathThatCannotBeMadeFailsAtOnce) {
  const TempFolder folder;
  base::Result<Output> output = Output::open(folder.file("none/out"));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error(),
            base::fail(ErrorKind::NotFound, "cannot write " +
                                                folder.file("none/out") +
                                                ": No such file or directory"));
}

TEST(Output, ADirectoryIsNoFile) {
  const TempFolder folder;
  base::Result<Output> output = Output::open(folder.file(""));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::System);
}

TEST(Output, AFullDiskIsSaidToBeFull) {
  base::Result<Output> output = Output::open("/dev/full");
  ASSERT_TRUE(output) << output.error().what;
  base::Status status = output->write("data");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            base::fail(ErrorKind::NoSpace,
                       "cannot write /dev/full: No space left on device"));
}

TEST(Output, AReaderThatHasGoneClosesIt) {
  // As main does: the failing write tells.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  base::Result<Output> output =
      Output::open("/proc/self/fd/" + std::to_string(ends[1]));
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_TRUE(output) << output.error().what;
  base::Status status = output->write("data");
  std::signal(SIGPIPE, before);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Closed);
}

TEST(Output, AStandardOutputThatCannotBeWrittenFailsAtOnce) {
  const base::Fd null(::open("/dev/null", O_RDONLY));
  std::string what;
  {
    const Redirect redirect(STDOUT_FILENO, null.get());
    base::Result<Output> output = Output::open("");
    what = output ? "opened" : output.error().what;
  }
  EXPECT_EQ(what, "cannot write standard output: Bad file descriptor");
}

TEST(Output, StandardErrorIsWrittenWhereTalkGoes) {
  EXPECT_EQ(written_to(STDOUT_FILENO,
                       [] {
                         EXPECT_EQ(
                             written_to(STDERR_FILENO,
                                        [] {
                                          Output output =
                                              Output::standard_error();
                                          EXPECT_TRUE(output.write("report\n"));
                                        }),
                             "report\n");
                       }),
            "");
}

TEST(Output, StandardErrorIsDescriptorTwo) {
  EXPECT_EQ(Output::standard_error().fd(), STDERR_FILENO)
      << "whether it is a terminal decides on colour";
}

TEST(Output, AClosedStandardErrorIsAnError) {
  const base::Fd null(::open("/dev/null", O_RDONLY));
  std::string what;
  {
    const Redirect redirect(STDERR_FILENO, null.get());
    base::Status status = Output::standard_error().write("report\n");
    what = status ? "written" : status.error().what;
  }
  EXPECT_EQ(what, "cannot write standard error: Bad file descriptor");
}

TEST(BrokenPipes, AreRememberedAsWeWereStarted) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  ignore_broken_pipes();
  EXPECT_TRUE(were_broken_pipes_ignored());
  std::signal(SIGPIPE, SIG_DFL);
  ignore_broken_pipes();
  EXPECT_FALSE(were_broken_pipes_ignored());
  EXPECT_EQ(std::signal(SIGPIPE, before), SIG_IGN) << "from then on they are";
}

TEST(WriteStderr, WritesToStandardError) {
  EXPECT_EQ(written_to(STDERR_FILENO, [] { write_stderr("talk\n"); }),
            "talk\n");
}

}  // namespace
}  // namespace tidemark::cli
