// A Source for recordings: follows the chosen processes, keeps their files
// open, and reads each as closely as the budget allows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/sample.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/smaps_file.h"
#include "source/tracked_process.h"
#include "watch/detail_budget.h"

namespace tidemark::watch {

struct RecordSelection {
  std::vector<model::ProcessId> targets;
  std::vector<std::string> names;    // also those that appear later
  std::vector<std::string> cgroups;  // and the groups below them
  bool everything = false;
  // Who belongs to it, where somebody else knows that.
  std::function<std::vector<int32_t>()> members;
  bool with_descendants = true;
  bool until_exit = true;  // Gone once none of the chosen is left
};

// How closely processes were read, over the whole recording.
struct DetailTally {
  uint64_t process_count = 0;     // of those that have memory
  uint64_t unreadable_count = 0;  // whose mappings may or can not be read
  uint64_t seldom_count = 0;      // not read in full in some tick
};

class RecordSource : public model::Source {
 public:
  RecordSource(const source::Roots& roots, RecordSelection selection,
               const BudgetOptions& budget);

  base::Status collect(model::Sample& sample) override;

  // The next collect() is one of a new high: what has grown is read in full.
  void expect_new_high() { is_new_high_ = true; }

  // PSS of the last detail of all that live, for the progress line.
  uint64_t pss_bytes() const { return pss_bytes_; }
  size_t process_count() const { return tracked_.size(); }
  DetailTally tally() const;
  // None of those that were chosen lets its mappings be read.
  bool is_denied() const;
  std::vector<int32_t> pids() const;

 private:
  struct Tracked {
    Tracked(source::TrackedProcess opened, bool is_chosen)
        : process(std::move(opened)), is_target(is_chosen) {}
    source::TrackedProcess process;
    DetailState detail;
    bool is_target = false;  // chosen itself, not followed to
    uint64_t pss_bytes = 0;
    bool was_expensive = false;  // as the last note about it says
    bool has_memory = false;
    bool is_unreadable = false;
    bool was_seldom = false;
  };

  base::Status find_processes();
  base::Status add_all();
  base::Status add_named();
  base::Status add_in_groups();
  void add_descendants();
  void add(int32_t pid, bool is_target);
  void read_counters(model::Sample& sample);
  static void count(const Tracked& tracked, DetailTally& tally);
  void read_process(Tracked& tracked, model::Process& out,
                    model::Sample& sample);
  void read_detail(Tracked& tracked, model::DetailTier tier,
                   model::Process& out);
  void plan_detail(model::Sample& sample);
  void note_plan(const std::vector<DetailState*>& states,
                 model::Sample& sample);
  void note_stall(Tracked& tracked, model::Sample& sample) const;
  void note_unreadable(model::Sample& sample);
  void read_machine_parts(model::Sample& sample);
  bool has_target() const;

  const source::Roots& roots_;
  RecordSelection selection_;
  BudgetOptions budget_options_;
  source::CgroupHierarchy cgroups_;
  source::ProcessReader reader_;
  source::SmapsReader smaps_;
  DetailBudget budget_;
  std::map<int32_t, Tracked> tracked_;
  std::set<int32_t> strangers_;  // of --name: looked at, not meant
  std::vector<model::DeviceNumber> memory_devices_;
  uint64_t collect_count_ = 0;
  uint64_t pss_bytes_ = 0;
  uint32_t noted_step_ = 1;  // the largest, as the last note says
  bool was_whole_ = true;    // as the last note says
  uint64_t noted_unreadable_ = 0;
  std::string unreadable_because_;  // of the first of the tick
  DetailTally gone_;
  bool is_new_high_ = false;
  bool has_had_target_ = false;
};

}  // namespace tidemark::watch
