#include "cli/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using Names = std::set<std::string>;

class OutputFile : public testing::Test {
 protected:
  std::string put(const std::string& name, std::string_view text) const {
    const std::string path = folder_.file(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Names names() const {
    Names found;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_.file(""))) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  std::string path() const { return folder_.file("a.tdm"); }

  TempFolder folder_;
};

// ---- room

TEST_F(OutputFile, AFileMustBeNamedAndTheExampleSaysHow) {
  for (const char* word : {"", "-"}) {
    const base::Status status = check_room(word, true, "do it so");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error(),
              base::fail(ErrorKind::Misused, "no file to write to was named",
                         "do it so"));
  }
}

TEST_F(OutputFile, ThereIsRoomWhereNothingOrAnEmptyFileIs) {
  EXPECT_TRUE(check_room(path(), false, ""));
  EXPECT_TRUE(check_room(put("empty", ""), false, ""));
}

TEST_F(OutputFile, AFileWithContentsIsKeptUnlessAsked) {
  put("a.tdm", "precious");
  const base::Status status = make_room(path(), false, "");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            base::fail(ErrorKind::Misused, path() + ": it exists already",
                       "give another name, or --overwrite"));
  EXPECT_EQ(contents(path()), "precious");
  EXPECT_TRUE(check_room(path(), true, ""));
  EXPECT_EQ(contents(path()), "precious") << "asking removes nothing";
}

TEST_F(OutputFile, WhatIsNoFileIsRefusedEvenWhenAsked) {
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string folder = folder_.file("folder");
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  for (const std::string& odd : {pipe, folder, std::string("/dev/null")}) {
    const base::Status status = make_room(odd, true, "");
    ASSERT_FALSE(status) << odd;
    EXPECT_EQ(status.error(),
              base::fail(ErrorKind::Misused, odd + ": not a regular file"));
    EXPECT_TRUE(std::filesystem::exists(odd));
  }
}

TEST_F(OutputFile, RoomIsMadeWithTheLogsAndNothingElse) {
  for (const char* name :
       {"a.tdm", "a.tdm-wal", "a.tdm-shm", "a.tdm-journal"}) {
    put(name, "old");
  }
  put("a.tdm2", "another");
  put("a.tdm-notes", "a stranger's");
  const base::Status status = make_room(path(), true, "");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(names(), (Names{"a.tdm-notes", "a.tdm2"}));
}

// A log without its file would be played into the new one.
TEST_F(OutputFile, ALogThatWasLeftAloneGoesToo) {
  put("a.tdm-wal", "old");
  const base::Status status = make_room(path(), false, "");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(names(), Names());
}

// ---- apart

TEST_F(OutputFile, OneFileUnderAnyNameIsNotWrittenOverWhileRead) {
  put("a.tdm", "precious");
  const std::string hard = folder_.file("hard");
  const std::string soft = folder_.file("soft");
  ASSERT_EQ(::link(path().c_str(), hard.c_str()), 0);
  ASSERT_EQ(::symlink(path().c_str(), soft.c_str()), 0);
  for (const std::string& other :
       {path(), hard, soft, folder_.file("./a.tdm")}) {
    const base::Status status = check_apart(path(), other);
    ASSERT_FALSE(status) << other;
    EXPECT_EQ(status.error(),
              base::fail(ErrorKind::Misused,
                         other + ": cannot write over what is read"));
  }
}

TEST_F(OutputFile, TwoFilesAreApartAlsoWithTheSameContents) {
  put("a.tdm", "same");
  EXPECT_TRUE(check_apart(path(), put("b.tdm", "same")));
  EXPECT_TRUE(check_apart(path(), folder_.file("none")));
  EXPECT_TRUE(check_apart(path(), ""));
}

// ---- pending

PendingFile reserved(const std::string& path) {
  base::Result<PendingFile> file = PendingFile::reserve(path);
  EXPECT_TRUE(file) << file.error().what;
  return std::move(*file);
}

void write(const PendingFile& file, std::string_view text) {
  std::ofstream(file.temporary_path(), std::ios::binary) << text;
}

TEST_F(OutputFile, WithoutKeepNothingIsLeftAndTheOldOneStays) {
  put("a.tdm", "old");
  {
    const PendingFile file = reserved(path());
    write(file, "new");
    std::ofstream(file.temporary_path() + "-wal") << "log";
    EXPECT_EQ(contents(path()), "old") << "until it is whole";
  }
  EXPECT_EQ(names(), Names{"a.tdm"});
  EXPECT_EQ(contents(path()), "old");
}

TEST_F(OutputFile, ReservingLeavesNoFileForOthersToFind) {
  const PendingFile file = reserved(path());
  EXPECT_EQ(names(), Names());
}

TEST_F(OutputFile, KeepPutsItInThePlaceOfTheOldOneAndItsLogs) {
  for (const char* name : {"a.tdm", "a.tdm-wal", "a.tdm-shm"})
    put(name, "old");
  {
    PendingFile file = reserved(path());
    write(file, "new");
    const base::Status status = file.keep();
    ASSERT_TRUE(status) << status.error().what;
  }
  EXPECT_EQ(names(), Names{"a.tdm"});
  EXPECT_EQ(contents(path()), "new");
}

TEST_F(OutputFile, WhatWasMovedFromRemovesNothing) {
  std::optional<PendingFile> first(reserved(path()));
  PendingFile second(std::move(*first));
  write(second, "new");
  first.reset();
  const base::Status status = second.keep();
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(contents(path()), "new");
}

TEST_F(OutputFile, WhatAnotherOfOurNumberLeftIsNoHindrance) {
  const std::string left = reserved(path()).temporary_path();
  std::ofstream(left) << "of a process that was killed";
  std::ofstream(left + "-journal") << "and its log";
  PendingFile file = reserved(path());
  EXPECT_EQ(names(), Names());
  write(file, "new");
  EXPECT_TRUE(file.keep());
  EXPECT_EQ(contents(path()), "new");
}

TEST_F(OutputFile, APlaceThatCannotBeWrittenIsToldUnderItsOwnName) {
  const std::string nowhere = folder_.file("none/a.tdm");
  const base::Result<PendingFile> file = PendingFile::reserve(nowhere);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().what,
            "cannot write " + nowhere + ": No such file or directory");
}

TEST_F(OutputFile, WhatCannotGetItsNameIsNotLeftUnderAnother) {
  {
    PendingFile file = reserved(path());
    write(file, "new");
    ASSERT_EQ(::mkdir(path().c_str(), 0700), 0) << "in the meantime";
    const base::Status status = file.keep();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().what,
              "cannot write " + path() + ": Is a directory");
  }
  EXPECT_EQ(names(), Names{"a.tdm"});
}

}  // namespace
}  // namespace tidemark::cli
