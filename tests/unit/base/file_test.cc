#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/durable_file.h"

namespace tidemark::base {
namespace {

// A new directory, removed with what is in it.
class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tidemark_file_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    Result<Directory> opened = open_directory(path_);
    ASSERT_TRUE(opened) << opened.error().what;
    directory_ = std::move(*opened);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& contents) {
    std::ofstream(path_ + "/" + name, std::ios::binary) << contents;
  }

  std::string path_;
  Directory directory_;
};

TEST_F(File, ReadsTheWholeContents) {
  write("stat", std::string("a\0b\n", 4));
  Result<std::string> contents = read_file_at(directory_, "stat");
  ASSERT_TRUE(contents) << contents.error().what;
  EXPECT_EQ(*contents, std::string("a\0b\n", 4));
}

TEST_F(File, ReadsAnEmptyFile) {
  write("smaps", "");
  Result<std::string> contents = read_file_at(directory_, "smaps");
  ASSERT_TRUE(contents) << contents.error().what;
  EXPECT_EQ(*contents, "");
}

TEST_F(File, ReadsMoreThanTheFirstBuffer) {
  std::string large(100'003, 'x');
  large.back() = 'y';
  write("large", large);
  Result<std::string> contents = read_file_at(directory_, "large");
  ASSERT_TRUE(contents) << contents.error().what;
  EXPECT_EQ(*contents, large);
}

TEST_F(File, ReplacesWhatWasInTheBuffer) {
  write("long", "a longer text");
  write("short", "text");
  std::string buffer;
  ASSERT_TRUE(read_file_at(directory_, "long", buffer));
  ASSERT_TRUE(read_file_at(directory_, "short", buffer));
  EXPECT_EQ(buffer, "text");
}

TEST_F(File, ReadsAFileThatReportsNoSize) {
  Result<Directory> proc = open_directory("/proc/self");
  ASSERT_TRUE(proc) << proc.error().what;
  Result<std::string> contents = read_file_at(*proc, "status");
  ASSERT_TRUE(contents) << contents.error().what;
  EXPECT_NE(contents->find("\nVmRSS:"), std::string::npos);
}

TEST_F(File, NamesTheWholePathOfWhatIsMissing) {
  Result<std::string> contents = read_file_at(directory_, "42/smaps");
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error(),
            fail(ErrorKind::NotFound,
                 path_ + "/42/smaps: No such file or directory"));
}

TEST_F(File, RefusesToReadADirectory) {
  ASSERT_EQ(::mkdir((path_ + "/task").c_str(), 0700), 0);
  Result<std::string> contents = read_file_at(directory_, "task");
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().what, path_ + "/task: Is a directory");
}

TEST_F(File, OpensADirectoryBelowAnother) {
  ASSERT_EQ(::mkdir((path_ + "/42").c_str(), 0700), 0);
  write("42/comm", "zoo\n");
  Result<Directory> process = open_directory_at(directory_, "42");
  ASSERT_TRUE(process) << process.error().what;
  EXPECT_EQ(process->path, path_ + "/42");
  EXPECT_EQ(*read_file_at(*process, "comm"), "zoo\n");
}

TEST_F(File, OpensNoFileAsADirectory) {
  write("meminfo", "");
  Result<Directory> opened = open_directory_at(directory_, "meminfo");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::NotFound);
}

TEST_F(File, ReadsWhereALinkLeads) {
  ASSERT_EQ(::symlink("socket:[4711]", (path_ + "/3").c_str()), 0);
  Result<std::string> target = read_link_at(directory_, "3");
  ASSERT_TRUE(target) << target.error().what;
  EXPECT_EQ(*target, "socket:[4711]");
}

TEST_F(File, ListsNamesWithoutTheDots) {
  write("b", "");
  write("a", "");
  Result<std::vector<std::string>> names = list_directory(directory_);
  ASSERT_TRUE(names) << names.error().what;
  std::ranges::sort(*names);
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
}

TEST_F(File, ListsTheSameDirectoryTwice) {
  write("a", "");
  ASSERT_TRUE(list_directory(directory_));
  Result<std::vector<std::string>> again = list_directory(directory_);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->size(), 1U);
}

TEST_F(File, KnowsWhatExists) {
  write("a", "");
  EXPECT_TRUE(exists_at(directory_, "a"));
  EXPECT_FALSE(exists_at(directory_, "b"));
}

TEST_F(File, JoinsWithOneSlash) {
  EXPECT_EQ((Directory{Fd(), "/proc"}).join("1"), "/proc/1");
  EXPECT_EQ((Directory{Fd(), "/"}).join("proc"), "/proc");
  EXPECT_EQ((Directory{Fd(), "."}).join("/etc/token"), "/etc/token")
      << "openat() takes it so";
}

TEST(Fd, ClosesWhatItOwns) {
  int number = -1;
  {
    Fd fd(::dup(0));
    number = fd.get();
    ASSERT_TRUE(fd);
  }
  EXPECT_EQ(::close(number), -1) << "it was still open";
}

TEST(Fd, MovingLeavesNothingBehind) {
  Fd first(::dup(0));
  const int number = first.get();
  Fd second = std::move(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
}

TEST_F(File, IsReplacedDurablyInOnePiece) {
  const std::string path = path_ + "/report";
  ASSERT_TRUE(replace_file_durably(path, "old"));
  // Whoever has the old one open keeps it whole.
  std::ifstream reader(path);
  ASSERT_TRUE(replace_file_durably(path, "new"));
  std::string old;
  reader >> old;
  EXPECT_EQ(old, "old");
  EXPECT_EQ(*read_file_at(directory_, "report"), "new");
  EXPECT_EQ(list_directory(directory_)->size(), 1U) << "nothing is left beside";
  EXPECT_FALSE(replace_file_durably(path_ + "/no/such/folder", "x"));
}

TEST_F(File, BehindALinkIsReplacedAndTheLinkStays) {
  write("target", "old");
  std::filesystem::create_symlink(path_ + "/target", path_ + "/link");
  ASSERT_TRUE(replace_file(path_ + "/link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path_ + "/link"));
  EXPECT_EQ(*read_file_at(directory_, "target"), "new");
}

TEST_F(File, NoPipeDeviceOrFolderIsReplaced) {
  const std::string pipe = path_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, path_ + "/link");
  for (const std::string& path : {pipe, path_ + "/link", path_}) {
    EXPECT_FALSE(can_replace_file(path)) << path;
    EXPECT_FALSE(replace_file(path, "x")) << path;
    EXPECT_FALSE(replace_file_durably(path, "x")) << path;
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_FALSE(can_replace_file("/dev/null"));
  EXPECT_TRUE(can_replace_file(path_ + "/nothing yet"));
  EXPECT_EQ(list_directory(directory_)->size(), 2U) << "nothing is left beside";
}

}  // namespace
}  // namespace tidemark::base
