// Files that are no recordings, or were: each opens or is refused with a
// sentence; none brings us down.
#include "store/schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "store/database.h"
#include "store/recording.h"
#include "unit/store/samples.h"

namespace tidemark::store {
namespace {

using base::ErrorKind;
using model::Sample;
using test::RecordingFile;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

base::Error refusal(const std::string& path) {
  base::Result<Recording> recording = Recording::open(path);
  EXPECT_FALSE(recording) << path << " was opened";
  return recording ? base::Error() : recording.error();
}

model::Trace small_trace(uint64_t index) {
  model::Trace trace;
  trace.frames = {{0x1000, "alloc", 4, ""}, {0x2000, "read", 8, "mod"}};
  trace.stacks = {{0, 1}, {1}};
  trace.tasks.resize(1);
  trace.tasks[0].pid = 42;
  trace.tasks[0].start_ns = 7;
  trace.tasks[0].pages = index;
  trace.leaves.resize(2);
  trace.leaves[0].pages = index;
  trace.leaves[0].lows = {0, index};
  trace.leaves[1].stack = 1;
  trace.elapsed_ns = index + 1;
  trace.pages = index;
  trace.faults.lost_events = index / 8;
  trace.notes = {"a note"};
  return trace;
}

// A recording with something in every table.
std::string small_recording() {
  const RecordingFile file;
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 40; ++i) {
    model::Process process = test::process_of(
        42, 7,
        {test::full_mapping(0x10000, 20, i % 20, "[heap]"),
         test::full_mapping(0x100000 + i % 3 * 0x10000, 20, 3, "/lib/x.so")});
    process.kinds.clear();
    Sample sample = test::sample_of(i, {process, test::process_of(43, i, {})});
    sample.machine = model::Machine();
    sample.machine->meminfo.available_bytes = i * 1024;
    model::Cgroup group;
    group.path = "/x";
    group.charged_bytes = model::known<uint64_t>(i * 1024);
    sample.cgroups = {group};
    sample.notes = {{{42, 7}, "a note"}};
    sample.missed_before = {{1, 1, "slow"}};
    sample.trace = small_trace(i);
    samples.push_back(std::move(sample));
  }
  (void)test::recorded(file, samples);
  return content_of(file.path());
}

// Asks everything there is to ask.
void read_all(const Recording& recording) {
  for (const model::RecordedTick& tick : recording.ticks())
    (void)recording.sample_at(tick.id, {});
  for (const model::RecordedTick& tick : recording.ticks())
    (void)recording.trace_at(tick.id);
  (void)recording.trace();
  (void)recording.timeline({});
  (void)recording.timeline({1});
  (void)recording.gaps();
  (void)recording.notes();
  (void)recording.maxima();
  (void)recording.detail_tick(1, 20);
}

void expect_opened_or_refused(const std::string& path) {
  base::Result<Recording> recording = Recording::open(path);
  if (!recording) {
    EXPECT_NE(recording.error().what.find(path), std::string::npos)
        << "a refusal names the file: " << recording.error().what;
    return;
  }
  read_all(*recording);
}

TEST(CheckSchema, RefusesAMissingFile) {
  const RecordingFile file;
  EXPECT_EQ(refusal(file.path()).kind, ErrorKind::NotFound);
}

TEST(CheckSchema, RefusesAnEmptyFile) {
  const RecordingFile file;
  put(file.path(), "");
  const base::Error error = refusal(file.path());
  EXPECT_EQ(error.kind, ErrorKind::Malformed);
  EXPECT_NE(error.what.find("empty"), std::string::npos) << error.what;
}

TEST(CheckSchema, RefusesAFolder) {
  const RecordingFile file;
  std::filesystem::create_directory(file.path());
  EXPECT_FALSE(refusal(file.path()).what.empty());
}

TEST(CheckSchema, RefusesText) {
  const RecordingFile file;
  put(file.path(), std::string(5000, 'x'));
  const base::Error error = refusal(file.path());
  EXPECT_EQ(error.kind, ErrorKind::Malformed);
  EXPECT_NE(error.what.find("not a recording"), std::string::npos)
      << error.what;
}

TEST(CheckSchema, RefusesOtherDatabases) {
  for (const char* sql :
       {"CREATE TABLE tick(id)", "PRAGMA application_id=77; CREATE TABLE a(b)",
        "PRAGMA user_version=1; CREATE TABLE recording(name, value)"}) {
    const RecordingFile file;
    {
      base::Result<Database> other =
          Database::open(file.path(), OpenMode::Create);
      ASSERT_TRUE(other);
      ASSERT_TRUE(other->execute(sql));
    }
    const base::Error error = refusal(file.path());
    EXPECT_EQ(error.kind, ErrorKind::Malformed);
    EXPECT_NE(error.what.find("not a recording"), std::string::npos)
        << error.what;
    EXPECT_NE(error.hint.find("import"), std::string::npos);
  }
}

TEST(CheckSchema, RefusesANewerFormat) {
  const RecordingFile file;
  put(file.path(), small_recording());
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database->execute("PRAGMA user_version=99"));
  }
  const base::Error error = refusal(file.path());
  EXPECT_EQ(error.kind, ErrorKind::Unsupported);
  EXPECT_NE(error.what.find("99"), std::string::npos) << error.what;
}

