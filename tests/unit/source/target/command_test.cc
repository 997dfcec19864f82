#include "source/target/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "unit/child.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using test::TemporaryTree;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

CommandSpec spec_of(std::vector<std::string> arguments) {
  CommandSpec spec;
  spec.arguments = std::move(arguments);
  sigemptyset(&spec.signal_mask);
  return spec;
}

CommandSpec shell(const std::string& script) {
  return spec_of({"sh", "-c", script});
}

Command prepared(const CommandSpec& spec) {
  base::Result<Command> command = Command::prepare(spec);
  EXPECT_TRUE(command) << command.error().what;
  return std::move(*command);
}

Ending ending_of(Command& command) {
  pollfd waiting{command.end_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, test::kPatienceMs), 1);
  const std::optional<Ending> ending = command.ending();
  EXPECT_TRUE(ending);
  return ending.value_or(Ending());
}

// Lets it run to its end.
Ending run(const CommandSpec& spec) {
  Command command = prepared(spec);
  const base::Status status = command.release();
  EXPECT_TRUE(status) << status.error().what;
  return ending_of(command);
}

// Folders of the PATH that this user may not enter would make it a denial, as
// they do for env(1).
class OpenPath {
 public:
  OpenPath() : before_(::getenv("PATH")) {
    ::setenv("PATH", "/usr/bin:/bin", 1);
  }
  OpenPath(const OpenPath&) = delete;
  OpenPath& operator=(const OpenPath&) = delete;
  ~OpenPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

base::Error failure(const CommandSpec& spec) {
  const OpenPath path;
  Command command = prepared(spec);
  const base::Status status = command.release();
  EXPECT_FALSE(status) << "it ran";
  return status ? base::fail(ErrorKind::System, "it ran") : status.error();
}

// What it writes to standard output.
std::string output_of(CommandSpec spec) {
  const TemporaryTree folder;
  spec.output_path = folder.path("output");
  EXPECT_EQ(run(spec).wait_status, 0);
  return contents(spec.output_path);
}

// ---- how it ends ------------------------------------------------------------

TEST(Command, EndsWithItsStatus) {
  const Ending ending = run(shell("exit 3"));
  EXPECT_EQ(WEXITSTATUS(ending.wait_status), 3);
  EXPECT_GT(ending.max_rss_bytes, 0U);
}

TEST(Command, EndsByItsSignal) {
  const int status = run(shell("kill -9 $$")).wait_status;
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(Command, HasNoEndingWhileItRuns) {
  Command command = prepared(shell("sleep 5"));
  ASSERT_TRUE(command.release());
  EXPECT_FALSE(command.ending());
  ::kill(command.pid(), SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(ending_of(command).wait_status));
}

TEST(Command, EndsOnce) {
  Command command = prepared(shell(":"));
  ASSERT_TRUE(command.release());
  ending_of(command);
  EXPECT_FALSE(command.ending());
}

TEST(Command, IsOneProcessFromForkToEnd) {
  Command command = prepared(shell(":"));
  const pid_t pid = command.pid();
  Command moved = std::move(command);
  EXPECT_EQ(moved.pid(), pid);
  ASSERT_TRUE(moved.release());
  EXPECT_EQ(ending_of(moved).wait_status, 0);
}

// ---- that cannot be run -----------------------------------------------------

TEST(Command, ThatIsNotThereIsNotFound) {
  EXPECT_EQ(failure(spec_of({"tidemark-no-such-program"})),
            base::fail(ErrorKind::NotFound,
                       "cannot run 'tidemark-no-such-program': No such file "
                       "or directory"));
}

TEST(Command, BelowAFileIsNotFound) {
  EXPECT_EQ(failure(spec_of({"/etc/passwd/program"})).kind,
            ErrorKind::NotFound);
}

TEST(Command, WithoutTheRightIsDenied) {
  const TemporaryTree folder;
  folder.add("plain", "#!/bin/sh\n");
  const std::string path = folder.path("plain");
  EXPECT_EQ(failure(spec_of({path})),
            base::fail(ErrorKind::Denied,
                       "cannot run '" + path + "': Permission denied"));
}

TEST(Command, ThatIsADirectoryIsDenied) {
  EXPECT_EQ(failure(spec_of({"/etc"})).kind, ErrorKind::Denied);
}

TEST(Command, ThatIsAnEmptyWordIsNotFound) {
  EXPECT_EQ(failure(spec_of({""})).kind, ErrorKind::NotFound);
}

TEST(Command, AHostileNameCannotControlTheTerminal) {
  EXPECT_EQ(failure(spec_of({"no\n\x1b[2J"})).what,
            "cannot run 'no\\n\\x1b[2J': No such file or directory");
}

TEST(Command, ThatFailedHasNoEnding) {
  Command command = prepared(spec_of({"tidemark-no-such-program"}));
  ASSERT_FALSE(command.release());
  EXPECT_FALSE(command.ending());
}

// ---- before it runs ---------------------------------------------------------

TEST(Command, WaitsUntilItIsReleased) {
  const TemporaryTree folder;
  const std::string trace = folder.path("trace");
  Command command = prepared(spec_of({"touch", trace}));
  test::sleep_ms(20);
  EXPECT_FALSE(std::filesystem::exists(trace));
  EXPECT_EQ(::kill(command.pid(), 0), 0) << "it is there already";
  ASSERT_TRUE(command.release());
  ending_of(command);
  EXPECT_TRUE(std::filesystem::exists(trace));
}

TEST(Command, ThatIsNeverReleasedNeverRuns) {
  const TemporaryTree folder;
  const std::string trace = folder.path("trace");
  pid_t pid = 0;
  {
    const Command command = prepared(spec_of({"touch", trace}));
    pid = command.pid();
  }
  EXPECT_FALSE(std::filesystem::exists(trace));
  EXPECT_NE(::kill(pid, 0), 0) << "and leaves no process behind";
}

// The tool is killed between fork and release.
TEST(Command, DoesNotRunWhenWhoPreparedItDies) {
  const TemporaryTree folder;
  const std::string trace = folder.path("trace");
  test::Child tool([&](const test::Line& line) {
    const Command command = prepared(spec_of({"touch", trace}));
    line.say('!');
    line.rest();
    return 0;
  });
  ASSERT_EQ(tool.hear(), '!');
  ::kill(tool.pid(), SIGKILL);
  tool.wait();
  test::sleep_ms(20);
  EXPECT_FALSE(std::filesystem::exists(trace));
}

// ---- what it is given -------------------------------------------------------

TEST(Command, GetsItsArgumentsAsTheyAre) {
  EXPECT_EQ(output_of(spec_of({"printf", "%s|", "", "a b", "-x", "\xff\n"})),
            "|a b|-x|\xff\n|");
}

TEST(Command, WritesToTheFilesItIsGiven) {
  const TemporaryTree folder;
  CommandSpec spec = shell("echo out; echo err >&2");
  spec.output_path = folder.path("output");
  spec.error_path = folder.path("error");
  folder.add("output", "what was there before");
  run(spec);
  EXPECT_EQ(contents(spec.output_path), "out\n");
  EXPECT_EQ(contents(spec.error_path), "err\n");
  struct stat info {};
  ASSERT_EQ(::stat(spec.error_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(Command, AFileThatCannotBeWrittenFailsBeforeAnythingRuns) {
  CommandSpec spec = shell(":");
  spec.output_path = "/nonexistent/output";
  const base::Result<Command> command = Command::prepare(spec);
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error(),
            base::fail(ErrorKind::NotFound,
                       "cannot write /nonexistent/output: No such file or "
                       "directory"));
}

// A line of /proc/self/status: hexadecimal, signal 1 in the lowest bit.
std::string signals_of(CommandSpec spec, const std::string& label) {
  spec.arguments = {"sed", "-n", "s/^" + label + ":.//p", "/proc/self/status"};
  return output_of(std::move(spec));
}

TEST(Command, StartsWithTheMaskItIsGiven) {
  CommandSpec spec = spec_of({});
  EXPECT_EQ(signals_of(spec, "SigBlk"), "0000000000000000\n");
  sigaddset(&spec.signal_mask, SIGUSR1);
  EXPECT_EQ(signals_of(spec, "SigBlk"), "0000000000000200\n");
}

TEST(Command, IgnoresBrokenPipesOnlyIfWeWereStartedSo) {
  // As main does.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  CommandSpec spec = spec_of({});
  constexpr uint64_t kPipe = uint64_t{1} << (SIGPIPE - 1);
  const auto ignored = [&] {
    return std::stoull(signals_of(spec, "SigIgn"), nullptr, 16);
  };
  EXPECT_EQ(ignored() & kPipe, 0U);
  spec.ignores_broken_pipe = true;
  EXPECT_EQ(ignored() & kPipe, kPipe);
  std::signal(SIGPIPE, before);
}

TEST(Command, InheritsNoDescriptorOfOurs) {
  std::string script;
  std::string inherited;
  for (int fd = 3; fd < 40; ++fd) {
    const std::string number = std::to_string(fd);
    script += "[ -e /proc/$$/fd/" + number + " ] && echo " + number + ";";
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited += number + "\n";
  }
  EXPECT_EQ(output_of(shell(script + ":")), inherited)
      << "only what our own parent left open";
}

}  // namespace
}  // namespace tidemark::source
