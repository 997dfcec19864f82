// Files and samples for tests of the store.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/moment.h"
#include "store/database.h"
#include "store/recorder.h"
#include "store/recording.h"

namespace tidemark::test {

// An empty folder, gone with its contents at the end of the scope.
class Scratch {
 public:
  Scratch() {
    std::string name = testing::TempDir() + "tidemark_store_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

inline std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void make_database(const std::string& path, const std::string& sql) {
  base::Result<store::Database> database =
      store::Database::open(path, store::OpenMode::Create);
  ASSERT_TRUE(database) << database.error().what;
  base::Status status = database->execute(sql);
  ASSERT_TRUE(status) << status.error().what;
}

inline void change_database(const std::string& path, const std::string& sql) {
  base::Result<store::Database> database =
      store::Database::open(path, store::OpenMode::ReadWrite);
  ASSERT_TRUE(database) << database.error().what;
  base::Status status = database->execute(sql);
  ASSERT_TRUE(status) << status.error().what;
}

// The first column of the first row.
inline int64_t asked(const std::string& path, const std::string& sql) {
  base::Result<store::Database> database =
      store::Database::open(path, store::OpenMode::ReadOnly);
  EXPECT_TRUE(database) << database.error().what;
  if (!database) return -1;
  base::Result<int64_t> value = database->integer(sql);
  EXPECT_TRUE(value) << value.error().what;
  return value ? *value : -1;
}

inline model::Mapping mapping_at(uint64_t start, std::string name,
                                 uint64_t pss_kib) {
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + 0x10000;
  mapping.permissions = model::permissions_from_letters("rw-p");
  mapping.name = std::move(name);
  mapping.fields.set(model::SmapsField::Rss, pss_kib * 1024);
  mapping.fields.set(model::SmapsField::Pss, pss_kib * 1024);
  return mapping;
}

inline model::Process process_of(int32_t pid,
                                 std::vector<model::Mapping> mappings) {
  model::Process process;
  process.id = {pid, 100};
  process.stat.pid = pid;
  process.stat.comm = "p" + std::to_string(pid);
  process.mappings = model::known(std::move(mappings));
  return process;
}

// A second after the one before.
inline model::Sample sample_of_second(uint64_t second,
                                      std::vector<model::Process> processes) {
  model::Sample sample;
  sample.started_realtime_ns = (1'800'000'000 + second) * 1'000'000'000;
  sample.started_monotonic_ns = second * 1'000'000'000;
  sample.ended_monotonic_ns = sample.started_monotonic_ns;
  sample.processes = std::move(processes);
  return sample;
}

inline void record(const std::string& path,
                   const std::vector<model::Sample>& samples) {
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(path, {}, {});
  ASSERT_TRUE(recorder) << recorder.error().what;
  for (const model::Sample& sample : samples) {
    base::Status status = (*recorder)->accept(sample);
    ASSERT_TRUE(status) << status.error().what;
  }
  base::Status status = (*recorder)->finish();
  ASSERT_TRUE(status) << status.error().what;
}

}  // namespace tidemark::test
