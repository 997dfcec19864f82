// `info`, `diff` and what commands with files share, through the command table.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/file_options.h"
#include "unit/cli/harness.h"
#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/store/scratch.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using test::mapping_at;
using test::process_of;
using test::sample_of_second;
using Words = std::vector<std::string>;

using test::has;

// A recording of three ticks in which one process grows from 10 to 90 KiB.
class Recorded : public testing::Test {
 protected:
  Recorded() : path_(folder_.file("a.tdm")) {
    std::vector<model::Sample> samples;
    for (uint64_t second : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
      samples.push_back(sample_of_second(
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

// ---- report

TEST_F(Recorded, ReportPrintsEachPartOfItsPage) {
  for (const auto& [part, schema] :
       std::vector<std::pair<std::string, std::string>>{
           {"timeline", "tidemark.timeline/1"},
           {"peak", "tidemark.peak/1"},
           {"info", "tidemark.info/1"}}) {
    const std::string json = file_output_of("report", {path_, "--part", part});
    EXPECT_TRUE(test::JsonCheck(json).is_valid()) << part;
    EXPECT_TRUE(has(json, "\"schema\":\"" + schema + "\"")) << json;
  }
}

TEST_F(Recorded, ReportSaysWhichPartTheRecordingLacks) {
  for (const char* part : {"trace", "machine", "ps", "diff"}) {
    const base::Error error = refused("report", {path_, "--part", part});
    EXPECT_EQ(error.kind, ErrorKind::NotFound) << part;
    EXPECT_FALSE(error.what.empty()) << part;
  }
  EXPECT_EQ(refused("report", {path_, "--part", "nothing"}).kind,
            ErrorKind::Misused);
}

TEST_F(Recorded, ReportComparesWithAnother) {
  const std::string json =
      file_output_of("report", {path_, "--base", path_, "--part", "diff"});
  EXPECT_TRUE(has(json, R"("schema":"tidemark.diff/1")")) << json;
  EXPECT_TRUE(has(json, R"("change_bytes":0)")) << json;
  EXPECT_EQ(
      refused("report", {path_, "--base", folder_.file("none"), "--json"}).kind,
      ErrorKind::NotFound);
}

TEST_F(Recorded, ReportOfAMachineHasItsMemoryAndItsGroup) {
  std::vector<model::Sample> samples;
  for (uint64_t second : {uint64_t{0}, uint64_t{1}}) {
    model::Process process = process_of(42, {mapping_at(0x10000, "/data", 40)});
    process.cgroup_path = "/job";
    model::Sample& sample =
        samples.emplace_back(sample_of_second(second, {process}));
    sample.machine = model::Machine();
    sample.machine->meminfo.total_bytes = 1 << 30;
    sample.machine->meminfo.free_bytes = 1 << 20;
    model::Cgroup group;
    group.path = "/job";
    group.charged_bytes = model::known<uint64_t>(81920);
    group.limit_bytes = 1 << 20;
    sample.cgroups = {group};
  }
  const std::string path = folder_.file("machine.tdm");
  test::record(path, samples);
  const std::string machine =
      file_output_of("report", {path, "--part", "machine"});
  EXPECT_TRUE(has(machine, R"("total_bytes":[1073741824,1073741824])"))
      << machine;
  const std::string ps = file_output_of("report", {path, "--part", "ps"});
  EXPECT_TRUE(has(ps, R"("charged_bytes":81920)")) << ps;
  EXPECT_FALSE(has(ps, R"("machine":)")) << ps;
  const std::string timeline = file_output_of("report", {path, "--json"});
  EXPECT_TRUE(has(timeline, R"("cgroup": "/job")")) << timeline;
  EXPECT_TRUE(has(timeline, "1048576")) << timeline;
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
