// What of a trace is written when: each reading is compared with the one
// before, and only what has changed gets a row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "store/database.h"
#include "store/interned.h"
#include "store/trace_head_rows.h"
#include "store/trace_slab_rows.h"
#include "store/trace_user_rows.h"

namespace tidemark::store {

class TraceRows {
 public:
  // Makes the section where there is none, in the transaction that is open;
  // goes on from what the file holds. What it held last is not looked up: the
  // next reading is written in full.
  static base::Result<TraceRows> open(Database& database);

  // Traces of one recording are of one run, and of one leaf for each stack and
  // task.
  base::Status write(const model::Trace& trace, int64_t tick,
                     Interned& interned);

 private:
  struct TaskRow {
    std::optional<int64_t> pages;
    std::optional<int64_t> peak_pages;
    bool operator==(const TaskRow&) const = default;
  };
  struct Image {
    int64_t name = 0;
    int64_t command = 0;
    int64_t flags = 0;
    bool operator==(const Image&) const = default;
  };
  struct Task {
    int64_t id = 0;
    std::optional<TaskRow> row;  // as last written; empty: not known
    std::optional<Image> image;
    int64_t seen_tick = -1;
    bool is_shown = false;  // its last row in the file tells something
  };
  struct LeafRow {
    std::optional<int64_t> pages;
    std::optional<int64_t> peak_pages;
    std::optional<int64_t> machine_peak_pages;
    std::optional<int64_t> allocation_count;
    std::optional<int64_t> held_since_ns;
    bool operator==(const LeafRow&) const = default;
  };
  struct Leaf {
    int64_t id = 0;
    std::optional<LeafRow> row;
    int64_t seen_tick = -1;
    bool is_shown = false;
    std::vector<uint64_t> lows;  // as written; empty: they are not
  };
  struct Statements {
    Statement keyframe;
    Statement frame;
    Statement stack;
    Statement task;
    Statement image;
    Statement leaf;
    Statement task_change;
    Statement change;
    Statement low;
    Statement no_low;
  };
  // Address, symbol, offset, module, what it loads; the words by their numbers.
  using FrameKey = std::tuple<uint64_t, int64_t, uint64_t, int64_t, int64_t>;
  // Pid, start, group, name where the start is not known, and which one of
  // those that are the same in all of these.
  using TaskKey = std::tuple<int32_t, uint64_t, int64_t, int64_t, int64_t>;

  TraceRows() = default;
  base::Status prepare(Database& database);
  base::Status load(Database& database);

  base::Status begin(const model::Trace& trace);
  base::Result<int64_t> frame_id(const model::TraceFrame& frame);
  base::Result<int64_t> stack_id(const model::Trace& trace, uint32_t index);
  base::Result<Task*> task_of(const model::TraceTask& task);
  base::Status write_task(const model::TraceTask& task, Task& known);
  base::Status write_task_row(Task& known, const TaskRow& row);
  base::Result<Leaf*> leaf_of(int64_t stack, int64_t task);
  base::Status write_leaf(const model::Trace& trace,
                          const model::TraceLeaf& leaf, Leaf& known);
  base::Status write_leaf_row(Leaf& known, const LeafRow& row);
  base::Status write_lows(const model::TraceLeaf& leaf, Leaf& known);
  base::Status write_tasks(const model::Trace& trace);
  base::Status write_leaves(const model::Trace& trace);
  base::Status end_missing();

  Database* database_ = nullptr;
  Statements statements_;
  TraceHeadRows head_;
  TraceSlabRows slab_;
  TraceUserRows user_;
  std::map<FrameKey, int64_t> frames_;
  std::unordered_map<uint64_t, int64_t> stacks_;  // by parent and frame
  std::map<TaskKey, Task> tasks_;
  std::unordered_map<uint64_t, Leaf> leaves_;  // by stack and task

  // Of the reading that is being written.
  Interned* interned_ = nullptr;
  int64_t tick_ = 0;
  bool is_keyframe_ = false;
  std::vector<int64_t> frame_ids_;  // by the trace's index; 0: not asked yet
  std::vector<int64_t> stack_ids_;  // the same; -1: not asked yet
  std::vector<int64_t> task_ids_;

  // As last written.
  std::optional<int64_t> keyframe_tick_;
  uint64_t keyframe_rows_ = 0;  // that it took
  uint64_t rows_since_keyframe_ = 0;
};

}  // namespace tidemark::store
