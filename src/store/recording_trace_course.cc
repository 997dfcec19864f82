// A trace over time. Made of the changes of tasks alone: reading each moment by
// itself would begin at its keyframe again and again, and sum up stacks that
// nobody has asked for.
#include <map>

#include "model/trace_course.h"
#include "store/recording_reader.h"
#include "store/trace_schema.h"

namespace tidemark::store {
namespace {

using model::TraceCourse;
using model::TraceTask;

// By the number that a task has in the file.
using TaskPages = std::map<int64_t, uint64_t>;

// Pages of one reading; those of a task that is not told of any more are 0.
struct ToldTasks {
  TaskPages pages;
  bool is_keyframe = false;
};

// More pages than any machine has are none, and their bytes no number.
bool is_number_of_pages(int64_t pages) {
  return pages >= 0 && pages <= int64_t{1} << 46;
}

// What differs from `held`, which becomes what is told.
TaskPages differing(const ToldTasks& told, TaskPages& held) {
  TaskPages changes;
  for (const auto& [task, pages] : told.pages) {
    uint64_t& before = held[task];
    if (before == pages) continue;
    changes[task] = pages;
    before = pages;
  }
  if (!told.is_keyframe) return changes;
  // Everything is told of there: who is left out holds nothing.
  for (auto& [task, pages] : held) {
    if (pages == 0 || told.pages.contains(task)) continue;
    changes[task] = 0;
    pages = 0;
  }
  return changes;
}

}  // namespace

base::Status Recording::Reader::load_course_tasks(
    TraceCourse& course, std::map<int64_t, uint32_t>& index) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT t.id, t.pid, t.start_ns, g.value, n.value, c.value, i.flags "
      "FROM trace_task t JOIN trace_image i ON i.task = t.id "
      "LEFT JOIN text g ON g.id = t.cgroup LEFT JOIN text n ON n.id = i.name "
      "LEFT JOIN text c ON c.id = i.command ORDER BY t.id, i.tick");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    const auto [place, is_new] = index.try_emplace(
        rows->integer(0), static_cast<uint32_t>(course.tasks.size()));
    if (is_new) course.tasks.emplace_back();
    TraceTask& task = course.tasks[place->second];
    task.pid = static_cast<int32_t>(rows->integer(1));
    task.start_ns = static_cast<uint64_t>(rows->integer(2));
    task.cgroup = rows->text(3);
    task.name = rows->text(4);
    task.command_line = rows->text(5);
    const int64_t flags = rows->integer(6);
    task.is_kernel_thread = (flags & kTraceTaskIsKernelThread) != 0;
    task.is_interrupt = (flags & kTraceTaskIsInterrupt) != 0;
    task.has_exited = (flags & kTraceTaskHasExited) != 0;
    task.folded_count = (flags & kTraceTaskIsFolded) != 0 ? 1 : 0;
  });
}

base::Status Recording::Reader::load_course_steps(
    int64_t first, int64_t last, const std::map<int64_t, uint32_t>& index,
    TraceCourse& course) {
  base::Result<Statement> ticks = database_.prepare(
      "SELECT t.tick, t.pages, k.tick IS NOT NULL FROM trace_tick t "
      "LEFT JOIN trace_keyframe k ON k.tick = t.tick "
      "WHERE t.tick <= ? ORDER BY t.tick");
  if (!ticks) return ticks.error();
  base::Result<Statement> changes = database_.prepare(
      "SELECT task, pages FROM trace_task_change WHERE tick = ?");
  if (!changes) return changes.error();
  ticks->bind(0, last);
  TaskPages held;
  TaskPages untold;  // since the last step
  bool is_sane = true;
  base::Status inner = base::Ok{};
  base::Status status = for_each(*ticks, [&] {
    if (!inner) return;
    ToldTasks told;
    told.is_keyframe = ticks->integer(2) != 0;
    changes->bind(0, ticks->integer(0));
    inner = for_each(*changes, [&] {
      const int64_t pages = changes->maybe_integer(1).value_or(0);
      is_sane &= is_number_of_pages(pages);
      told.pages[changes->integer(0)] = static_cast<uint64_t>(pages);
    });
    for (const auto& [task, pages] : differing(told, held))
      untold[task] = pages;
    is_sane &= is_number_of_pages(ticks->integer(1));
    if (ticks->integer(0) < first) return;
    TraceCourse::Step& step = course.steps.emplace_back();
    step.tick = ticks->integer(0);
    step.pages = static_cast<uint64_t>(ticks->integer(1));
    for (const auto& [task, pages] : untold) {
      const auto place = index.find(task);
      if (place != index.end()) step.changes.push_back({place->second, pages});
    }
    untold.clear();
  });
  if (status && inner && !is_sane) {
    return damaged("a trace with absurd numbers");
  }
  return status ? inner : status;
}

base::Result<TraceCourse> Recording::Reader::trace_course(int64_t first,
                                                          int64_t last) {
  TraceCourse course;
  base::Result<bool> has_trace = has_trace_section(database_);
  if (!has_trace) return has_trace.error();
  if (!*has_trace) return course;
  base::Result<model::Trace> head = read_trace_head();
  if (!head) return head.error();
  course.page_size_bytes = head->page_size_bytes;
  std::map<int64_t, uint32_t> index;
  base::Status status = load_course_tasks(course, index);
  if (status) status = load_course_steps(first, last, index, course);
  if (!status) return status.error();
  return course;
}

}  // namespace tidemark::store
