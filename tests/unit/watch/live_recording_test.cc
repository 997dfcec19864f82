#include "watch/live_recording.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

namespace tidemark::watch {
namespace {

namespace fs = std::filesystem;

bool comes_true(const auto& holds) {
  for (int i = 0; i < 200; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// A script stands in for the recorder: it writes its words to the file it was
// given last, and ends when it is asked to.
class LiveRecordingTest : public testing::Test {
 protected:
  LiveRecordingTest() {
    script_ = testing::TempDir() + "recorder-" + std::to_string(::getpid());
    std::FILE* file = std::fopen(script_.c_str(), "we");
    std::fputs(
        "#!/bin/sh\n"
        "for last; do :; done\n"
        "trap 'exit 0' TERM\n"
        "echo \"$@\" > \"$last\"\n"
        "[ \"$2\" = short ] && exit 3\n"
        "while :; do sleep 0.02; done\n",
        file);
    std::fclose(file);
    ::chmod(script_.c_str(), 0700);
  }
  ~LiveRecordingTest() override { ::unlink(script_.c_str()); }

  std::string script_;
};

TEST_F(LiveRecordingTest, GoesWithItsFolder) {
  std::string folder;
  {
    base::Result<LiveRecording> live =
        LiveRecording::start({script_, {"--all"}, ""});
    ASSERT_TRUE(live) << live.error().what;
    EXPECT_TRUE(comes_true([&] { return fs::exists(live->path()); }));
    folder = fs::path(live->path()).parent_path().string();
    EXPECT_FALSE(live->ending());
    struct stat status {};
    ASSERT_EQ(::stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(LiveRecordingTest, StaysWhereItIsAskedTo) {
  const std::string path = script_ + ".tdm";
  {
    base::Result<LiveRecording> live =
        LiveRecording::start({script_, {"42"}, path});
    ASSERT_TRUE(live);
    EXPECT_EQ(live->path(), path);
    EXPECT_TRUE(comes_true([&] { return fs::exists(path); }));
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

TEST_F(LiveRecordingTest, TellsHowItEnded) {
  base::Result<LiveRecording> live =
      LiveRecording::start({script_, {"short"}, ""});
  ASSERT_TRUE(live);
  EXPECT_TRUE(comes_true([&] { return live->ending().has_value(); }));
  EXPECT_EQ(WEXITSTATUS(*live->ending()), 3);
}

}  // namespace
}  // namespace tidemark::watch
