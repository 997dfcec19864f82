#include "view/json/run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "analysis/trace_error.h"
#include "base/clock.h"
#include "view/json/trace.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::RunReport;
using Reasons = std::vector<std::pair<std::string, std::string>>;

void write_maximum(base::JsonWriter& json, const char* name,
                   const std::optional<model::Maximum>& maximum) {
  if (!maximum) return;
  json.key(name);
  json.begin_object();
  json.member("bytes", maximum->bytes);
  json.member("source", maximum->source);
  json.end_object();
}

const char* measure_token(analysis::RunMeasure measure) {
  switch (measure) {
    case analysis::RunMeasure::Charge:
      return "charge";
    case analysis::RunMeasure::Pss:
      return "pss";
    case analysis::RunMeasure::Rss:
      break;
  }
  return "rss";
}

void write_peaks(base::JsonWriter& json, const RunReport& report) {
  json.key("peak");
  json.begin_object();
  json.member("bytes", report.peak.bytes);
  json.member("source", report.peak.source);
  json.member("measure", measure_token(report.peak_measure));
  json.member("is_sampled", report.method == model::RunMethod::Sampled);
  json.member("is_lower_bound", report.left_group_count > 0);
  json.member("at_ns", report.peak_at_ns);
  if (!report.peak_at_ns) {
    write_unknown(json,
                  {{"at_ns", "the kernel keeps the height, not the time"}});
  }
  json.end_object();
  write_maximum(json, "peak_rss", report.rss);
  write_maximum(json, "peak_pss", report.pss);
  write_maximum(json, "peak_swap", report.swap);
  write_maximum(json, "peak_hugetlb", report.hugetlb);
}

void write_parts(base::JsonWriter& json, const RunReport& report) {
  json.key("categories");
  json.begin_array();
  for (const analysis::RunPart& part : report.parts) {
    json.begin_object();
    json.member("category", model::category_token(part.category));
    json.member("label", part.label);
    json.member("bytes", part.bytes);
    json.member("mostly", part.mostly);
    json.end_object();
  }
  json.end_array();
  json.member("not_explained_bytes", report.not_explained_bytes);
  json.member("not_caught_bytes", report.not_caught_bytes);
}

void write_mappings(base::JsonWriter& json, const RunReport& report) {
  json.key("mappings");
  json.begin_array();
  for (const analysis::RunMapping& mapping : report.mappings) {
    json.begin_object();
    json.member("name", mapping.name);
    json.member("category", model::category_token(mapping.category));
    json.member("bytes", mapping.bytes);
    json.member("rss_bytes", mapping.rss_bytes);
    json.member("process_count", mapping.process_count);
    json.end_object();
  }
  json.end_array();
}

void write_composition(base::JsonWriter& json, const RunReport& report) {
  json.key("composition");
  json.begin_object();
  json.member("coverage", report.coverage);
  json.member("captured_bytes", report.captured_bytes);
  json.member("measure", report.peak_is_charge ? "pss" : "rss");
  if (report.has_capture) {
    json.member("captured_at_ns", report.captured_at_ns);
    json.member("captured_after_peak_ns", report.capture_after_ns);
    json.member("was_frozen", report.was_frozen);
    json.member("was_stopped", report.was_stopped);
    json.member("unreadable_count", report.unreadable_count);
    json.member("rescanned_count", report.rescanned_count);
  }
  write_parts(json, report);
  write_mappings(json, report);
  Reasons unknown;
  if (!report.coverage) {
    unknown.emplace_back("coverage", report.left_group_count > 0
                                         ? "the peak is a lower bound"
                                         : "no peak was seen");
  }
  if (report.has_capture && !report.capture_after_ns) {
    unknown.emplace_back("captured_after_peak_ns",
                         "the time of the peak is not known");
  }
  write_unknown(json, unknown);
  json.end_object();
}

