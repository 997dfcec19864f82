#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "store/recording_reader.h"
#include "store/trace_before_rows.h"
#include "store/trace_schema.h"
#include "store/trace_slab_rows.h"
#include "store/trace_user_rows.h"

namespace tidemark::store {
namespace {

using model::Trace;
using model::TraceLeaf;
using model::TraceTask;

// More pages than any machine has, and few enough that sums are numbers.
constexpr int64_t kMostPages = int64_t{1} << 46;
// Deeper than any unwinder goes.
constexpr size_t kMostDepth = 4096;

// A number of pages, of times or of nanoseconds; empty: none that makes sense.
std::optional<uint64_t> sane(std::optional<int64_t> value) {
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<uint64_t> sane_pages(std::optional<int64_t> value) {
  return value && *value <= kMostPages ? sane(value) : std::nullopt;
}

// What a row says of a peak, which is where things stand unless it says.
std::optional<uint64_t> peak_in(const Statement& row, int column,
                                uint64_t pages) {
  const std::optional<int64_t> value = row.maybe_integer(column);
  return value ? sane_pages(value) : pages;
}

}  // namespace

// The file's numbers of frames, stacks and tasks, and which index each got in
// the trace that is being made.
struct Recording::Reader::TraceParts {
  struct Stack {
    int64_t parent = 0;
    int64_t frame = 0;
  };
  struct Leaf {
    int64_t stack = 0;
    int64_t task = 0;
  };
  std::unordered_map<int64_t, model::TraceFrame> frames;
  std::unordered_map<int64_t, Stack> stacks;
  std::unordered_map<int64_t, Leaf> leaves;
  std::unordered_map<int64_t, uint32_t> frame_index;
  std::unordered_map<int64_t, uint32_t> stack_index;
  std::unordered_map<int64_t, uint32_t> task_index;
  std::map<int64_t, TraceLeaf> told;  // by the number of the leaf

  // Empty: the file contradicts itself.
  std::optional<uint32_t> frame_at(int64_t id, Trace& trace);
  std::optional<uint32_t> stack_at(int64_t id, Trace& trace);
};

std::optional<uint32_t> Recording::Reader::TraceParts::frame_at(int64_t id,
                                                                Trace& trace) {
  const auto known = frame_index.find(id);
  if (known != frame_index.end()) return known->second;
  const auto frame = frames.find(id);
  if (frame == frames.end()) return std::nullopt;
  const auto index = static_cast<uint32_t>(trace.frames.size());
  trace.frames.push_back(frame->second);
  frame_index.emplace(id, index);
  return index;
}

std::optional<uint32_t> Recording::Reader::TraceParts::stack_at(int64_t id,
                                                                Trace& trace) {
  const auto known = stack_index.find(id);
  if (known != stack_index.end()) return known->second;
  model::TraceStack stack;
  for (int64_t at = id; at != 0;) {
    const auto part = stacks.find(at);
    // A circle would have no end.
    if (part == stacks.end() || stack.size() == kMostDepth) return std::nullopt;
    const std::optional<uint32_t> frame = frame_at(part->second.frame, trace);
    if (!frame) return std::nullopt;
    stack.push_back(*frame);
    at = part->second.parent;
  }
  const auto index = static_cast<uint32_t>(trace.stacks.size());
  trace.stacks.push_back(std::move(stack));
  stack_index.emplace(id, index);
  return index;
}

base::Result<Trace> Recording::Reader::read_trace_head() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT name, value FROM recording WHERE name LIKE 'trace\\_%' "
      "ESCAPE '\\'");
  if (!rows) return rows.error();
  Trace trace;
  trace.page_size_bytes = 0;
  std::optional<model::TraceBackend> backend;
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    const std::string_view name = rows->text(0);
    const std::string value(rows->text(1));
    if (name == kTraceBackendName)
      backend = model::trace_backend_from_token(value);
    for (const TraceSwitch& each : kTraceSwitches) {
      if (each.name == name) trace.*each.target = value != "0";
    }
    for (const TraceNumber& number : kTraceNumbers) {
      if (number.name != name) continue;
      const std::optional<uint64_t> told = base::parse_u64(value);
      is_sane &= told.has_value();
      trace.*number.target = told.value_or(0);
    }
  });
  if (!status) return status.error();
  constexpr uint64_t kLargestPage = uint64_t{1} << 30;
  if (!is_sane || !backend || trace.page_size_bytes == 0 ||
      trace.page_size_bytes > kLargestPage || trace.sample_period == 0) {
    return damaged("a trace without a beginning");
  }
  trace.backend = *backend;
  return trace;
}

