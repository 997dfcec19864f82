#include "view/json/trace.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "analysis/trace_error.h"
#include "analysis/trace_growth.h"
#include "base/clock.h"
#include "view/json/trace_boot.h"
#include "view/json/trace_modules.h"
#include "view/json/trace_slab.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::TraceGroup;
using analysis::TraceNode;
using model::Trace;

// What of the past this trace can tell.
struct Known {
  bool peaks = false;
  bool growth = false;
  const Trace* sampled = nullptr;  // whose numbers have errors to tell
};

Known known_of(const Trace& trace) {
  return {trace.has_peaks, analysis::knows_growth(trace),
          trace.user ? &trace : nullptr};
}

void write_numbers(base::JsonWriter& json, const TraceNode& node, Known known) {
  write_trace_numbers(json, node.total, known.peaks);
  if (known.sampled) {
    json.member("error_pages",
                analysis::trace_error_pages(*known.sampled, node.total.pages));
    json.member("machine_peak_error_pages",
                analysis::trace_error_pages(*known.sampled,
                                            node.total.machine_peak_pages));
  }
  json.member("own_pages", node.own_pages);
  json.member("allocations", node.total.allocation_count);
  if (known.growth) json.member("grown_pages", node.total.grown_pages);
  if (node.total.oldest_ns > 0) json.member("oldest_ns", node.total.oldest_ns);
}

void write_frames(base::JsonWriter& json, const TraceNode& node, Known known) {
  json.key("stacks");
  json.begin_array();
  for (const TraceNode& child : node.children) {
    json.begin_object();
    json.member("symbol", child.name);
    if (!child.module.empty()) json.member("module", child.module);
    if (!child.loads.empty()) json.member("loads", child.loads);
    if (child.address != 0) {
      json.member("address", fmt::format("0x{:x}", child.address));
    }
    write_numbers(json, child, known);
    if (!child.children.empty()) write_frames(json, child, known);
    json.end_object();
  }
  json.end_array();
}

// The first task of each pid and name, under which a node stands.
using TasksByNode =
    std::map<std::pair<int32_t, std::string>, const model::TraceTask*>;

TasksByNode tasks_by_node(const Trace& trace) {
  TasksByNode tasks;
  for (const model::TraceTask& task : trace.tasks)
    tasks.try_emplace({task.pid, analysis::task_name(task)}, &task);
  return tasks;
}

void write_tasks(base::JsonWriter& json, const Trace& trace) {
  json.key("tasks");
  json.begin_array();
  const TasksByNode tasks = tasks_by_node(trace);
  const Known known = known_of(trace);
  const TraceNode tree = analysis::make_trace_tree(trace, {});
  for (const TraceNode& node : tree.children) {
    json.begin_object();
    json.member("pid", node.pid);
    const auto found = tasks.find({node.pid, node.name});
    if (found != tasks.end()) {
      const model::TraceTask* task = found->second;
      json.member("name", task->name);
      json.member("cmdline", task->command_line);
      json.member("cgroup", task->cgroup);
      json.member("has_exited", task->has_exited);
      json.member("is_kernel_thread", task->is_kernel_thread);
      if (task->folded_count != 0) {
        json.member("folded_count", task->folded_count);
      }
    }
    write_numbers(json, node, known);
    write_frames(json, node, known);
    json.end_object();
  }
  json.end_array();
}

// What only rises; null where nobody looked.
void write_growth(base::JsonWriter& json, const Trace& trace) {
  json.key("grown_pages");
  if (!analysis::knows_growth(trace)) {
    json.null();
    return;
  }
  uint64_t pages = 0;
  for (const analysis::Growth& growth : analysis::find_growth(trace))
    pages += growth.grown_pages;
  json.number(pages);
}

