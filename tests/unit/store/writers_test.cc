// The databases that an export makes.
#include <gtest/gtest.h>

#include "store/flat_writer.h"
#include "store/watcher_file.h"
#include "store/watcher_writer.h"
#include "unit/fixture.h"
#include "unit/store/scratch.h"

namespace tidemark::store {
namespace {

using test::mapping_at;
using test::process_of;
using test::sample_of_second;

model::Moment moment_of(int64_t tick, const model::Sample& sample) {
  model::Moment moment;
  moment.tick.id = tick;
  moment.tick.realtime_ns = sample.started_realtime_ns;
  moment.sample = &sample;
  for (const model::Process& process : sample.processes) {
    moment.detail_ticks.push_back(process.mappings ? std::optional(tick)
                                                   : std::nullopt);
  }
  return moment;
}

model::Sample example() {
  model::Process process = process_of(
      7, {mapping_at(0x10000, "[heap]", 5), mapping_at(0x20000, "", 3)});
  process.statm = model::Statm{100, 50, 3, 2, 1};
  process.oom_score = 666;
  process.oom_score_adjustment = -17;
  model::Sample sample = sample_of_second(0, {process});
  sample.machine = model::Machine();
  sample.machine->meminfo.total_bytes = 1 << 30;
  return sample;
}

base::TimeZone utc() {
  return *base::TimeZone::parse("UTC");
}

TEST(WatcherWriter, ComesBackThroughTheImporter) {
  const test::Scratch scratch;
  const std::string path = scratch.file("out.db");
  const model::Sample sample = example();
  {
    base::Result<WatcherWriter> writer = WatcherWriter::create(path, utc());
    ASSERT_TRUE(writer) << writer.error().what;
    ASSERT_TRUE(writer->add(moment_of(0, sample)));
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(writer->measurement_count(), 1U);
  }
  WatcherOptions options;
  options.zone = utc();
  base::Result<WatcherFile> file = WatcherFile::open(path, options);
  ASSERT_TRUE(file) << file.error().what;
  model::Sample back;
  base::Result<bool> more = file->next(back);
  ASSERT_TRUE(more && *more);
  EXPECT_EQ(back.started_realtime_ns, sample.started_realtime_ns);
  ASSERT_EQ(back.processes.size(), 1U);
  EXPECT_EQ(back.processes[0].id, sample.processes[0].id);
  EXPECT_EQ(back.processes[0].mappings, sample.processes[0].mappings);
  EXPECT_EQ(back.processes[0].statm, sample.processes[0].statm);
  EXPECT_EQ(back.processes[0].oom_score, 666);
  EXPECT_EQ(back.processes[0].oom_score_adjustment, -17);
  EXPECT_EQ(back.machine->meminfo.total_bytes, 1U << 30);
  EXPECT_EQ(file->counts().collided_count, 0U);
}

TEST(WatcherWriter, HasTheTypesAndTheIndexItsToolsExpect) {
  const test::Scratch scratch;
  const std::string path = scratch.file("out.db");
  {
    base::Result<WatcherWriter> writer = WatcherWriter::create(path, utc());
    ASSERT_TRUE(writer && writer->finish());
  }
  base::Result<Database> database = Database::open(path, OpenMode::ReadWrite);
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("ATTACH '" +
                                test::fixture_path("memory-watcher/v0.1.db") +
                                "' AS theirs"));
  for (const char* table :
       {"process", "memory_range", "measurement", "data", "system_memory"}) {
    const auto columns = [&](const char* whose) {
      return "SELECT name, upper(type), \"notnull\", pk FROM "
             "pragma_table_info('" +
             std::string(table) + "', '" + whose + "')";
    };
    const auto count = [&](const std::string& rows) {
      base::Result<int64_t> found =
          database->integer("SELECT count(*) FROM (" + rows + ")");
      return found ? *found : -1;
    };
    EXPECT_GT(count(columns("theirs")), 0) << table;
    EXPECT_EQ(count(columns("theirs") + " EXCEPT " + columns("main")), 0);
    EXPECT_EQ(count(columns("main") + " EXCEPT " + columns("theirs")), 0);
  }
  EXPECT_EQ(test::asked(path,
                        "SELECT count(*) FROM sqlite_schema WHERE type = "
                        "'index' AND name = 'idx_data_measurement_id'"),
            1);
}

TEST(WatcherWriter, AMomentWithoutAReadingIsNoMeasurement) {
  const test::Scratch scratch;
  const std::string path = scratch.file("out.db");
  const model::Sample sample = example();
  {
    base::Result<WatcherWriter> writer = WatcherWriter::create(path, utc());
    ASSERT_TRUE(writer);
    model::Moment moment = moment_of(5, sample);
    moment.detail_ticks = {3};
    ASSERT_TRUE(writer->add(moment) && writer->finish());
  }
  EXPECT_EQ(test::asked(path, "SELECT count(*) FROM measurement"), 0);
  EXPECT_EQ(test::asked(path, "SELECT count(*) FROM system_memory"), 1);
}

TEST(FlatWriter, HasAWideRowForEachMapping) {
  const test::Scratch scratch;
  const std::string path = scratch.file("out.db");
  model::Sample sample = example();
  {
    model::RecordingInfo info;
    info.origin = "a test";
    base::Result<FlatWriter> writer = FlatWriter::create(path, info);
    ASSERT_TRUE(writer) << writer.error().what;
    model::Moment moment = moment_of(4, sample);
    moment.notes.push_back({{7, 100}, "said"});
    ASSERT_TRUE(writer->add(moment));
    ASSERT_TRUE(writer->finish());
  }
  EXPECT_EQ(test::asked(path, "SELECT count(*) FROM mappings"), 2);
  EXPECT_EQ(test::asked(path,
                        "SELECT sum(pss_bytes) FROM mappings WHERE tick "
                        "= 4 AND pid = 7 AND comm = 'p7'"),
            8 * 1024);
  EXPECT_EQ(test::asked(path,
                        "SELECT count(*) FROM mappings WHERE swap_bytes "
                        "IS NULL AND start = '0x10000'"),
            1);
  EXPECT_EQ(test::asked(path, "SELECT resident_bytes FROM processes"),
            50 * 4096);
  EXPECT_EQ(test::asked(path, "SELECT total_bytes FROM machine"), 1 << 30);
  EXPECT_EQ(test::asked(path,
                        "SELECT count(*) FROM notes WHERE pid = 7 AND "
                        "text = 'said'"),
            1);
  EXPECT_EQ(test::asked(path,
                        "SELECT count(*) FROM recording WHERE value = "
                        "'a test'"),
            1);
}

}  // namespace
}  // namespace tidemark::store