base::Status Recording::Reader::load_trace_parts(TraceParts& parts) {
  base::Result<Statement> frames = database_.prepare(
      "SELECT f.id, f.address, s.value, f.offset, m.value, l.value "
      "FROM trace_frame f LEFT JOIN text s ON s.id = f.symbol "
      "LEFT JOIN text m ON m.id = f.module "
      "LEFT JOIN text l ON l.id = f.loads");
  if (!frames) return frames.error();
  base::Status status = for_each(*frames, [&] {
    parts.frames[frames->integer(0)] = {
        static_cast<uint64_t>(frames->integer(1)), std::string(frames->text(2)),
        static_cast<uint64_t>(frames->integer(3)), std::string(frames->text(4)),
        std::string(frames->text(5))};
  });
  if (!status) return status;
  base::Result<Statement> stacks =
      database_.prepare("SELECT id, parent, frame FROM trace_stack");
  if (!stacks) return stacks.error();
  status = for_each(*stacks, [&] {
    parts.stacks[stacks->integer(0)] = {stacks->integer(1), stacks->integer(2)};
  });
  if (!status) return status;
  base::Result<Statement> leaves =
      database_.prepare("SELECT id, stack, task FROM trace_leaf");
  if (!leaves) return leaves.error();
  return for_each(*leaves, [&] {
    parts.leaves[leaves->integer(0)] = {leaves->integer(1), leaves->integer(2)};
  });
}

base::Status Recording::Reader::read_trace_tick(int64_t tick, Trace& trace,
                                                int64_t& found_tick,
                                                uint64_t& low_count) {
  base::Result<Statement> row = database_.prepare(
      "SELECT tick, elapsed_ns, pages, peak_pages, peak_utc_ns, "
      "low_stretch_ns, low_count FROM trace_tick WHERE tick <= ? "
      "ORDER BY tick DESC LIMIT 1");
  if (!row) return row.error();
  row->bind(0, tick);
  base::Result<bool> is_there = row->step();
  if (!is_there) return is_there.error();
  if (!*is_there) {
    return base::fail(base::ErrorKind::NotFound,
                      path() + ": the trace had not begun at that moment");
  }
  found_tick = row->integer(0);
  const std::optional<uint64_t> elapsed = sane(row->maybe_integer(1));
  const std::optional<uint64_t> pages = sane_pages(row->maybe_integer(2));
  const std::optional<uint64_t> peak = sane_pages(row->maybe_integer(3));
  constexpr int64_t kMostLows = 1 << 16;
  if (!elapsed || !pages || !peak || row->integer(5) < 0 ||
      row->integer(6) < 0 || row->integer(6) > kMostLows) {
    return damaged("a trace with absurd numbers");
  }
  trace.elapsed_ns = *elapsed;
  trace.pages = *pages;
  trace.peak_pages = *peak;
  trace.peak_realtime_ns = static_cast<uint64_t>(row->integer(4));
  trace.low_stretch_ns = static_cast<uint64_t>(row->integer(5));
  low_count = static_cast<uint64_t>(row->integer(6));
  return base::Ok{};
}

base::Status Recording::Reader::read_trace_faults(int64_t tick,
                                                  model::TraceFaults& faults) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT n.value, f.count FROM trace_fault f JOIN text n ON n.id = f.name "
      "WHERE f.tick BETWEEN (SELECT max(tick) FROM trace_keyframe "
      "WHERE tick <= ?) AND ? ORDER BY f.tick");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  rows->bind(1, tick);
  return for_each(*rows, [&] {
    for (const TraceFaultName& fault : kTraceFaultNames) {
      if (fault.name == rows->text(0)) {
        faults.*fault.target = static_cast<uint64_t>(rows->integer(1));
      }
    }
  });
}