void write_group(base::JsonWriter& json, const Trace& trace,
                 std::string_view key, TraceGroup group) {
  analysis::TraceTreeOptions options;
  options.groups = {group};
  json.key(key);
  json.begin_array();
  for (const TraceNode& node :
       analysis::make_trace_tree(trace, options).children) {
    json.begin_object();
    json.member("name", node.name);
    write_numbers(json, node, known_of(trace));
    json.end_object();
  }
  json.end_array();
}

void write_user(base::JsonWriter& json, const Trace& trace) {
  if (!trace.user) return;
  const model::TraceUser& user = *trace.user;
  json.key("user");
  json.begin_object();
  json.member("samples", user.sample_count);
  json.member("cut", user.cut_count);
  json.member("ended_too_soon", user.unmapped_count);
  json.member("unwinding_ns", user.unwinding_ns);
  json.member("naming_ns", user.naming_ns);
  json.key("images");
  json.begin_array();
  for (const model::TraceImage& image : user.images) {
    json.begin_object();
    json.member("name", image.name);
    json.member("path", image.path);
    if (!image.build_id.empty()) json.member("build_id", image.build_id);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_node(base::JsonWriter& json, const TraceNode& node) {
  json.member("pages_alloc", node.total.pages);
  json.member("pages_alloc_peak", node.total.peak_pages);
  json.key("tracenodes");
  json.begin_object();
  for (const TraceNode& child : node.children) {
    json.key(fmt::format(
        "{}{}{} (0x{:x})", child.name.empty() ? "?" : child.name,
        child.module.empty() ? "" : " " + child.module,
        child.loads.empty() ? "" : " of " + child.loads, child.address));
    json.begin_object();
    write_node(json, child);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

void write_trace_faults(base::JsonWriter& json,
                        const model::TraceFaults& faults) {
  json.member("lost", faults.lost_events);
  json.member("missed", faults.missed_events);
  json.member("untracked_frees", faults.untracked_freed);
  json.member("overwritten", faults.overwritten);
  json.member("out_of_range", faults.out_of_range);
  json.member("table_full", faults.table_full);
  json.member("unmatched_migrations", faults.unmatched_migrations);
  json.member("verified_stacks", faults.verified_stacks);
  json.member("wrong_stacks", faults.wrong_stacks);
}

void write_trace(base::JsonWriter& json, const Trace& trace,
                 const AskedCrashKernel& crash) {
  json.begin_object();
  json.member("schema", "tidemark.trace/1");
  json.member("backend", model::trace_backend_token(trace.backend));
  json.member("started", base::rfc3339(trace.started_realtime_ns));
  json.member("elapsed_ns", trace.elapsed_ns);
  json.member("page_size_bytes", trace.page_size_bytes);
  json.member("sample_period", trace.sample_period);
  json.member("pages", trace.pages);
  json.key("peak_pages");
  if (trace.has_peaks) {
    json.number(trace.peak_pages);
  } else {
    json.null();
  }
  write_growth(json, trace);
  json.member("exact", trace.is_exact());
  json.member("sees_bulk", trace.sees_bulk);
  write_trace_faults(json, trace.faults);
  write_user(json, trace);
  write_tasks(json, trace);
  write_trace_modules(json, trace);
  write_module_shares(json, trace);
  if (crash) write_crash_kernel(json, *crash);
  write_trace_slab(json, trace);
  write_group(json, trace, "cgroups", TraceGroup::Cgroup);
  write_notes(json, trace.notes);
  json.end_object();
}

std::string trace_json(const Trace& trace, base::JsonWriter::Layout layout,
                       const AskedCrashKernel& crash) {
  base::JsonWriter json(layout);
  write_trace(json, trace, crash);
  return json.take();
}

std::string task_top_json(const TraceNode& tree) {
  base::JsonWriter json(base::JsonWriter::Layout::Pretty);
  json.begin_array();
  for (const TraceNode& task : tree.children) {
    json.begin_object();
    json.member("task_name", task.name);
    json.member("pid", task.pid);
    write_node(json, task);
    json.end_object();
  }
  json.end_array();
  return json.take();
}

}  // namespace tidemark::view
