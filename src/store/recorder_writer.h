// The inside of store::Recorder. Its methods are in four files: transactions
// and ticks (recorder.cc), what is taken from the file, also after a loss
// (recorder_load.cc), processes (recorder_processes.cc), and the machine with
// its control groups and the trace (recorder_machine.cc).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/recording.h"
#include "model/sample.h"
#include "store/database.h"
#include "store/interned.h"
#include "store/machine_rows.h"
#include "store/process_rows.h"
#include "store/recorder.h"
#include "store/trace_rows.h"
#include "store/vm_rows.h"

namespace tidemark::store {

// What of the file's contents is in memory is loaded anew when a transaction
// was lost, so that the two never disagree; what was read of the processes is
// kept and written again.
class Recorder::Writer {
 public:
  static base::Result<std::unique_ptr<Writer>> create(
      const std::string& path, const model::RecordingInfo& info,
      const RecorderOptions& options);

  base::Status accept(const model::Sample& sample);
  void miss(const std::vector<model::MissedTick>& missed) {
    missed_at_end_ = missed;
  }
  base::Status commit();
  base::Status finish();
  RecorderState state() const { return state_; }

 private:
  struct Group {
    int64_t id = 0;
    CgroupRow row;
    bool has_row = false;
    bool is_shown = false;  // its last row in the file tells something
    int64_t seen_tick = -1;
  };
  using ProcessKey = std::pair<int32_t, uint64_t>;  // pid and start time
  struct Live {
    ProcessRows rows;
    int64_t seen_tick = -1;
  };
  // A group that was removed and made anew is another one.
  using GroupKey = std::pair<std::string, uint64_t>;
  // Samples that were taken and are not in the file yet.
  struct Uncommitted {
    uint64_t first_ns = 0;
    uint64_t count = 0;
    std::vector<model::MissedTick> missed;

    void add(const model::Sample& sample);
  };
  struct Statements {
    ProcessStatements process;
    Statement tick;
    Statement missed;
    Statement epoch;
    Statement note;
    Statement category;
    Statement machine;
    Statement cgroup;
    Statement cgroup_sample;
  };

  Writer(Database database, model::RecordingInfo info, RecorderOptions options)
      : database_(std::move(database)),
        info_(std::move(info)),
        options_(options) {}

  base::Status begin(const model::Sample& sample);
  base::Status write(const model::Sample& sample);
  base::Status write_epoch();
  base::Status write_tick(const model::Sample& sample);
  base::Status write_missed(const std::vector<model::MissedTick>& gaps);
  base::Status write_end();
  base::Status write_notes(const model::Sample& sample);
  base::Status keep_small();
  base::Status limit_size();
  base::Status limit_log();
  void make_room(const base::Error& because);

  base::Status load();
  base::Status prepare();
  base::Status load_mappings();
  base::Status load_processes();
  base::Status load_totals();
  base::Status load_groups();

  base::Status write_fields(const model::Sample& sample);
  base::Status write_processes(const model::Sample& sample);
  base::Result<ProcessRows*> rows_of(const model::Process& process);
  base::Status end_missing();
  base::Status write_categories(const model::Sample& sample);

  base::Status write_trace(const model::Sample& sample);
  base::Status write_vms(const model::Sample& sample);
  base::Status write_machine(const model::Sample& sample);
  base::Status write_cgroups(const model::Sample& sample);
  base::Result<Group*> group_of(const model::Cgroup& cgroup);
  base::Status write_group(Group& group, const CgroupRow& values);

  bool is_commit_due(const model::Sample& sample) const;
  void give_up();
  void watch_space();

  Database database_;
  model::RecordingInfo info_;
  RecorderOptions options_;
  RecorderState state_;
  bool is_stale_ = false;
  bool has_lost_ = false;  // since the last commit
  Uncommitted open_;
  std::vector<model::MissedTick> lost_;  // of which the file knows nothing
  std::vector<model::MissedTick> missed_at_end_;
  uint64_t opened_ns_ = 0;   // when the open transaction began
  uint64_t page_bytes_ = 1;  // of the file; known where there is a limit

  // From the file.
  std::optional<Statements> statements_;
  std::optional<Interned> interned_;
  int64_t next_tick_ = 0;
  int64_t next_process_ = 1;
  int64_t next_group_ = 1;
  int64_t last_epoch_ = -1;

  std::map<ProcessKey, Live> processes_;
  std::optional<std::map<int64_t, std::vector<StoredMapping>>> stored_mappings_;
  std::map<GroupKey, Group> groups_;
  model::BestShares totals_{};
  std::optional<TraceRows> trace_;  // once there is one
  std::optional<VmRows> vms_;       // the same
};

}  // namespace tidemark::store
