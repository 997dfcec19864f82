#include "store/watcher_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "unit/fixture.h"
#include "unit/store/scratch.h"

namespace tidemark::store {
namespace {

using model::SmapsField;

const std::string kFixture = test::fixture_path("memory-watcher/v0.1.db");

constexpr const char* kOldRanges =
    "CREATE TABLE range(id INTEGER PRIMARY KEY, \"from\" INTEGER NOT NULL, "
    "\"to\" INTEGER NOT NULL, permission varchar(255), name varchar(255));"
    "CREATE TABLE data(range_id INTEGER NOT NULL, measurement_id INTEGER NOT "
    "NULL, rss INTEGER NOT NULL, pss INTEGER NOT NULL);"
    "INSERT INTO range VALUES(1, 4096, 12288, 'r-xp', '/bin/x'),"
    "(2, 12288, 16384, 'rw-p', '[heap]');"
    "INSERT INTO data VALUES(1, 1, 8, 5), (2, 1, 4, 4), (1, 2, 8, 5), "
    "(2, 2, 4, 3);";
constexpr const char* kFirstMeasurements =
    "CREATE TABLE measurement(id INTEGER PRIMARY KEY, time datetime NOT NULL, "
    "rss_sum INTEGER NOT NULL, pss_sum INTEGER NOT NULL);"
    "INSERT INTO measurement VALUES(1, '2018-08-20T10:00:00.000', 12, 9), "
    "(2, '2018-08-20T10:00:01.000', 12, 8);";
constexpr const char* kStatmMeasurements =
    "CREATE TABLE measurement(id INTEGER PRIMARY KEY, time datetime NOT NULL, "
    "rss_sum INTEGER NOT NULL, pss_sum INTEGER NOT NULL, statm_size INTEGER, "
    "statm_resident INTEGER, statm_shared INTEGER, statm_text INTEGER, "
    "statm_lib INTEGER, statm_data INTEGER, statm_dt INTEGER);"
    "INSERT INTO measurement VALUES(1, '2019-08-20T10:00:00.000', 12, 9, "
    "400, 16, 8, 4, 0, 20, 0), (2, '2019-08-20T10:00:01.000', 12, 8, 400, 16, "
    "8, 4, 0, 20, 0);";

WatcherOptions options() {
  WatcherOptions made;
  made.zone = *base::TimeZone::parse("UTC");
  made.pid = 42;
  made.name = "old";
  return made;
}

struct Read {
  std::vector<model::Sample> samples;
  WatcherCounts counts;
  std::string generation;
  std::string error;
};

Read read_all(const std::string& path) {
  Read read;
  base::Result<WatcherFile> file = WatcherFile::open(path, options());
  if (!file) {
    read.error = file.error().what;
    return read;
  }
  read.generation = file->generation();
  model::Sample sample;
  while (true) {
    base::Result<bool> more = file->next(sample);
    if (!more) read.error = more.error().what;
    if (!more || !*more) break;
    read.samples.push_back(sample);
  }
  read.counts = file->counts();
  return read;
}

uint64_t sum_of(const model::Process& process, SmapsField field) {
  uint64_t sum = 0;
  for (const model::Mapping& mapping : *process.mappings)
    sum += mapping.fields.get_or_zero(field);
  return sum / 1024;
}

// A copy of the fixture with something done to it.
class ChangedFixture {
 public:
  explicit ChangedFixture(const std::string& sql) {
    std::filesystem::copy_file(kFixture, path());
    test::change_database(path(), sql);
  }
  std::string path() const { return scratch_.file("changed.db"); }