base::Status Recording::Reader::read_trace_notes(int64_t tick, Trace& trace) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT t.value FROM trace_note n JOIN text t ON t.id = n.text "
      "WHERE n.tick = (SELECT max(tick) FROM trace_note WHERE tick <= ?) "
      "ORDER BY n.no");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  return for_each(
      *rows, [&] { trace.notes.emplace_back(std::string(rows->text(0))); });
}

base::Status Recording::Reader::read_trace_modules(int64_t tick, Trace& trace) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT t.value, m.image_bytes, m.flags FROM trace_module m "
      "JOIN text t ON t.id = m.name "
      "WHERE m.tick = (SELECT max(tick) FROM trace_module WHERE tick <= ?) "
      "ORDER BY m.no");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  return for_each(*rows, [&] {
    const int64_t flags = rows->integer(2);
    trace.modules.push_back({std::string(rows->text(0)),
                             sane(rows->maybe_integer(1)).value_or(0),
                             (flags & kTraceModuleWasLoaded) != 0,
                             (flags & kTraceModuleWasUnloaded) != 0});
  });
}

base::Status Recording::Reader::read_trace_additions(int64_t tick,
                                                     Trace& trace) {
  base::Result<bool> has_them = has_trace_additions(database_);
  if (!has_them) return has_them.error();
  if (!*has_them) return base::Ok{};
  base::Result<std::optional<model::TraceBefore>> before =
      read_trace_before(database_);
  if (!before) return before.error();
  trace.before = std::move(*before);
  base::Result<std::optional<model::Reading<model::SlabTrace>>> slab =
      read_trace_slab(database_, tick);
  if (!slab) return slab.error();
  trace.slab = std::move(*slab);
  return base::Ok{};
}

base::Result<uint64_t> Recording::Reader::folded_task_count() {
  base::Result<Statement> row =
      database_.prepare("SELECT value FROM recording WHERE name = ?");
  if (!row) return row.error();
  row->bind(0, kTraceFoldedName);
  base::Result<bool> is_there = row->step();
  if (!is_there) return is_there.error();
  if (!*is_there) return uint64_t{0};
  return base::parse_u64(row->text(0)).value_or(0);
}

base::Status Recording::Reader::read_trace_tasks(int64_t first, int64_t last,
                                                 TraceParts& parts,
                                                 Trace& trace) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT task, pages, peak FROM trace_task_change "
      "WHERE tick BETWEEN ? AND ? ORDER BY tick");
  if (!rows) return rows.error();
  rows->bind(0, first);
  rows->bind(1, last);
  std::map<int64_t, TraceTask> told;
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    const std::optional<int64_t> said = rows->maybe_integer(1);
    if (!said) {
      told.erase(rows->integer(0));
      return;
    }
    const std::optional<uint64_t> pages = sane_pages(said);
    const std::optional<uint64_t> peak = peak_in(*rows, 2, pages.value_or(0));
    is_sane &= pages && peak;
    TraceTask& task = told[rows->integer(0)];
    task.pages = pages.value_or(0);
    task.peak_pages = peak.value_or(0);
  });
  if (!status) return status;
  if (!is_sane) return damaged("a trace with absurd numbers");
  base::Result<uint64_t> folded_count = folded_task_count();
  if (!folded_count) return folded_count.error();
  // Those of a task in order: the last one that counts stays.
  base::Result<Statement> heads = database_.prepare(
      "SELECT t.id, t.pid, t.start_ns, g.value, n.value, c.value, i.flags "
      "FROM trace_task t JOIN trace_image i ON i.task = t.id AND i.tick <= ? "
      "LEFT JOIN text g ON g.id = t.cgroup LEFT JOIN text n ON n.id = i.name "
      "LEFT JOIN text c ON c.id = i.command ORDER BY t.id, i.tick");
  if (!heads) return heads.error();
  heads->bind(0, last);
  status = for_each(*heads, [&] {
    const auto at = told.find(heads->integer(0));
    if (at == told.end()) return;
    TraceTask& task = at->second;
    task.pid = static_cast<int32_t>(heads->integer(1));
    task.start_ns = static_cast<uint64_t>(heads->integer(2));
    task.cgroup = heads->text(3);
    task.name = heads->text(4);
    task.command_line = heads->text(5);
    const int64_t flags = heads->integer(6);
    task.is_kernel_thread = (flags & kTraceTaskIsKernelThread) != 0;
    task.is_interrupt = (flags & kTraceTaskIsInterrupt) != 0;
    task.has_exited = (flags & kTraceTaskHasExited) != 0;
    task.folded_count = (flags & kTraceTaskIsFolded) != 0 ? *folded_count : 0;
    task.is_peak_bound = (flags & kTraceTaskPeakIsBound) != 0;
  });
  if (!status) return status;
  for (auto& [id, task] : told) {
    parts.task_index[id] = static_cast<uint32_t>(trace.tasks.size());
    trace.tasks.push_back(std::move(task));
  }
  return base::Ok{};
}

