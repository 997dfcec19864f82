// `export`, through its entry in the command table.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "store/database.h"
#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

class Export : public testing::Test {
 protected:
  Export() : recording_(folder_.file("a.tdm")) {
    const base::Result<ExitCode> result =
        run("import", {fixture("memory-watcher/v0.1.db"), "--time-zone", "UTC",
                       "-q", "-o", recording_});
    EXPECT_TRUE(result) << result.error().what;
  }

  std::string exported(Words words) const {
    words.insert(words.begin(), recording_);
    words.push_back("-q");
    return output_of("export", words);
  }
  base::Error refused(Words words) const {
    words.insert(words.begin(), recording_);
    const base::Result<ExitCode> result = run("export", words);
    EXPECT_FALSE(result);
    return result ? base::Error() : result.error();
  }
  std::string database(const std::string& format) const {
    const std::string path = folder_.file(format + ".db");
    EXPECT_EQ(exported({"--to", format, "-o", path, "--time-zone", "UTC"}), "");
    return path;
  }

  TempFolder folder_;
  std::string recording_;
};

// Sums of each measurement, as text.
std::string measurements(const std::string& path) {
  base::Result<store::Database> database =
      store::Database::open(path, store::OpenMode::ReadOnly);
  EXPECT_TRUE(database) << database.error().what;
  base::Result<store::Statement> rows = database->prepare(
      "SELECT m.time || ' ' || m.rss_sum || ' ' || m.pss_sum || ' ' || "
      "sum(d.rss) || ' ' || sum(d.pss) || ' ' || count(*) || ' ' || "
      "m.statm_resident FROM measurement m JOIN data d ON d.measurement_id = "
      "m.id GROUP BY m.id ORDER BY m.time");
  EXPECT_TRUE(rows) << rows.error().what;
  std::string text;
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row || !*row) return text;
    text += std::string(rows->text(0)) + "\n";
  }
}

TEST_F(Export, MemoryWatcherGetsBackWhatItGave) {
  const std::string theirs = measurements(fixture("memory-watcher/v0.1.db"));
  EXPECT_EQ(lines_of(theirs).size(), 3U);
  EXPECT_EQ(measurements(database("memory-watcher")), theirs);
}

TEST_F(Export, CsvHasARowPerTickAndProcessUnlessAsked) {
  EXPECT_EQ(lines_of(exported({})).size(), 1U + 3);
  EXPECT_EQ(exported({}), exported({"--to", "csv", "--what", "processes"}));
  EXPECT_EQ(lines_of(exported({"--what", "mappings"})).size(), 1U + 3 * 44);
  EXPECT_EQ(lines_of(exported({"--what", "categories"})).size(), 1U + 3 * 8);
  EXPECT_EQ(lines_of(exported({"--what", "machine"})).size(), 1U + 3);
}

TEST_F(Export, JsonLinesHasALinePerTick) {
  EXPECT_EQ(lines_of(exported({"--to", "jsonl"})).size(), 3U);
}

TEST_F(Export, FoldedIsThePeakAndAddsUpToIt) {
  uint64_t sum = 0;
  for (const std::string& line : lines_of(exported({"--to", "folded"})))
    sum += std::stoull(line.substr(line.rfind(' ')));
  EXPECT_EQ(sum, uint64_t{14'362} * 1024);
  EXPECT_NE(exported({"--to", "folded", "--at", "start"}),
            exported({"--to", "folded"}));
}

TEST_F(Export, SpansAreByTimeOrTick) {
  const std::string last = exported({"--at", "end"});
  EXPECT_EQ(lines_of(last).size(), 2U);
  EXPECT_EQ(exported({"--from-tick", "2"}), last);
  EXPECT_EQ(exported({"--since", "2026-11-15T08:05:46.2Z"}), last);
  EXPECT_EQ(exported({"--since", "2026-11-15T08:05:47.943Z"}), last);
  EXPECT_EQ(lines_of(exported({"--until", "2026-11-15T08:05:46.5Z"})).size(),
            3U);
  EXPECT_EQ(lines_of(exported({"--from-tick", "1", "--to-tick", "1"})).size(),
            2U);
}

TEST_F(Export, OneProcessCanBeChosen) {
  EXPECT_EQ(exported({"--pid", "19181"}), exported({}));
  EXPECT_EQ(refused({"--pid", "5"}).kind, base::ErrorKind::NotFound);
}

TEST_F(Export, FlatHasEveryMappingOfEveryTick) {
  base::Result<store::Database> made =
      store::Database::open(database("sqlite"), store::OpenMode::ReadOnly);
  ASSERT_TRUE(made);
  EXPECT_EQ(*made->integer("SELECT count(*) FROM mappings"), 3 * 44);
  EXPECT_EQ(*made->integer("SELECT sum(pss_bytes) FROM mappings WHERE tick = "
                           "(SELECT max(tick) FROM processes)"),
            int64_t{14'362} * 1024);
}

TEST_F(Export, AFileIsKeptUnlessAskedAndAppearsWhole) {
  const std::string path = folder_.file("out.csv");
  std::ofstream(path) << "precious";
  EXPECT_EQ(refused({"-o", path}).what, path + ": it exists already");
  EXPECT_EQ(contents(path), "precious");
  exported({"-o", path, "--overwrite"});
  EXPECT_EQ(contents(path), exported({}));
  EXPECT_EQ(refused({"-o", recording_, "--overwrite"}).what,
            recording_ + ": cannot write over what is read");
}

TEST_F(Export, MisuseIsSaidSo) {
  for (const Words& words :
       {Words{"--to", "sqlite"}, Words{"--to", "memory-watcher", "-o", "-"},
        Words{"--to", "jsonl", "--what", "machine"},
        Words{"--at", "end", "--since", "start"},
        Words{"--to", "folded", "--from-tick", "1"}, Words{"--from-tick", "x"},
        Words{"--from-tick", "9"}, Words{"--at", "noon"},
        Words{"--to", "xml"}}) {
    EXPECT_EQ(refused(words).kind, base::ErrorKind::Misused)
        << words[0] << words[1];
  }
}

TEST_F(Export, WhatIsNoRecordingIsRefusedAndLeavesNothing) {
  const std::string path = folder_.file("out.db");
  for (const std::string& file :
       {fixture("memory-watcher/v0.1.db"), fixture("memstats/sample.json"),
        folder_.file("none"), fixture("debian-6.12")}) {
    EXPECT_FALSE(run("export", {file, "--to", "sqlite", "-o", path})) << file;
    EXPECT_FALSE(run("export", {file, "-o", path})) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(refused({"-o", "/nonexistent/x.csv"}).what,
            "cannot write /nonexistent/x.csv: No such file or directory");
}

}  // namespace
}  // namespace tidemark::cli