 private:
  test::Scratch scratch_;
};

TEST(WatcherFile, ReadsVersion01) {
  const Read read = read_all(kFixture);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.generation, "memory-watcher 0.1");
  ASSERT_EQ(read.samples.size(), 3U);
  const model::Sample& peak = read.samples[2];
  EXPECT_EQ(peak.started_realtime_ns, 1'794'729'947'943'000'000U);
  ASSERT_EQ(peak.processes.size(), 1U);
  const model::Process& process = peak.processes[0];
  EXPECT_EQ(process.id, (model::ProcessId{19181, 798852}));
  EXPECT_EQ(process.stat.comm, "python3");
  EXPECT_EQ(sum_of(process, SmapsField::Pss), 14'362U);
  EXPECT_EQ(sum_of(process, SmapsField::Rss), 15'836U);
  ASSERT_TRUE(process.statm);
  EXPECT_EQ(process.statm->resident_pages * 4, 15'836U);
  EXPECT_EQ(read.counts.collided_count, 0U);
}

TEST(WatcherFile, KnowsRssAndPssAndNothingElseOfAMapping) {
  const Read read = read_all(kFixture);
  const model::Mapping& mapping =
      read.samples[0].processes[0].mappings->front();
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    const auto field = static_cast<SmapsField>(i);
    EXPECT_EQ(mapping.fields.has(field),
              field == SmapsField::Rss || field == SmapsField::Pss)
        << i;
  }
  EXPECT_EQ(mapping.inode_id, 0U) << "never stored";
}

TEST(WatcherFile, TellsImagesFromFilesAndHeaps) {
  const model::Process process = read_all(kFixture).samples[0].processes[0];
  ASSERT_EQ(process.kinds.size(), process.mappings->size());
  for (size_t i = 0; i < process.kinds.size(); ++i) {
    const std::string& name = (*process.mappings)[i].name;
    if (name.ends_with("libc.so.6")) {
      EXPECT_EQ(process.kinds[i], model::RegionKind::Image);
    }
    if (name.ends_with("LC_CTYPE")) {
      EXPECT_EQ(process.kinds[i], model::RegionKind::File);
    }
    if (name == "[heap]") {
      EXPECT_EQ(process.kinds[i], model::RegionKind::BrkHeap);
    }
  }
}

TEST(WatcherFile, KeysBeyondSignedNumbersFindTheirRange) {
  const model::Process process = read_all(kFixture).samples[0].processes[0];
  EXPECT_EQ(process.mappings->back().name, "[vsyscall]");
  EXPECT_EQ(process.mappings->back().start_address, 0xffffffffff600000U);
}

TEST(WatcherFile, MeminfoIsTakenButForTheSwapCacheItNeverRead) {
  const model::Sample sample = read_all(kFixture).samples[0];
  ASSERT_TRUE(sample.machine);
  const model::MemInfo& info = sample.machine->meminfo;
  EXPECT_EQ(info.total_bytes, uint64_t{24682416} * 1024);
  EXPECT_EQ(info.slab_reclaimable_bytes, uint64_t{45116} * 1024);
  EXPECT_EQ(info.slab_unreclaimable_bytes, uint64_t{70920 - 45116} * 1024);
  EXPECT_FALSE(info.swap_cached_bytes);
}

TEST(WatcherFile, TheOneOomValueIsTheAdjustment) {
  const ChangedFixture file("UPDATE measurement SET oom_adj = 500");
  const model::Process process = read_all(file.path()).samples[0].processes[0];
  EXPECT_EQ(process.oom_score_adjustment, 500);
  EXPECT_FALSE(process.oom_score);
}

TEST(WatcherFile, OomValuesInTheirOwnColumnsAreTakenAsNamed) {
  const ChangedFixture file(
      "UPDATE measurement SET oom_score = 700, oom_score_adj = 30");
  const model::Process process = read_all(file.path()).samples[0].processes[0];
  EXPECT_EQ(process.oom_score_adjustment, 30);
  EXPECT_EQ(process.oom_score, 700);
}

TEST(WatcherFile, RowsWrittenTwiceAreTakenOutWithANote) {
  const ChangedFixture file(
      "INSERT INTO data SELECT * FROM data WHERE measurement_id = "
      "(SELECT id FROM measurement ORDER BY time LIMIT 1)");
  const Read read = read_all(file.path());
  EXPECT_EQ(read.counts.collided_count, 1U);
  EXPECT_EQ(read.counts.unrepaired_count, 0U);
  EXPECT_EQ(sum_of(read.samples[0].processes[0], SmapsField::Pss), 8'686U);
  ASSERT_EQ(read.samples[0].notes.size(), 1U);
  EXPECT_EQ(read.samples[0].notes[0].text,
            "collided in the source: 88 rows of 17372 KiB PSS where 8686 were "
            "measured; 44 left out, the sums agree now");
  EXPECT_EQ(read.samples[0].notes[0].process.pid, 19181);
  EXPECT_TRUE(read.samples[1].notes.empty());
}

TEST(WatcherFile, RowsOfAnotherProcessAreTakenOut) {
  const ChangedFixture file(
      "INSERT INTO process VALUES(7, 7, '5', 'sibling');"
      "INSERT INTO memory_range VALUES(8, 7, 4096, 8192, 'rw-p', '');"
      "INSERT INTO data SELECT 8, id, 4, 4 FROM measurement");
  const Read read = read_all(file.path());
  EXPECT_EQ(read.counts.collided_count, 3U);
  EXPECT_EQ(read.counts.unrepaired_count, 0U);
  EXPECT_EQ(sum_of(read.samples[2].processes[0], SmapsField::Pss), 14'362U);
}

TEST(WatcherFile, SumsThatCannotBePutRightAreSaidToDiffer) {
  const ChangedFixture file("UPDATE measurement SET pss_sum = 1");
  const Read read = read_all(file.path());
  EXPECT_EQ(read.counts.collided_count, 3U);
  EXPECT_EQ(read.counts.unrepaired_count, 3U);
  EXPECT_TRUE(
      read.samples[0].notes.at(0).text.ends_with("the sums still differ"));
}

TEST(WatcherFile, ProcessesOfOneTickAreOneSample) {
  const ChangedFixture file(
      "INSERT INTO process VALUES(7, 7, '5', 'kthread');"
      "INSERT INTO measurement SELECT id + 1, 7, time, 0, 0, 0, 0, 0, 0, 0, 0, "
      "0, 0, 0, 0 FROM measurement");
  const Read read = read_all(file.path());
  ASSERT_EQ(read.samples.size(), 3U);
  ASSERT_EQ(read.samples[0].processes.size(), 2U);
  const model::Process& zeros = read.samples[0].processes[1];
  EXPECT_EQ(zeros.state, model::ProcessState::KernelThread);
  EXPECT_FALSE(zeros.mappings);
}

TEST(WatcherFile, PagesWithoutMappingsWereDenied) {
  const ChangedFixture file(
      "DELETE FROM data; UPDATE measurement SET rss_sum = 0, pss_sum = 0");
  const Read read = read_all(file.path());
  EXPECT_EQ(read.samples[0].processes[0].state, model::ProcessState::Denied);
  EXPECT_EQ(read.counts.collided_count, 0U);
}

TEST(WatcherFile, AMissingMeasurementDoesNotEndAProcess) {
  const ChangedFixture file(
      "DELETE FROM measurement WHERE time = '2026-11-15T08:05:46.122'");
  const Read read = read_all(file.path());
  ASSERT_EQ(read.samples.size(), 3U);
  ASSERT_EQ(read.samples[1].processes.size(), 1U);
  EXPECT_FALSE(read.samples[1].processes[0].mappings) << "not read then";
  EXPECT_EQ(read.counts.bridged_count, 1U);
}

TEST(WatcherFile, ReadsTheFirstGeneration) {
  const test::Scratch scratch;
  const std::string path = scratch.file("g1a.db");
  test::make_database(path, std::string(kOldRanges) + kFirstMeasurements);
  const Read read = read_all(path);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.generation, "memory-watcher of 2018");
  ASSERT_EQ(read.samples.size(), 2U);
  const model::Process& process = read.samples[1].processes.at(0);
  EXPECT_EQ(process.id.pid, 42);
  EXPECT_EQ(process.stat.comm, "old");
  EXPECT_FALSE(process.statm);
  EXPECT_FALSE(process.oom_score_adjustment);
  EXPECT_EQ(sum_of(process, SmapsField::Pss), 8U);
  EXPECT_EQ(process.kinds[0], model::RegionKind::Image);
}

TEST(WatcherFile, ReadsTheSecondGenerationAlsoAfter01HasOpenedIt) {
  const test::Scratch scratch;
  const std::string path = scratch.file("g1b.db");
  test::make_database(
      path, std::string(kOldRanges) + kStatmMeasurements +
                "CREATE TABLE process(id UNSIGNED BIG INT PRIMARY KEY, pid "
                "INTEGER NOT NULL, start_time, name varchar(255));"
                "CREATE TABLE memory_range(id UNSIGNED BIG INT PRIMARY KEY, "
                "permission varchar(255));");
  const Read read = read_all(path);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.generation, "memory-watcher of 2018 to 2021");
  ASSERT_EQ(read.samples.size(), 2U);
  ASSERT_TRUE(read.samples[0].processes.at(0).statm);
  EXPECT_EQ(read.samples[0].processes[0].statm->resident_pages, 4U);
  EXPECT_EQ(read.samples[0].processes[0].statm->data_pages, 5U);
}

TEST(WatcherFile, TwoMeasurementsInOneMillisecondAreTwoSamples) {
  const test::Scratch scratch;
  const std::string path = scratch.file("g1a.db");
  test::make_database(path, std::string(kOldRanges) + kFirstMeasurements +
                                "UPDATE measurement SET time = "
                                "'2018-08-20T10:00:00.000'");
  EXPECT_EQ(read_all(path).samples.size(), 2U);
}

TEST(WatcherFile, DoesNotTouchTheFile) {
  const std::string before = test::bytes_in(kFixture);
  read_all(kFixture);
  EXPECT_TRUE(before == test::bytes_in(kFixture));
}

TEST(WatcherFile, RefusesOtherFilesWithASentence) {
  const test::Scratch scratch;
  const std::string foreign = scratch.file("foreign.db");
  test::make_database(foreign, "CREATE TABLE measurement(id INT)");
  EXPECT_EQ(read_all(foreign).error,
            foreign + ": not a database of memory-watcher");
  const std::string garbage = scratch.file("garbage");
  std::ofstream(garbage) << std::string(5000, 'x');
  EXPECT_EQ(read_all(garbage).error,
            garbage + ": not a database of memory-watcher");
  EXPECT_EQ(read_all(scratch.file("none")).error,
            scratch.file("none") + ": No such file or directory");
}

TEST(WatcherFile, EveryLengthIsReadOrRefusedWithASentence) {
  const test::Scratch scratch;
  const std::string whole = test::bytes_in(kFixture);
  for (size_t length = 0; length < whole.size(); length += 1777) {
    const std::string path = scratch.file(std::to_string(length));
    std::ofstream(path, std::ios::binary) << whole.substr(0, length);
    EXPECT_NE(read_all(path).error, "") << length;
  }
}

TEST(WatcherFile, SizesOutOfRangeAreRefused) {
  for (const char* sql :
       {"UPDATE data SET pss = -1", "UPDATE measurement SET rss_sum = 1 << 60",
        "UPDATE process SET pid = 99999999999",
        "UPDATE measurement SET time = 'noon'"}) {
    const ChangedFixture file(sql);
    const Read read = read_all(file.path());
    EXPECT_TRUE(read.error.starts_with(file.path() + ": ")) << sql;
  }
}

}  // namespace
}  // namespace tidemark::store