TEST(CheckSchema, RefusesARecordingThatNeverBegan) {
  const RecordingFile file;
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::Create);
    ASSERT_TRUE(database->execute(
        "PRAGMA application_id=" + std::to_string(kApplicationId) +
        "; CREATE TABLE x(y)"));
  }
  EXPECT_NE(refusal(file.path()).what.find("before it began"),
            std::string::npos);
}

TEST(CheckSchema, RefusesARecordingWithoutATable) {
  const RecordingFile file;
  put(file.path(), small_recording());
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database->execute("DROP VIEW ticks; DROP TABLE tick"));
  }
  EXPECT_FALSE(refusal(file.path()).what.empty());
}

TEST(CheckSchema, SaysThatAFileWasCutShort) {
  const RecordingFile file;
  const std::string whole = small_recording();
  put(file.path(), whole.substr(0, whole.size() / 2));
  const base::Error error = refusal(file.path());
  EXPECT_NE(error.what.find("cut short"), std::string::npos) << error.what;
}

TEST(Recording, SurvivesBeingCutAnywhere) {
  const RecordingFile file;
  const std::string whole = small_recording();
  const std::string path = file.path("cut.tdm");
  for (size_t length = 0; length < whole.size(); length += 509) {
    SCOPED_TRACE(length);
    put(path, whole.substr(0, length));
    EXPECT_FALSE(Recording::open(path)) << "a part is not the whole";
    expect_opened_or_refused(path);
  }
}

TEST(Recording, SurvivesGarbageAnywhere) {
  const RecordingFile file;
  const std::string whole = small_recording();
  const std::string path = file.path("garbage.tdm");
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    std::string bytes = whole;
    for (size_t changes = 1 + random() % 20; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    put(path, bytes);
    expect_opened_or_refused(path);
  }
}

// What no kernel would say, in a file that is whole.
TEST(Recording, SurvivesAbsurdNumbers) {
  const std::string whole = small_recording();
  for (const char* sql :
       {"UPDATE recording SET value = '0' WHERE name = 'page_size_bytes'",
        "UPDATE recording SET value = 'many' WHERE name = 'page_size_bytes'",
        "UPDATE proc_change SET no = no + 9223372036854770000",
        "UPDATE proc_change SET no = -no",
        "UPDATE proc_change SET trait = 99",
        "UPDATE proc_change SET tick = tick + 9223372036854775000",
        "UPDATE proc_change SET size = 9223372036854775807, pss = -5, rss = "
        "-9223372036854775807",
        "UPDATE proc_change SET rare = '{\"SwapPss\":'",
        "UPDATE proc_counter SET resident = 9223372036854775807",
        "UPDATE proc_status SET state = 200",
        "UPDATE proc_detail SET step = -3",
        "UPDATE proc_detail SET tier = 77",
        "UPDATE proc_detail SET tick = 9223372036854775807",
        "UPDATE proc_end SET tick = -1",
        "DELETE FROM proc_object",
        "DELETE FROM proc_identity",
        "DELETE FROM proc_mapping",
        "DELETE FROM text",
        "UPDATE tick SET id = id * 100000000000000000",
        "UPDATE epoch SET id = id + 9223372036854775000",
        "UPDATE proc_change SET epoch = epoch + 9223372036854775000",
        "UPDATE proc_keyframe SET tick = tick + 9223372036854775000",
        "UPDATE proc_process SET born = -9223372036854775807 - 1"}) {
    SCOPED_TRACE(sql);
    const RecordingFile file;
    put(file.path(), whole);
    {
      base::Result<Database> database =
          Database::open(file.path(), OpenMode::ReadWrite);
      base::Status status = database->execute(sql);
      ASSERT_TRUE(status) << status.error().what;
    }
    expect_opened_or_refused(file.path());
  }
}

TEST(Recording, ReadsALogThatWasLeftBehind) {
  const RecordingFile file;
  {
    std::unique_ptr<Recorder> recorder = test::make_recorder(file.path());
    test::accept_all(*recorder, {test::sample_of(0, {})});
    ASSERT_TRUE(recorder->commit());
    std::filesystem::copy(file.path(), file.path("killed.tdm"));
    std::filesystem::copy(file.path() + "-wal", file.path("killed.tdm-wal"));
  }
  base::Result<Recording> recording = Recording::open(file.path("killed.tdm"));
  ASSERT_TRUE(recording) << recording.error().what;
  EXPECT_EQ(recording->ticks().size(), 1U);
}

TEST(Recording, OpensAnyCutOfItsLog) {
  const RecordingFile file;
  std::string main_file;
  std::string log;
  {
    std::unique_ptr<Recorder> recorder = test::make_recorder(file.path());
    for (uint64_t i = 0; i < 5; ++i) {
      test::accept_all(*recorder, {test::sample_of(i, {})});
      ASSERT_TRUE(recorder->commit());
    }
    main_file = content_of(file.path());
    log = content_of(file.path() + "-wal");
  }
  const std::string path = file.path("cut.tdm");
  size_t opened = 0;
  for (size_t length = 0; length < log.size(); length += 3001) {
    SCOPED_TRACE(length);
    std::filesystem::remove(path + "-shm");
    put(path, main_file);
    put(path + "-wal", log.substr(0, length));
    base::Result<Recording> recording = Recording::open(path);
    if (!recording) continue;
    ++opened;
    for (size_t i = 0; i < recording->ticks().size(); ++i)
      EXPECT_EQ(recording->ticks()[i].id, static_cast<int64_t>(i));
  }
  EXPECT_GT(opened, 0U);
}

}  // namespace
}  // namespace tidemark::store
