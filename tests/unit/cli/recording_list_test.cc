#include "cli/recording_list.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

class RecordingListTest : public testing::Test {
 protected:
  RecordingListTest() {
    folder_ = fs::path(testing::TempDir()) /
              ("recordings-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "old");
    write("b.tdm", "1");
    write("old/a.tdm", "22");
    write("notes.txt", "3");
  }
  ~RecordingListTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  static std::vector<std::string> names(const RecordingList& list) {
    std::vector<std::string> found;
    for (const view::ServedRecording& one : list.recordings())
      found.push_back(one.name);
    return found;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(RecordingListTest, FindsThoseOfAFolderAndItsFolders) {
  base::Result<RecordingList> list = RecordingList::of({folder_.string()});
  ASSERT_TRUE(list);
  EXPECT_EQ(names(*list), (Names{"b.tdm", "old/a.tdm"}));
  EXPECT_EQ(list->recordings()[1].bytes, 2U);
  EXPECT_TRUE(list->recordings()[1].path.starts_with('/'));
}

TEST_F(RecordingListTest, NoticesWhatComesGrowsAndGoes) {
  base::Result<RecordingList> list = RecordingList::of({folder_.string()});
  ASSERT_TRUE(list);
  EXPECT_FALSE(list->look());
  write("c.tdm", "1");
  EXPECT_TRUE(list->look());
  EXPECT_EQ(list->changed_names(), (Names{"c.tdm"}));
  write("b.tdm-wal", "more");  // where SQLite writes first
  EXPECT_TRUE(list->look());
  EXPECT_EQ(list->changed_names(), (Names{"b.tdm"}));
  EXPECT_EQ(list->recordings()[0].bytes, 5U);
  fs::remove(folder_ / "c.tdm");
  EXPECT_TRUE(list->look());
  EXPECT_EQ(list->changed_names(), Names{});
}

TEST_F(RecordingListTest, PutsTheLiveOneFirstOnceItIsThere) {
  base::Result<RecordingList> list = RecordingList::of({folder_.string()});
  ASSERT_TRUE(list);
  const std::string path = (folder_ / "hidden").string();
  list->add_live(path, "live");
  list->look();
  EXPECT_EQ(names(*list), (Names{"b.tdm", "old/a.tdm"}));
  write("hidden", "1");
  list->look();
  EXPECT_EQ(names(*list), (Names{"live", "b.tdm", "old/a.tdm"}));
  EXPECT_TRUE(list->recordings()[0].is_live);
}

TEST_F(RecordingListTest, TellsTwoOfOneNameApart) {
  const std::string one = (folder_ / "b.tdm").string();
  write("old/b.tdm", "x");
  const std::string other = (folder_ / "old" / "b.tdm").string();
  base::Result<RecordingList> list = RecordingList::of({one, other});
  ASSERT_TRUE(list);
  EXPECT_EQ(names(*list), (Names{"b.tdm", fs::canonical(other).string()}));
}

TEST_F(RecordingListTest, RefusesAPlaceThatIsNotThere) {
  const base::Result<RecordingList> list =
      RecordingList::of({(folder_ / "nowhere").string()});
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().kind, base::ErrorKind::NotFound);
}

}  // namespace
}  // namespace tidemark::cli
