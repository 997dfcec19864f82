// `info`, `diff` and what commands with files share, through the command table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/file_options.h"
#include "unit/cli/harness.h"
#include "unit/json_check.h"
#include "unit/store/scratch.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using test::mapping_at;
using test::process_of;
using test::sample_of;
using Words = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A recording of three ticks in which one process grows from 10 to 90 KiB.
class Recorded : public testing::Test {
 protected:
  Recorded() : path_(folder_.file("a.tdm")) {
    std::vector<model::Sample> samples;
    for (uint64_t second : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
      samples.push_back(sample_of(
          second,
          {process_of(42, {mapping_at(0x10000, "/data", 10 + 40 * second)})}));
    }
    test::record(path_, samples);
  }
  TempFolder folder_;
  std::string path_;
};

base::Error refused(std::string_view name, const Words& words) {
  const base::Result<ExitCode> result = run(name, words);
  EXPECT_FALSE(result) << name;
  return result ? base::Error() : result.error();
}

TEST_F(Recorded, InfoTellsWhatIsInIt) {
  const std::string json = file_output_of("info", {path_, "--format", "jsonl"});
  EXPECT_TRUE(test::JsonCheck(json).is_valid());
  EXPECT_TRUE(has(json, R"("schema":"tidemark.info/1")")) << json;
  EXPECT_TRUE(has(json, R"("sample_count":3)")) << json;
  EXPECT_TRUE(has(file_output_of("info", {path_}), "a.tdm"));
}

TEST_F(Recorded, InfoRefusesWhatIsNoRecording) {
  EXPECT_EQ(refused("info", {folder_.file("none")}).kind, ErrorKind::NotFound);
  EXPECT_EQ(refused("info", {}).kind, ErrorKind::Misused);
  EXPECT_NE(refused("info", {fixture("graph/memgraph.json")}).what, "");
}

TEST_F(Recorded, DiffComparesTwoMoments) {
  const std::string json =
      file_output_of("diff", {path_ + "@0", "@end", "--format", "jsonl"});
  EXPECT_TRUE(test::JsonCheck(json).is_valid());
  EXPECT_TRUE(has(json, R"("schema":"tidemark.diff/1")")) << json;
}

TEST_F(Recorded, DiffNeedsTwo) {
  const base::Error error = refused("diff", {path_});
  EXPECT_EQ(error.kind, ErrorKind::Misused);
  EXPECT_FALSE(error.hint.empty());
  EXPECT_EQ(refused("diff", {path_, folder_.file("none")}).kind,
            ErrorKind::NotFound);
}

// ---- what they share

TEST(FileOptions, AreTheSameForAll) {
  OptionTable table;
  CommonOptions common;
  bool overwrites = false;
  add_file_options(table, common, overwrites, {"there", "hush"});
  const base::Status status =
      parse_options(table, {"-o", "x", "--overwrite", "-q"});
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(common.output_path, "x");
  EXPECT_TRUE(overwrites);
  EXPECT_TRUE(common.quiet);
  EXPECT_EQ(table.all()[0].help, "there");
  EXPECT_EQ(table.all()[2].help, "hush");
}

TEST(FileOptions, ATimeZoneIsReadOrRefused) {
  OptionTable table;
  base::TimeZone zone;
  add_time_zone_option(table, "times", zone);
  ASSERT_TRUE(parse_options(table, {"--time-zone", "+01:30"}));
  ASSERT_TRUE(parse_options(table, {"--time-zone", "UTC"}));
  EXPECT_FALSE(parse_options(table, {"--time-zone", "yesterday"}));
}

// ---- kmap

TEST(KmapCommand, PrintsTheMapOfACopy) {
  const Words copy = {"-q", "--proc", fixture("kernel-6.18/proc")};
  const auto with = [&](const Words& more) {
    Words words = copy;
    words.insert(words.end(), more.begin(), more.end());
    return file_output_of("kmap", words);
  };
  EXPECT_TRUE(test::JsonCheck(with({"--json"})).is_valid());
  EXPECT_TRUE(has(with({}), "vmalloc"));
  EXPECT_GT(lines_of(with({"--all"})).size(), lines_of(with({})).size());
}

TEST(KmapCommand, RefusesAFolderThatIsNoProc) {
  EXPECT_FALSE(run("kmap", {"--proc", "/nonexistent"}));
}

}  // namespace
}  // namespace tidemark::cli
