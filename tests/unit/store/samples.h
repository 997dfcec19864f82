// Samples for tests of recordings, the file they go to, and what a recording
// promises to give back of them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/recording.h"
#include "model/sample.h"
#include "store/recorder.h"
#include "store/recording.h"

namespace tidemark::test {

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kPeriodNs = 100'000'000;

// A folder of its own, gone with the test. In memory where that can be had: a
// test writes hundreds of recordings, and each is synced to the disk.
class RecordingFile {
 public:
  RecordingFile() {
    const bool has_memory = ::access("/dev/shm", W_OK) == 0;
    std::string name = (has_memory ? "/dev/shm/" : testing::TempDir()) +
                       std::string("tidemark_store_XXXXXX");
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  ~RecordingFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path() const { return (folder_ / "a.tdm").string(); }
  std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

// The lines of smaps as 6.8 and later print them.
inline const std::vector<model::SmapsField>& all_fields() {
  using model::SmapsField;
  static const std::vector<SmapsField> fields = {
      SmapsField::Size,
      SmapsField::KernelPageSize,
      SmapsField::MmuPageSize,
      SmapsField::Rss,
      SmapsField::Pss,
      SmapsField::PssDirty,
      SmapsField::SharedClean,
      SmapsField::SharedDirty,
      SmapsField::PrivateClean,
      SmapsField::PrivateDirty,
      SmapsField::Referenced,
      SmapsField::Anonymous,
      SmapsField::Ksm,
      SmapsField::LazyFree,
      SmapsField::AnonHugePages,
      SmapsField::ShmemPmdMapped,
      SmapsField::FilePmdMapped,
      SmapsField::SharedHugetlb,
      SmapsField::PrivateHugetlb,
      SmapsField::Swap,
      SmapsField::SwapPss,
      SmapsField::Locked,
  };
  return fields;
}

// A mapping with all fields; the resident pages are private and dirty.
inline model::Mapping full_mapping(uint64_t start, uint64_t pages,
                                   uint64_t resident_pages,
                                   std::string name = {}) {
  using model::SmapsField;
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + pages * kPageBytes;
  mapping.permissions = {true, true, false, false};
  mapping.name = std::move(name);
  for (SmapsField field : all_fields())
    mapping.fields.set(field, 0);
  mapping.fields.set(SmapsField::Size, pages * kPageBytes);
  mapping.fields.set(SmapsField::KernelPageSize, kPageBytes);
  mapping.fields.set(SmapsField::MmuPageSize, kPageBytes);
  for (SmapsField field :
       {SmapsField::Rss, SmapsField::Pss, SmapsField::PrivateDirty,
        SmapsField::PssDirty, SmapsField::Anonymous}) {
    mapping.fields.set(field, resident_pages * kPageBytes);
  }
  mapping.vm_flags = model::vm_flag_bit("rd") | model::vm_flag_bit("wr");
  return mapping;
}

// The same as a page scan tells it.
inline model::Mapping scanned_mapping(uint64_t start, uint64_t pages,
                                      uint64_t resident_pages) {
  using model::SmapsField;
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + pages * kPageBytes;
  mapping.permissions = {true, true, false, false};
  mapping.fields.set(SmapsField::Size, pages * kPageBytes);
  mapping.fields.set(SmapsField::Rss, resident_pages * kPageBytes);
  mapping.fields.set(SmapsField::Anonymous, resident_pages * kPageBytes);
  mapping.fields.set(SmapsField::Swap, 0);
  return mapping;
}

inline model::Process process_of(int32_t pid, uint64_t start_ticks,
                                 std::vector<model::Mapping> mappings) {
  model::Process process;
  process.id = {pid, start_ticks};
  process.stat.pid = pid;
  process.stat.start_ticks = start_ticks;
  process.stat.comm = "worker";
  process.stat.parent_pid = 1;
  process.stat.thread_count = 1;
  process.stat.argument_address = 0x7ffd1000;
  process.command_line = std::string("worker\0--fast\0", 14);
  process.executable = model::known(std::string("/usr/bin/worker"));
  process.cgroup_path = "/work";
  process.status.user_id = 1000;
  process.status.thread_count = 1;
  process.statm = model::Statm{100, 50, 20, 10, 30};
  process.kinds.assign(mappings.size(), model::RegionKind::Anonymous);
  process.mappings = model::known(std::move(mappings));
  return process;
}

// As on a tick in which its mappings are not read.
inline model::Process without_detail(model::Process process) {
  process.mappings = {};
  process.kinds.clear();
  process.tier = model::DetailTier::Counters;
  return process;
}

inline model::Sample sample_of(uint64_t index,
                               std::vector<model::Process> processes) {
  model::Sample sample;
  sample.started_realtime_ns = 1'700'000'000'000'000'000 + index * kPeriodNs;
  sample.started_monotonic_ns = 5'000'000'000 + index * kPeriodNs;
  sample.ended_monotonic_ns = sample.started_monotonic_ns + 1'000'000;
  sample.processes = std::move(processes);
  return sample;
}

inline model::RecordingInfo plain_info() {
  model::RecordingInfo info;
  info.tool = "tidemark 0.1.0";
  info.targets = "process 42";
  info.page_size_bytes = kPageBytes;
  info.period_ns = kPeriodNs;
  return info;
}

inline std::unique_ptr<store::Recorder> make_recorder(
    const std::string& path, const store::RecorderOptions& options = {}) {
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(path, plain_info(), options);
  EXPECT_TRUE(recorder) << recorder.error().what;
  return recorder ? std::move(*recorder) : nullptr;
}

inline void accept_all(store::Recorder& recorder,
                       const std::vector<model::Sample>& samples) {
  for (const model::Sample& sample : samples) {
    base::Status status = recorder.accept(sample);
    ASSERT_TRUE(status) << status.error().what;
  }
}

// Writes them all and reads the file that came of it.
inline store::Recording recorded(const RecordingFile& file,
                                 const std::vector<model::Sample>& samples,
                                 const store::RecorderOptions& options = {}) {
  std::unique_ptr<store::Recorder> recorder =
      make_recorder(file.path(), options);
  accept_all(*recorder, samples);
  base::Status finished = recorder->finish();
  EXPECT_TRUE(finished) << finished.error().what;
  recorder.reset();
  base::Result<store::Recording> recording =
      store::Recording::open(file.path());
  EXPECT_TRUE(recording) << recording.error().what;
  return std::move(*recording);
}

inline model::Sample sample_at(const store::Recording& recording,
                               int64_t tick) {
  base::Result<model::Sample> sample = recording.sample_at(tick, {});
  EXPECT_TRUE(sample) << sample.error().what;
  return sample ? std::move(*sample) : model::Sample();
}

inline bool has_memory(model::ProcessState state) {
  return state == model::ProcessState::Ok ||
         state == model::ProcessState::Denied ||
         state == model::ProcessState::Failed;
}

// Everything of a process that a recording keeps, side by side with what came
// back. One line for each difference, so that a failing property says where.
inline void expect_same(const model::Process& given,
                        const model::Process& back) {
  EXPECT_EQ(given.id, back.id);
  EXPECT_EQ(given.stat.comm, back.stat.comm);
  EXPECT_EQ(given.stat.parent_pid, back.stat.parent_pid);
  EXPECT_EQ(given.stat.minor_fault_count, back.stat.minor_fault_count);
  EXPECT_EQ(given.stat.major_fault_count, back.stat.major_fault_count);
  EXPECT_EQ(given.stat.thread_count, back.stat.thread_count);
  EXPECT_EQ(given.state, back.state);
  EXPECT_EQ(given.command_line, back.command_line);
  EXPECT_EQ(given.executable.value.value_or(""),
            back.executable.value.value_or(""));
  EXPECT_EQ(given.cgroup_path, back.cgroup_path);
  EXPECT_EQ(given.status.user_id, back.status.user_id);
  EXPECT_EQ(given.status.peak_rss_bytes, back.status.peak_rss_bytes);
  EXPECT_EQ(given.status.swap_bytes, back.status.swap_bytes);
  EXPECT_EQ(given.status.page_table_bytes, back.status.page_table_bytes);
  EXPECT_EQ(given.status.hugetlb_bytes, back.status.hugetlb_bytes);
  EXPECT_EQ(given.status.locked_bytes, back.status.locked_bytes);
  EXPECT_EQ(given.status.rss_anon_bytes, back.status.rss_anon_bytes);
  EXPECT_EQ(given.status.rss_file_bytes, back.status.rss_file_bytes);
  EXPECT_EQ(given.status.rss_shmem_bytes, back.status.rss_shmem_bytes);
  EXPECT_EQ(given.statm, back.statm);
  EXPECT_EQ(given.oom_score, back.oom_score);
  EXPECT_EQ(given.oom_score_adjustment, back.oom_score_adjustment);
}

inline void expect_same(const std::vector<model::Mapping>& given,
                        const std::vector<model::Mapping>& back) {
  ASSERT_EQ(given.size(), back.size());
  for (size_t i = 0; i < given.size(); ++i) {
    SCOPED_TRACE("mapping " + std::to_string(i) + " '" + given[i].name + "'");
    EXPECT_EQ(given[i].start_address, back[i].start_address);
    EXPECT_EQ(given[i].end_address, back[i].end_address);
    EXPECT_EQ(given[i].permissions, back[i].permissions);
    EXPECT_EQ(given[i].offset_bytes, back[i].offset_bytes);
    EXPECT_EQ(given[i].device_major, back[i].device_major);
    EXPECT_EQ(given[i].device_minor, back[i].device_minor);
    EXPECT_EQ(given[i].inode_id, back[i].inode_id);
    EXPECT_EQ(given[i].name, back[i].name);
    EXPECT_EQ(given[i].is_thp_eligible, back[i].is_thp_eligible);
    EXPECT_EQ(given[i].vm_flags, back[i].vm_flags);
    for (size_t f = 0; f < model::kSmapsFieldCount; ++f) {
      const auto field = static_cast<model::SmapsField>(f);
      EXPECT_EQ(given[i].fields.get(field), back[i].fields.get(field))
          << model::kSmapsLabels[f].kernel_label;
    }
    EXPECT_EQ(given[i], back[i]);
  }
}

}  // namespace tidemark::test