base::Status Recording::Reader::read_trace_leaves(int64_t first, int64_t last,
                                                  TraceParts& parts,
                                                  Trace& trace) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT leaf, pages, peak, machine_peak, allocations, held_since "
      "FROM trace_change WHERE tick BETWEEN ? AND ? ORDER BY tick");
  if (!rows) return rows.error();
  rows->bind(0, first);
  rows->bind(1, last);
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    const std::optional<int64_t> said = rows->maybe_integer(1);
    if (!said) {
      parts.told.erase(rows->integer(0));
      return;
    }
    const std::optional<uint64_t> pages = sane_pages(said);
    const std::optional<uint64_t> peak = peak_in(*rows, 2, pages.value_or(0));
    const std::optional<uint64_t> at_peak =
        peak_in(*rows, 3, pages.value_or(0));
    is_sane &= pages && peak && at_peak;
    TraceLeaf& leaf = parts.told[rows->integer(0)];
    leaf.pages = pages.value_or(0);
    leaf.peak_pages = peak.value_or(0);
    leaf.machine_peak_pages = at_peak.value_or(0);
    leaf.allocation_count = sane(rows->maybe_integer(4)).value_or(0);
    const std::optional<uint64_t> since = sane(rows->maybe_integer(5));
    leaf.held_ns =
        since && *since < trace.elapsed_ns ? trace.elapsed_ns - *since : 0;
  });
  if (!status) return status;
  if (!is_sane) return damaged("a trace with absurd numbers");
  for (auto& [id, leaf] : parts.told) {
    const auto place = parts.leaves.find(id);
    if (place == parts.leaves.end()) return damaged("pages without a stack");
    const std::optional<uint32_t> stack =
        parts.stack_at(place->second.stack, trace);
    const auto task = parts.task_index.find(place->second.task);
    if (!stack) return damaged("a stack without an end");
    if (task == parts.task_index.end()) return damaged("pages without a task");
    leaf.stack = *stack;
    leaf.task = task->second;
    trace.leaves.push_back(leaf);
  }
  return base::Ok{};
}

base::Status Recording::Reader::read_trace_lows(uint64_t count,
                                                const TraceParts& parts,
                                                Trace& trace) {
  base::Result<Statement> rows =
      database_.prepare("SELECT leaf, pages FROM trace_low ORDER BY leaf");
  if (!rows) return rows.error();
  for (TraceLeaf& leaf : trace.leaves)
    leaf.lows.assign(count, 0);
  // Leaves are in the order of their numbers.
  auto told = parts.told.begin();
  auto leaf = trace.leaves.begin();
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    while (told != parts.told.end() && told->first < rows->integer(0)) {
      ++told;
      ++leaf;
    }
    if (told == parts.told.end() || told->first != rows->integer(0)) return;
    leaf->lows.clear();
    for (std::string_view word : base::split(rows->text(1), ' ')) {
      const std::optional<uint64_t> pages = base::parse_u64(word);
      is_sane &= pages.has_value();
      leaf->lows.push_back(pages.value_or(0));
    }
  });
  if (status && !is_sane) return damaged("a trace with absurd numbers");
  return status;
}

