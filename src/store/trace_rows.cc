#include "store/trace_rows.h"

#include <algorithm>
#include <utility>

#include "store/schema.h"
#include "store/trace_before_rows.h"
#include "store/trace_schema.h"

namespace tidemark::store {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceLeaf;
using model::TraceTask;

constexpr int64_t kNotAsked = -1;
constexpr uint64_t kUnknownLow = UINT64_MAX;  // as no leaf has

uint64_t pair_key(int64_t first, int64_t second) {
  return static_cast<uint64_t>(first) << 32 | static_cast<uint64_t>(second);
}

int64_t flags_of(const TraceTask& task) {
  return (task.is_kernel_thread ? kTraceTaskIsKernelThread : 0) |
         (task.is_interrupt ? kTraceTaskIsInterrupt : 0) |
         (task.has_exited ? kTraceTaskHasExited : 0) |
         (task.folded_count != 0 ? kTraceTaskIsFolded : 0) |
         (task.is_peak_bound ? kTraceTaskPeakIsBound : 0);
}

// Most peaks are where things stand; those need no byte.
std::optional<int64_t> unless_same(uint64_t value, uint64_t pages) {
  if (value == pages) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

// A full reading now and then, so that a moment needs few rows: never when that
// would be most of what is written.
base::Status TraceRows::begin(const Trace& trace) {
  constexpr uint64_t kFewRows = 4096;
  constexpr uint64_t kTimes = 4;
  is_keyframe_ = !keyframe_tick_ || tick_ - *keyframe_tick_ >= kTicksPerBase ||
                 rows_since_keyframe_ >
                     std::max<uint64_t>(kFewRows, keyframe_rows_ * kTimes);
  frame_ids_.assign(trace.frames.size(), 0);
  stack_ids_.assign(trace.stacks.size(), kNotAsked);
  task_ids_.assign(trace.tasks.size(), 0);
  if (!is_keyframe_) return base::Ok{};
  keyframe_tick_ = tick_;
  rows_since_keyframe_ = 0;  // its own come next
  statements_.keyframe.bind(0, tick_);
  return statements_.keyframe.run();
}

// New code waits for its name. The frame that stands for it gets it then: as
// another one it would part each of its leaves in two.
base::Result<int64_t> TraceRows::frame_id(const TraceFrame& frame) {
  base::Result<int64_t> symbol = interned_->text(frame.symbol);
  if (!symbol) return symbol;
  base::Result<int64_t> module = interned_->text(frame.module);
  if (!module) return module;
  base::Result<int64_t> loads = interned_->text(frame.loads);
  if (!loads) return loads;
  base::Result<int64_t> no_word = interned_->text("");
  if (!no_word) return no_word;
  const FrameKey key = {frame.address, *symbol, frame.offset, *module, *loads};
  const auto known = frames_.find(key);
  if (known != frames_.end()) return known->second;
  const auto unnamed =
      frame.address == 0
          ? frames_.end()
          : frames_.find({frame.address, *no_word, 0, *no_word, *no_word});
  const bool is_named_late = unnamed != frames_.end();
  const int64_t id = is_named_late ? unnamed->second
                                   : static_cast<int64_t>(frames_.size()) + 1;
  if (is_named_late) frames_.erase(unnamed);
  frames_.emplace(key, id);
  Statement& row = statements_.frame;
  row.bind(0, id);
  row.bind(1, static_cast<int64_t>(frame.address));
  row.bind(2, *symbol);
  row.bind(3, static_cast<int64_t>(frame.offset));
  row.bind(4, *module);
  row.bind(5, *loads);
  base::Status status = row.run();
  if (!status) return status.error();
  return id;
}

base::Result<int64_t> TraceRows::stack_id(const Trace& trace, uint32_t index) {
  if (stack_ids_[index] != kNotAsked) return stack_ids_[index];
  const model::TraceStack& stack = trace.stacks[index];
  int64_t id = 0;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    int64_t& number = frame_ids_[*frame];
    if (number == 0) {
      base::Result<int64_t> asked = frame_id(trace.frames[*frame]);
      if (!asked) return asked;
      number = *asked;
    }
    auto [at, is_new] = stacks_.try_emplace(
        pair_key(id, number), static_cast<int64_t>(stacks_.size()) + 1);
    if (is_new) {
      Statement& row = statements_.stack;
      row.bind(0, at->second);
      row.bind(1, id);
      row.bind(2, number);
      base::Status status = row.run();
      if (!status) return status.error();
    }
    id = at->second;
  }
  stack_ids_[index] = id;
  return id;
}

base::Result<TraceRows::Task*> TraceRows::task_of(const TraceTask& task) {
  base::Result<int64_t> group = interned_->text(task.cgroup);
  if (!group) return group.error();
  base::Result<int64_t> name = interned_->text(task.name);
  if (!name) return name.error();
  const int64_t telling_name = task.start_ns == 0 ? *name : 0;
  Task* known = nullptr;
  for (int64_t part = 0; known == nullptr; ++part) {
    auto [at, is_new] = tasks_.try_emplace(
        {task.pid, task.start_ns, *group, telling_name, part});
    if (at->second.seen_tick == tick_) continue;  // another one
    known = &at->second;
    if (!is_new) break;
    known->id = static_cast<int64_t>(tasks_.size());
    Statement& row = statements_.task;
    row.bind(0, known->id);
    row.bind(1, int64_t{task.pid});
    row.bind(2, static_cast<int64_t>(task.start_ns));
    row.bind(3, *group);
    row.bind(4, telling_name);
    row.bind(5, part);
    base::Status status = row.run();
    if (!status) return status.error();
  }
  known->seen_tick = tick_;
  base::Result<int64_t> command = interned_->text(task.command_line);
  if (!command) return command.error();
  const Image image = {*name, *command, flags_of(task)};
  if (known->image == image) return known;
  known->image = image;
  Statement& row = statements_.image;
  row.bind(0, known->id);
  row.bind(1, tick_);
  row.bind(2, image.name);
  row.bind(3, image.command);
  row.bind(4, image.flags);
  base::Status status = row.run();
  if (!status) return status.error();
  return known;
}

base::Status TraceRows::write_task_row(Task& known, const TaskRow& row) {
  known.is_shown = row.pages.has_value();
  if (known.row == row && !is_keyframe_) return base::Ok{};
  known.row = row;
  ++rows_since_keyframe_;
  Statement& change = statements_.task_change;
  change.bind(0, tick_);
  change.bind(1, known.id);
  change.bind(2, row.pages);
  change.bind(3, row.peak_pages);
  return change.run();
}

base::Status TraceRows::write_task(const TraceTask& task, Task& known) {
  return write_task_row(known, {static_cast<int64_t>(task.pages),
                                unless_same(task.peak_pages, task.pages)});
}

base::Result<TraceRows::Leaf*> TraceRows::leaf_of(int64_t stack, int64_t task) {
  auto [at, is_new] = leaves_.try_emplace(pair_key(stack, task));
  Leaf& known = at->second;
  if (!is_new) return &known;
  known.id = static_cast<int64_t>(leaves_.size());
  Statement& row = statements_.leaf;
  row.bind(0, known.id);
  row.bind(1, stack);
  row.bind(2, task);
  base::Status status = row.run();
  if (!status) return status.error();
  return &known;
}

base::Status TraceRows::write_leaf_row(Leaf& known, const LeafRow& row) {
  known.is_shown = row.pages.has_value();
  if (known.row == row && !is_keyframe_) return base::Ok{};
  known.row = row;
  ++rows_since_keyframe_;
  Statement& change = statements_.change;
  change.bind(0, tick_);
  change.bind(1, known.id);
  change.bind(2, row.pages);
  change.bind(3, row.peak_pages);
  change.bind(4, row.machine_peak_pages);
  change.bind(5, row.allocation_count);
  change.bind(6, row.held_since_ns);
  return change.run();
}

base::Status TraceRows::write_lows(const TraceLeaf& leaf, Leaf& known) {
  const bool says_something =
      std::ranges::any_of(leaf.lows, [](uint64_t low) { return low != 0; });
  if (says_something ? leaf.lows == known.lows : known.lows.empty()) {
    return base::Ok{};
  }
  known.lows.clear();
  if (!says_something) {
    statements_.no_low.bind(0, known.id);
    return statements_.no_low.run();
  }
  known.lows = leaf.lows;
  std::string text;
  for (uint64_t low : leaf.lows)
    text += (text.empty() ? "" : " ") + std::to_string(low);
  statements_.low.bind(0, known.id);
  statements_.low.bind(1, std::string_view(text));
  return statements_.low.run();
}

// Since when, not how long: the one stands still while it holds.
base::Status TraceRows::write_leaf(const Trace& trace, const TraceLeaf& leaf,
                                   Leaf& known) {
  known.seen_tick = tick_;
  LeafRow row;
  row.pages = static_cast<int64_t>(leaf.pages);
  row.peak_pages = unless_same(leaf.peak_pages, leaf.pages);
  row.machine_peak_pages = unless_same(leaf.machine_peak_pages, leaf.pages);
  row.allocation_count = static_cast<int64_t>(leaf.allocation_count);
  if (leaf.held_ns != 0) {
    row.held_since_ns = static_cast<int64_t>(trace.elapsed_ns - leaf.held_ns);
  }
  base::Status status = write_leaf_row(known, row);
  if (!status) return status;
  return write_lows(leaf, known);
}

// Those that never held a page by any stack say nothing, and can be many.
base::Status TraceRows::write_tasks(const Trace& trace) {
  std::vector<bool> has_leaf(trace.tasks.size());
  for (const TraceLeaf& leaf : trace.leaves)
    has_leaf[leaf.task] = true;
  for (size_t i = 0; i < trace.tasks.size(); ++i) {
    const TraceTask& task = trace.tasks[i];
    if (!has_leaf[i] && task.pages == 0 && task.peak_pages == 0) continue;
    base::Result<Task*> known = task_of(task);
    if (!known) return known.error();
    task_ids_[i] = (*known)->id;
    base::Status status = write_task(task, **known);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status TraceRows::write_leaves(const Trace& trace) {
  for (const TraceLeaf& leaf : trace.leaves) {
    base::Result<int64_t> stack = stack_id(trace, leaf.stack);
    if (!stack) return stack.error();
    base::Result<Leaf*> known = leaf_of(*stack, task_ids_[leaf.task]);
    if (!known) return known.error();
    base::Status status = write_leaf(trace, leaf, **known);
    if (!status) return status;
  }
  return base::Ok{};
}

// Those of which the file may say something, and the reading does not.
base::Status TraceRows::end_missing() {
  for (auto& [key, task] : tasks_) {
    if (!task.is_shown || task.seen_tick == tick_) continue;
    base::Status status = write_task_row(task, {});
    if (!status) return status;
  }
  for (auto& [key, leaf] : leaves_) {
    if (!leaf.is_shown || leaf.seen_tick == tick_) continue;
    base::Status status = write_leaf_row(leaf, {});
    if (status) status = write_lows({}, leaf);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status TraceRows::write(const Trace& trace, int64_t tick,
                              Interned& interned) {
  interned_ = &interned;
  tick_ = tick;
  base::Status status = begin(trace);
  if (status) status = write_tasks(trace);
  if (status) status = write_leaves(trace);
  if (status) status = end_missing();
  if (status) status = head_.write(trace, tick, is_keyframe_, interned);
  if (status && trace.before) {
    status = write_trace_before(*database_, *trace.before, interned);
  }
  if (status && trace.slab) {
    status = slab_.write(*trace.slab, tick, interned);
  }
  if (status) status = user_.write(trace, tick, *database_, interned);
  if (is_keyframe_) keyframe_rows_ = std::exchange(rows_since_keyframe_, 0);
  interned_ = nullptr;
  return status;
}

base::Status TraceRows::prepare(Database& database) {
  const std::pair<Statement*, const char*> wanted[] = {
      {&statements_.keyframe, "INSERT INTO trace_keyframe VALUES(?)"},
      {&statements_.frame,
       "INSERT OR REPLACE INTO trace_frame VALUES(?,?,?,?,?,?)"},
      {&statements_.stack, "INSERT INTO trace_stack VALUES(?,?,?)"},
      {&statements_.task, "INSERT INTO trace_task VALUES(?,?,?,?,?,?)"},
      {&statements_.image, "INSERT INTO trace_image VALUES(?,?,?,?,?)"},
      {&statements_.leaf, "INSERT INTO trace_leaf VALUES(?,?,?)"},
      {&statements_.task_change,
       "INSERT INTO trace_task_change VALUES(?,?,?,?)"},
      {&statements_.change, "INSERT INTO trace_change VALUES(?,?,?,?,?,?,?)"},
      {&statements_.low, "INSERT OR REPLACE INTO trace_low VALUES(?,?)"},
      {&statements_.no_low, "DELETE FROM trace_low WHERE leaf = ?"},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Result<Statement> made = database.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  base::Result<TraceHeadRows> head = TraceHeadRows::open(database);
  if (!head) return head.error();
  head_ = std::move(*head);
  base::Result<TraceSlabRows> slab = TraceSlabRows::open(database);
  if (!slab) return slab.error();
  slab_ = std::move(*slab);
  return base::Ok{};
}

// Numbers are given in order and none is ever taken back, so the count of rows
// is the last of them.
base::Status TraceRows::load(Database& database) {
  const auto each = [&](const char* sql, const auto& take) -> base::Status {
    base::Result<Statement> rows = database.prepare(sql);
    if (!rows) return rows.error();
    while (true) {
      base::Result<bool> row = rows->step();
      if (!row) return row.error();
      if (!*row) return base::Ok{};
      take(*rows);
    }
  };
  base::Status status =
      each("SELECT id, address, symbol, offset, module, loads FROM trace_frame",
           [&](const Statement& row) {
             frames_.emplace(
                 FrameKey(static_cast<uint64_t>(row.integer(1)), row.integer(2),
                          static_cast<uint64_t>(row.integer(3)), row.integer(4),
                          row.integer(5)),
                 row.integer(0));
           });
  if (status) {
    status = each("SELECT id, parent, frame FROM trace_stack",
                  [&](const Statement& row) {
                    stacks_.emplace(pair_key(row.integer(1), row.integer(2)),
                                    row.integer(0));
                  });
  }
  if (status) {
    status =
        each("SELECT id, pid, start_ns, cgroup, name, part FROM trace_task",
             [&](const Statement& row) {
               Task task;
               task.id = row.integer(0);
               task.is_shown = true;
               tasks_.emplace(
                   TaskKey(static_cast<int32_t>(row.integer(1)),
                           static_cast<uint64_t>(row.integer(2)),
                           row.integer(3), row.integer(4), row.integer(5)),
                   task);
             });
  }
  if (!status) return status;
  return each(
      "SELECT l.id, l.stack, l.task, w.pages FROM trace_leaf l "
      "LEFT JOIN trace_low w ON w.leaf = l.id",
      [&](const Statement& row) {
        Leaf leaf;
        leaf.id = row.integer(0);
        leaf.is_shown = true;
        // Not read: other lows are written over them.
        if (!row.text(3).empty()) leaf.lows = {kUnknownLow};
        leaves_.emplace(pair_key(row.integer(1), row.integer(2)),
                        std::move(leaf));
      });
}

base::Result<TraceRows> TraceRows::open(Database& database) {
  base::Result<bool> is_there = has_trace_section(database);
  if (!is_there) return is_there.error();
  base::Status status =
      *is_there ? base::Status(base::Ok{}) : create_trace_section(database);
  // A file from before they were there gets them now.
  if (status) status = add_trace_additions(database);
  TraceRows rows;
  rows.database_ = &database;
  if (status) status = rows.prepare(database);
  if (status && *is_there) status = rows.load(database);
  if (!status) return status.error();
  return rows;
}

}  // namespace tidemark::store
