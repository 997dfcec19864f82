// Reads a database of memory-watcher as samples, all generations: the first of
// 2018 (one process, ranges and their sums), its successor with statm, and 0.1
// (processes, oom values, meminfo). They carry no version; columns tell.
//
// What is known to be wrong in such files is put right or left unknown:
// - the one oom column that is filled holds oom_score_adj, under another name;
// - swap_cache is always zero, because it was read under a wrong label;
// - keys are hashes, so samples collide: rows of one stand under another. The
//   sums of a measurement were taken before, so they tell;
// - keys above 2^63 have become floating point numbers;
// - a process without mappings may be a kernel thread, a zombie or somebody
//   else's; statm and what it had before tell.
//
// Samples are read one by one in the order of time; the file is never written
// to, which its own tools do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time_zone.h"
#include "model/sample.h"
#include "store/database.h"
#include "store/watcher_ranges.h"

namespace tidemark::store {

struct WatcherOptions {
  base::TimeZone zone;
  // Of the process, in files that do not name it.
  int32_t pid = 1;
  std::string name;
};

struct WatcherCounts {
  uint64_t measurement_count = 0;
  // With rows of another measurement among their own, and of those the ones
  // whose sums are still not what was measured after taking them out.
  uint64_t collided_count = 0;
  uint64_t unrepaired_count = 0;
  // Measurements that are missing between two of the same process, and those
  // whose process is missing.
  uint64_t bridged_count = 0;
  uint64_t orphan_count = 0;
};

class WatcherFile {
 public:
  // Malformed for any other file.
  static base::Result<WatcherFile> open(const std::string& path,
                                        WatcherOptions options);

  // "memory-watcher 0.1", "memory-watcher of 2018".
  const std::string& generation() const { return generation_; }
  bool names_processes() const { return has_processes_; }

  // False behind the last. Monotonic times are left to the caller.
  base::Result<bool> next(model::Sample& sample);
  const WatcherCounts& counts() const { return counts_; }

 private:
  // A row of `measurement`, and of `process` where there is one.
  struct Measurement {
    int64_t row_id = 0;
    std::string time;
    int64_t rss_kib = 0;
    int64_t pss_kib = 0;
    std::optional<int64_t> process;
    model::Process head;  // all but its mappings
    bool has_statm = false;
  };
  struct Known {
    model::Process process;  // as last measured, without mappings
    std::string last_time;   // of its last measurement in the file
    bool had_memory = false;
    bool is_here = false;  // in the sample that is being made
  };

  WatcherFile(Database database, WatcherOptions options)
      : database_(std::move(database)), options_(std::move(options)) {}

  base::Status prepare();
  base::Status prepare_measurements();
  base::Status prepare_ranges();
  base::Status prepare_machine();
  base::Status load_last_times();
  base::Result<bool> has_column(std::string_view table,
                                std::string_view column);
  base::Status step_measurement();
  base::Status step_machine();
  base::Status take_head(Measurement& measurement);
  base::Status add_process(model::Sample& sample);
  base::Result<std::vector<WatcherRange>> read_ranges(int64_t measurement);
  base::Error malformed(const std::string& what) const;
  void check_sums(const Measurement& measurement,
                  std::vector<WatcherRange>& ranges, model::Sample& sample);
  void bridge_missing(const std::string& time, model::Sample& sample);

  Database database_;
  WatcherOptions options_;
  std::string generation_;
  bool has_processes_ = false;
  bool has_statm_ = false;
  bool has_machine_ = false;
  Statement measurements_;
  Statement ranges_;
  Statement machine_rows_;
  std::optional<Measurement> measurement_;  // the next, not yet taken
  std::optional<std::string> machine_time_;
  std::map<int64_t, Known> known_;
  WatcherCounts counts_;
};

}  // namespace tidemark::store