void write_process(base::JsonWriter& json, const analysis::RunProcess& process,
                   uint64_t start_ns) {
  const model::ProcessLife& life = process.life;
  const auto since = [&](uint64_t time_ns) {
    return static_cast<int64_t>(time_ns) - static_cast<int64_t>(start_ns);
  };
  json.begin_object();
  json.member("pid", life.pid);
  json.member("parent_pid", life.parent_pid);
  json.member("name", process.name);
  json.member("comm", life.comm);
  json.member("path", life.path);
  json.member("peak_rss_bytes", life.peak_rss_bytes);
  json.member("peak_source", model::peak_source_token(life.peak_source));
  if (life.earlier_peak_rss_bytes) {
    json.member("earlier_peak_rss_bytes", life.earlier_peak_rss_bytes);
  }
  json.member("started_ns", since(life.started_ns));
  json.key("ended_ns");
  if (life.ended_ns) {
    json.number(since(*life.ended_ns));
  } else {
    json.null();
  }
  json.member("wait_status", life.wait_status);
  json.member("has_execed", life.has_execed);
  if (life.left_group) json.member("left_group", true);
  if (process.at_peak_bytes) {
    json.member("at_peak_bytes", process.at_peak_bytes);
  }
  Reasons unknown;
  if (!life.peak_rss_bytes) {
    unknown.emplace_back("peak_rss_bytes",
                         life.shares_space
                             ? "it ran in its parent's address space"
                             : "it was not seen");
  }
  if (!life.ended_ns) unknown.emplace_back("ended_ns", "it still ran");
  if (!life.wait_status) {
    unknown.emplace_back("wait_status",
                         life.ended_ns ? "nobody told" : "it still ran");
  }
  write_unknown(json, unknown);
  json.end_object();
}

void write_processes(base::JsonWriter& json, const RunReport& report) {
  json.member("process_count", report.process_count);
  json.member("lists_every_process", report.lists_every_process);
  // Of one process, and includes what it was before exec.
  json.member("wait4_max_rss_bytes", report.command_max_rss_bytes);
  json.member("unlisted_count", report.unlisted_count);
  json.member("lost_count", report.lost_count);
  json.member("left_running_count", report.left_running_count);
  json.member("left_group_count", report.left_group_count);
  json.member("peak_error_bytes", report.peak_error_bytes);
  json.key("processes");
  json.begin_array();
  for (const analysis::RunProcess& process : report.processes) {
    write_process(json, process, report.start_ns);
  }
  json.end_array();
}

void write_cost(base::JsonWriter& json, const model::WatchCost& cost) {
  json.member("captures", cost.capture_count);
  json.key("cost");
  json.begin_object();
  json.member("cpu_ns", cost.cpu_ns);
  json.member("capture_ns", cost.capture_ns);
  json.member("longest_capture_ns", cost.longest_capture_ns);
  json.member("stop_count", cost.stop_count);
  json.member("stopped_ns", cost.stopped_ns);
  json.member("bpf_ns", cost.bpf_ns);
  if (!cost.bpf_ns) {
    write_unknown(json, {{"bpf_ns", "not timed; --time-bpf asks for it"}});
  }
  json.end_object();
}

void write_history(base::JsonWriter& json, const RunReport& report) {
  json.key("history");
  json.begin_array();
  for (const model::HeightPoint& point : report.history) {
    json.begin_object();
    json.member("at_ns", point.time_ns);
    json.member("bytes", point.bytes);
    json.end_object();
  }
  json.end_array();
}

// Only where stacks of programs were asked for.
void write_stacks(base::JsonWriter& json, const RunReport& report) {
  if (report.trace == nullptr) return;
  const model::Trace& trace = *report.trace;
  json.key("functions");
  json.begin_array();
  for (const analysis::TraceFunction& function : report.functions) {
    json.begin_object();
    json.member("name", function.name);
    if (!function.module.empty()) json.member("module", function.module);
    if (function.address != 0) {
      json.member("address", fmt::format("0x{:x}", function.address));
    }
    if (!function.caller.empty()) json.member("caller", function.caller);
    json.member("bytes", function.pages * trace.page_size_bytes);
    json.member("error_bytes",
                analysis::trace_error_pages(trace, function.pages) *
                    trace.page_size_bytes);
    if (!function.through.empty()) json.member("through", function.through);
    json.end_object();
  }
  json.end_array();
  json.key("trace");
  write_trace(json, trace);
}

}  // namespace

std::string run_json(const RunReport& report, base::JsonWriter::Layout layout) {
  base::JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.run/1");
  json.member("time", base::rfc3339(report.realtime_ns));
  json.member("duration_ns", report.duration_ns);
  json.member("command", report.command);
  json.member("exit_status", report.exit_status);
  json.member("method", model::run_method_token(report.method));
  json.key("notes");
  json.begin_array();
  for (const std::string& note : report.notes)
    json.string(note);
  json.end_array();
  write_peaks(json, report);
  write_composition(json, report);
  write_processes(json, report);
  write_cost(json, report.cost);
  write_history(json, report);
  write_stacks(json, report);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
