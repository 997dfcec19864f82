#include "cli/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "unit/child.h"
#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using test::Child;
using test::Line;

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

// Has begun to write the file and waits.
int write_slowly(const Line& line, const std::string& path) {
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  base::Result<PendingFile> file = PendingFile::reserve(path);
  if (!file) return 1;
  std::ofstream(file->temporary_path()) << "half";
  std::ofstream(file->temporary_path() + "-wal") << "log";
  line.say('r');
  line.rest();
  return file->keep() ? 0 : 1;
}

TEST(PendingFile, LeavesNothingBehindWhenASignalEndsIt) {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    SCOPED_TRACE(number);
    const TempFolder folder;
    const std::string path = folder.file("out");
    Child child([&](const Line& line) { return write_slowly(line, path); });
    ASSERT_EQ(child.hear(), 'r');
    EXPECT_EQ(names_in(folder_of(path)).size(), 2U);
    ::kill(child.pid(), number);
    const int status = child.wait();
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number) << "its parent must see what ended it";
    EXPECT_TRUE(names_in(folder_of(path)).empty());
  }
}

TEST(PendingFile, KeepsIgnoringASignalThatIsIgnored) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  Child child([&](const Line& line) {
    ::signal(SIGHUP, SIG_IGN);
    return write_slowly(line, path);
  });
  ASSERT_EQ(child.hear(), 'r');
  ::kill(child.pid(), SIGHUP);
  test::sleep_ms(20);
  child.hang_up();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(contents(path), "half");
}

TEST(PendingFile, LetsSignalsThroughOnceItIsDone) {
  Child child([](const Line& line) {
    const TempFolder folder;
    {
      base::Result<PendingFile> file = PendingFile::reserve(folder.file("out"));
      if (!file) return 1;
    }
    line.say('r');
    line.rest();
    return 0;
  });
  ASSERT_EQ(child.hear(), 'r');
  ::kill(child.pid(), SIGTERM);
  const int status = child.wait();
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(PendingFile, TakesAwayWhatAKilledOneLeft) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  Child child([&](const Line& line) { return write_slowly(line, path); });
  ASSERT_EQ(child.hear(), 'r');
  ::kill(child.pid(), SIGKILL);
  child.wait();
  EXPECT_EQ(names_in(folder_of(path)).size(), 2U);
  ASSERT_TRUE(PendingFile::reserve(path));
  EXPECT_TRUE(names_in(folder_of(path)).empty());
}

TEST(PendingFile, TouchesNothingElse) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  Child child([](const Line&) { return 0; });
  child.wait();
  const std::string dead = std::to_string(child.pid());
  const std::set<std::string> others = {
      "out",
      "out." + std::to_string(::getppid()) + ".part",  // it lives
      "out.1.part-wal",
      "out.0" + dead + ".part",
      "out.-" + dead + ".part",
      "out." + dead + "x.part",
      "out." + dead + ".party",
      "out." + dead,
      "out." + dead + ".part.bak",
      "other." + dead + ".part",
      "out..part",
      "out.part",
      "xout." + dead + ".part",
  };
  for (const std::string& name : others)
    std::ofstream(folder.file(name)) << "kept";
  std::filesystem::create_directory(folder.file("out." + dead + ".part"));
  ASSERT_TRUE(PendingFile::reserve(path));
  std::set<std::string> left = names_in(folder_of(path));
  EXPECT_EQ(left.erase("out." + dead + ".part"), 1U) << "a folder is not ours";
  EXPECT_EQ(left, others);
}

}  // namespace
}  // namespace tidemark::cli