base::Result<Trace> Recording::Reader::trace_at(int64_t tick) {
  base::Result<bool> has_trace = has_trace_section(database_);
  if (!has_trace) return has_trace.error();
  if (!*has_trace) {
    return base::fail(base::ErrorKind::NotFound,
                      path() + ": there is no trace in it",
                      "`tidemark trace -o FILE.tdm` and `tidemark record "
                      "--with trace` make one");
  }
  base::Result<Trace> trace = read_trace_head();
  if (!trace) return trace;
  int64_t last = 0;
  uint64_t low_count = 0;
  base::Status status = read_trace_tick(tick, *trace, last, low_count);
  if (!status) return status.error();
  base::Result<Statement> frame = database_.prepare(
      "SELECT max(tick), (SELECT max(tick) FROM trace_tick) "
      "FROM trace_keyframe WHERE tick <= ?");
  if (!frame) return frame.error();
  frame->bind(0, last);
  base::Result<bool> is_there = frame->step();
  if (!is_there) return is_there.error();
  const std::optional<int64_t> first = frame->maybe_integer(0);
  const bool is_last = frame->integer(1) == last;
  if (!first) return damaged("a trace without a beginning");
  TraceParts parts;
  status = load_trace_parts(parts);
  if (status) status = read_trace_tasks(*first, last, parts, *trace);
  if (status) status = read_trace_leaves(*first, last, parts, *trace);
  if (status && is_last) status = read_trace_lows(low_count, parts, *trace);
  if (status) status = read_trace_faults(last, trace->faults);
  if (status) status = read_trace_notes(last, *trace);
  if (status) status = read_trace_modules(last, *trace);
  if (status) status = read_trace_additions(last, *trace);
  if (status) status = read_trace_user(database_, last, *trace);
  if (!status) return status.error();
  return trace;
}

base::Result<std::optional<model::RecordedTrace>> Recording::Reader::trace() {
  base::Result<bool> has_trace = has_trace_section(database_);
  if (!has_trace) return has_trace.error();
  if (!*has_trace) return std::optional<model::RecordedTrace>();
  base::Result<Trace> head = read_trace_head();
  if (!head) return head.error();
  base::Result<Statement> row = database_.prepare(
      "SELECT min(tick), max(tick), count(*), "
      "(SELECT count(DISTINCT stack) FROM trace_leaf), "
      "(SELECT count(*) FROM trace_task), (SELECT count(*) FROM trace_leaf) "
      "FROM trace_tick");
  if (!row) return row.error();
  base::Result<bool> is_there = row->step();
  if (!is_there) return is_there.error();
  model::RecordedTrace trace;
  trace.first_tick = row->integer(0);
  trace.last_tick = row->integer(1);
  trace.tick_count = static_cast<uint64_t>(row->integer(2));
  trace.stack_count = static_cast<uint64_t>(row->integer(3));
  trace.task_count = static_cast<uint64_t>(row->integer(4));
  trace.leaf_count = static_cast<uint64_t>(row->integer(5));
  row->reset();
  int64_t last = 0;
  uint64_t low_count = 0;
  base::Status status =
      read_trace_tick(trace.last_tick, *head, last, low_count);
  if (status) status = read_trace_faults(last, trace.faults);
  if (!status) return status.error();
  trace.backend = head->backend;
  trace.elapsed_ns = head->elapsed_ns;
  trace.page_size_bytes = head->page_size_bytes;
  trace.sample_period = head->sample_period;
  trace.pages = head->pages;
  trace.peak_pages = head->peak_pages;
  return std::optional<model::RecordedTrace>(trace);
}

}  // namespace tidemark::store
