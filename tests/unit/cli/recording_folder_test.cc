#include "cli/recording_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNoonNs = 1'794'830'400'000'000'000;  // 2026-11-16 12:00 UTC

class RecordingFolderTest : public testing::Test {
 protected:
  // A file of so many bytes that was written so many hours ago.
  std::string put(const std::string& name, size_t bytes, int hours_ago) const {
    const std::string path = folder_.file(name);
    std::ofstream(path) << std::string(bytes, 'x');
    fs::last_write_time(
        path, fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
    return path;
  }
  RecordingFolder taken() const {
    base::Result<RecordingFolder> folder =
        RecordingFolder::take(folder_.file(""));
    if (!folder) ADD_FAILURE() << folder.error().what;
    return std::move(*folder);
  }

  TempFolder folder_;
};

TEST_F(RecordingFolderTest, NamesAFileByWhenItBegins) {
  base::Result<RecordingFolder> folder =
      RecordingFolder::take(folder_.file("new"));
  ASSERT_TRUE(folder) << folder.error().what;
  EXPECT_EQ(folder->next_path(kNoonNs),
            folder_.file("new/tidemark-20261116T120000Z.tdm"));
}

TEST_F(RecordingFolderTest, GivesNoNameTwiceWhenTheClockWasSetBack) {
  const RecordingFolder folder = taken();
  put("tidemark-20261116T120000Z.tdm", 1, 0);
  EXPECT_TRUE(folder.next_path(kNoonNs).ends_with("Z-2.tdm"));
  put("tidemark-20261116T120000Z-2.tdm", 1, 0);
  EXPECT_TRUE(folder.next_path(kNoonNs).ends_with("Z-3.tdm"));
}

TEST_F(RecordingFolderTest, RemovesTheOldestWithTheirLogs) {
  const std::string oldest = put("tidemark-20261101T000000Z.tdm", 50, 72);
  const std::string log = put("tidemark-20261101T000000Z.tdm-wal", 50, 72);
  const std::string older = put("tidemark-20261102T000000Z.tdm", 100, 48);
  const std::string newest = put("tidemark-20261103T000000Z.tdm", 100, 24);
  base::Result<std::vector<std::string>> gone = taken().shrink(200);
  ASSERT_TRUE(gone) << gone.error().what;
  EXPECT_EQ(gone->size(), 1U);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_FALSE(fs::exists(log));
  EXPECT_TRUE(fs::exists(older));
  EXPECT_TRUE(fs::exists(newest));
}

TEST_F(RecordingFolderTest, TouchesOnlyWhatItNamed) {
  const std::string mine = put("mine.tdm", 1000, 100);
  const std::string kept = put("tidemark-incident.tdm", 1000, 100);
  put("tidemark-20261101T000000Z.tdm", 100, 1);
  base::Result<std::vector<std::string>> gone = taken().shrink(0);
  ASSERT_TRUE(gone) << gone.error().what;
  EXPECT_EQ(gone->size(), 1U);
  EXPECT_TRUE(fs::exists(mine));
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(RecordingFolderTest, IsOneRecordersAtATime) {
  const RecordingFolder first = taken();
  base::Result<RecordingFolder> second =
      RecordingFolder::take(folder_.file(""));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::Misused);
}

TEST(LimitWatch, WaitsForTheSampleAfterAFullDisk) {
  constexpr uint64_t kSecond = 1'000'000'000;
  LimitWatch watch;
  EXPECT_FALSE(watch.is_reached(true, false, 1 * kSecond))
      << "the disk is full";
  EXPECT_FALSE(watch.is_reached(true, true, 60 * kSecond)) << "just emptied";
  EXPECT_FALSE(watch.is_reached(false, true, 61 * kSecond)) << "it goes on";
  EXPECT_FALSE(watch.is_reached(true, true, 80 * kSecond));
  EXPECT_FALSE(watch.is_reached(true, true, 85 * kSecond));
  EXPECT_TRUE(watch.is_reached(true, true, 90 * kSecond));
}

}  // namespace
}  // namespace tidemark::cli
