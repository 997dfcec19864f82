#include "source/user_frames.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::source {
namespace {

// Calls each place by its address, and counts how often it was asked.
class CountedNames : public CodeNames {
 public:
  CountedNames(std::string build_id, int& count)
      : build_id_(std::move(build_id)), count_(count) {}

  std::string build_id() override { return build_id_; }
  std::vector<model::TraceFrame> names_at(uint64_t address,
                                          bool has_line) override {
    ++count_;
    std::vector<model::TraceFrame> frames;
    if (address == kWithInlined) frames.push_back({0, "inlined", 0, {}, {}});
    const std::string line = has_line ? " file.c:1" : "";
    frames.push_back({address, std::to_string(address) + line, 0, {}, {}});
    return frames;
  }
  static constexpr uint64_t kWithInlined = 7;

 private:
  std::string build_id_;
  int& count_;
};

class UserFramesTest : public testing::Test {
 protected:
  uint32_t keep_file(uint64_t inode_id, std::string path,
                     std::string build_id) {
    return frames_.keep_file(
        {1, inode_id, 100, 5}, std::move(path),
        std::make_unique<CountedNames>(std::move(build_id), count_));
  }
  // Symbols and modules of what was kept, as they read in a report.
  std::vector<std::string> names_of(uint32_t index) const {
    std::vector<std::string> names;
    for (const model::TraceFrame& frame : frames_.at(index))
      names.push_back(frame.symbol + " [" + frame.module + "]");
    return names;
  }
  void learn_names() {
    frames_.learn_names([] {});
  }
  using Names = std::vector<std::string>;

  UserFrames frames_;
  int count_ = 0;
};

TEST_F(UserFramesTest, NobodyIsAskedForNamesBeforeTheyAreWanted) {
  const uint32_t file = keep_file(1, "/usr/bin/prog", "aa");
  const uint32_t outer = frames_.keep({file, 20, false});
  EXPECT_EQ(frames_.keep({file, 20, false}), outer);
  const uint32_t inner = frames_.keep({file, 20, true});
  EXPECT_NE(inner, outer);
  EXPECT_EQ(count_, 0);
  EXPECT_TRUE(frames_.images().empty());
  learn_names();
  EXPECT_EQ(names_of(outer), Names{"20 [prog]"});
  EXPECT_EQ(names_of(inner), Names{"20 file.c:1 [prog]"});
  EXPECT_EQ(count_, 2);
}

TEST_F(UserFramesTest, APlaceIsAskedForOnce) {
  const uint32_t file = keep_file(1, "/usr/bin/prog", "aa");
  frames_.keep({file, 20, false});
  learn_names();
  frames_.keep({file, 20, false});
  const uint32_t later = frames_.keep({file, 30, false});
  learn_names();
  EXPECT_EQ(count_, 2);
  EXPECT_EQ(names_of(later), Names{"30 [prog]"});
}

TEST_F(UserFramesTest, WhatIsKeptMeanwhileIsNamedToo) {
  const uint32_t file = keep_file(1, "/usr/bin/prog", "aa");
  frames_.keep({file, 20, false});
  uint32_t last = 0;
  frames_.learn_names([&] {
    if (count_ < 5) {
      last = frames_.keep({file, 20 + static_cast<uint64_t>(count_), false});
    }
  });
  EXPECT_EQ(count_, 5);
  EXPECT_EQ(names_of(last), Names{"24 [prog]"});
}

TEST_F(UserFramesTest, WhatWasInlinedStandsBeforeTheFunctionItIsIn) {
  const uint32_t file = keep_file(1, "/usr/bin/prog", "aa");
  const uint32_t place =
      frames_.keep({file, CountedNames::kWithInlined, false});
  learn_names();
  EXPECT_EQ(names_of(place), (Names{"inlined [prog]", "7 [prog]"}));
}

TEST_F(UserFramesTest, WhatHasANameIsNotAskedFor) {
  const uint32_t named = frames_.keep({0, "[cut]", 0, {}, {}});
  EXPECT_EQ(frames_.keep({0, "[cut]", 0, {}, {}}), named);
  learn_names();
  EXPECT_EQ(names_of(named), Names{"[cut] []"});
}

TEST_F(UserFramesTest, AFileIsKnownUntilItChanges) {
  const uint32_t file = keep_file(1, "/usr/bin/prog", "aa");
  EXPECT_EQ(frames_.find_file({1, 1, 100, 5}), file);
  EXPECT_EQ(frames_.find_file({1, 1, 100, 6}), std::nullopt);
  EXPECT_EQ(frames_.find_file({1, 1, 101, 5}), std::nullopt);
  EXPECT_EQ(frames_.find_file({2, 1, 100, 5}), std::nullopt);
}

TEST_F(UserFramesTest, TwoFilesOfOneNameAreToldApart) {
  const uint32_t first =
      frames_.keep({keep_file(1, "/usr/lib/libx.so", "aa"), 1, false});
  const uint32_t second =
      frames_.keep({keep_file(2, "/opt/libx.so", "bb"), 2, false});
  // A copy of the first where another process sees its path.
  const uint32_t copy =
      frames_.keep({keep_file(3, "/usr/lib/libx.so", "aa"), 3, false});
  keep_file(4, "/usr/lib/unused.so", "cc");
  learn_names();
  EXPECT_EQ(names_of(first), Names{"1 [libx.so]"});
  EXPECT_EQ(names_of(second), Names{"2 [/opt/libx.so]"});
  EXPECT_EQ(names_of(copy), Names{"3 [libx.so]"});
  EXPECT_EQ(frames_.images().size(), 2U);
}

}  // namespace
}  // namespace tidemark::source
