// A limit of a recording holds for the file and its log, whatever comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "store/database.h"
#include "store/recorder.h"
#include "store/recording.h"
#include "unit/store/samples.h"

namespace tidemark::store {
namespace {

using model::Process;
using model::Sample;
using test::full_mapping;
using test::make_recorder;
using test::process_of;
using test::RecordingFile;
using test::sample_of;

constexpr uint64_t kMostBytes = 600'000;

uint64_t bytes_of(const std::string& path) {
  std::error_code error;
  uint64_t sum = 0;
  for (const std::string& name : {path, path + "-wal", path + "-shm"}) {
    const uint64_t bytes = std::filesystem::file_size(name, error);
    if (!error) sum += bytes;
  }
  return sum;
}

// Processes that live for one sample, each of a new name: nothing of them is
// stored twice, and what names them cannot be thinned out.
Sample crowd(uint64_t index) {
  std::vector<Process> processes;
  for (int32_t i = 0; i < 12; ++i) {
    const auto pid = static_cast<int32_t>(index) * 12 + i + 1;
    processes.push_back(
        process_of(pid, 1,
                   {full_mapping(0x10000, 90, index % 80,
                                 "/tmp/program-" + std::to_string(pid))}));
  }
  return sample_of(index, processes);
}

TEST(RecorderLimit, HoldsWhereNothingIsLeftToThin) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder =
      make_recorder(file.path(), {.most_bytes = kMostBytes});
  uint64_t most = 0;
  uint64_t refused = 0;
  for (uint64_t i = 0; i < 600; ++i) {
    base::Status status = recorder->accept(crowd(i));
    if (!status) {
      ASSERT_EQ(status.error().kind, base::ErrorKind::NoSpace)
          << status.error().what;
      ++refused;
    }
    most = std::max(most, bytes_of(file.path()));
  }
  static_cast<void>(recorder->finish());
  most = std::max(most, bytes_of(file.path()));
  EXPECT_LE(most, kMostBytes);
  EXPECT_GT(most, kMostBytes / 2);
  EXPECT_GT(refused, 0U) << "the crowd was too small to show anything";
  recorder.reset();
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  EXPECT_GT(recording->ticks().size(), 10U);
}

TEST(RecorderLimit, HoldsWhileAReaderKeepsTheLog) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder =
      make_recorder(file.path(), {.most_bytes = kMostBytes});
  ASSERT_TRUE(recorder->accept(crowd(0)));
  ASSERT_TRUE(recorder->commit());
  base::Result<Database> reader =
      Database::open(file.path(), OpenMode::ReadOnly);
  ASSERT_TRUE(reader) << reader.error().what;
  ASSERT_TRUE(reader->execute("BEGIN"));
  ASSERT_TRUE(reader->integer("SELECT count(*) FROM ticks"));
  bool was_refused = false;
  for (uint64_t i = 1; i < 400 && !was_refused; ++i) {
    was_refused = !recorder->accept(crowd(i));
    EXPECT_LE(bytes_of(file.path()), kMostBytes);
  }
  EXPECT_TRUE(was_refused);
  ASSERT_TRUE(reader->execute("COMMIT"));
  base::Status status = recorder->accept(crowd(500));
  EXPECT_TRUE(status) << status.error().what;
}

}  // namespace
}  // namespace tidemark::store
