#include "view/json/info.h"

#include "analysis/columns.h"
#include "view/json/composition.h"
#include "view/json/trace.h"

namespace tidemark::view {
namespace {

using analysis::InfoReport;

void write_origin(base::JsonWriter& json, const model::RecordingInfo& info) {
  json.member("tool", info.tool);
  json.member("targets", info.targets);
  json.member("budget", info.budget);
  json.member("origin", info.origin);
  json.member("host", info.host);
  json.member("kernel", info.kernel);
  json.member("boot_id", info.boot_id);
  json.member("page_size_bytes", info.page_size_bytes);
  json.member("ticks_per_second", info.ticks_per_second);
  json.member("period_ns", info.period_ns);
}

void write_processes(base::JsonWriter& json, const InfoReport& report) {
  json.key("processes");
  json.begin_array();
  for (const model::RecordedProcess& process : report.processes) {
    json.begin_object();
    json.member("process", process.id);
    json.member("pid", process.process.pid);
    json.member("start_ticks", process.process.start_ticks);
    json.member("first_tick", process.first_tick);
    json.member("gone_at_tick", process.gone_at_tick);
    json.member("parent_pid", process.images.back().parent_pid);
    json.member("name", process.images.back().comm);
    json.member("exec_count", process.images.back().image);
    json.end_object();
  }
  json.end_array();
}

void write_quality(base::JsonWriter& json, const InfoReport& report) {
  json.member("missed_count", report.missed_count);
  json.key("missed");
  json.begin_array();
  for (const auto& [because, count] : report.missed_reasons) {
    json.begin_object();
    json.member("because", because);
    json.member("count", count);
    json.end_object();
  }
  json.end_array();
  json.member("read_ns", report.read_ns);
  json.member("longest_read_ns", report.longest_read_ns);
  json.member("cpu_ns", report.cpu_ns);
  json.member("oldest_detail_ticks", report.oldest_detail_ticks);
  json.member("stale_sample_count", report.stale_tick_count);
  json.member("bounded_sample_count", report.bounded_tick_count);
  json.key("notes");
  json.begin_array();
  for (const analysis::InfoNote& note : report.notes) {
    json.begin_object();
    json.member("first_elapsed_ns", note.first_elapsed_ns);
    json.member("process", note.process);
    json.member("text", note.text);
    json.member("count", note.count);
    json.end_object();
  }
  json.end_array();
}

void write_trace(base::JsonWriter& json, const InfoReport& report) {
  json.key("trace");
  if (!report.trace) {
    json.null();
    return;
  }
  const model::RecordedTrace& trace = *report.trace;
  json.begin_object();
  json.member("backend", model::trace_backend_token(trace.backend));
  json.member("first_tick", trace.first_tick);
  json.member("last_tick", trace.last_tick);
  json.member("reading_count", trace.tick_count);
  json.member("elapsed_ns", trace.elapsed_ns);
  json.member("page_size_bytes", trace.page_size_bytes);
  json.member("sample_period", trace.sample_period);
  json.member("stack_count", trace.stack_count);
  json.member("task_count", trace.task_count);
  json.member("leaf_count", trace.leaf_count);
  json.member("pages", trace.pages);
  json.member("peak_pages", trace.peak_pages);
  write_trace_faults(json, trace.faults);
  json.member("file_bytes", report.trace_bytes());
  json.end_object();
}

void write_vms(base::JsonWriter& json, const InfoReport& report) {
  json.key("vms");
  if (!report.vms) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("vm_count", report.vms->vm_count);
  json.member("reading_count", report.vms->tick_count);
  json.member("first_tick", report.vms->first_tick);
  json.member("last_tick", report.vms->last_tick);
  json.end_object();
}

// How high it was and over its span: what a list of recordings shows.
void write_heights(base::JsonWriter& json, const InfoReport& report) {
  if (report.timeline.points.empty()) return;  // only the head was read
  const std::optional<analysis::InfoHeights> heights =
      analysis::heights_of(report);
  json.key("peak");
  if (!heights) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("elapsed_ns", heights->highest().time_ns);
  json.member("bytes", heights->highest().bytes);
  json.member("is_bound", heights->is_bound);
  json.member("is_estimated", heights->is_estimated);
  json.end_object();
  constexpr size_t kColumns = 60;
  json.key("shape_bytes");
  json.begin_array();
  for (uint64_t bytes : analysis::highest_in_columns(
           heights->points, report.span_ns(), kColumns)) {
    json.number(bytes);
  }
  json.end_array();
}

}  // namespace

std::string info_json(const InfoReport& report,
                      base::JsonWriter::Layout layout) {
  base::JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.info/1");
  json.member("recording", report.path);
  json.member("file_bytes", report.file_bytes);
  json.member("is_open", report.is_open);
  write_origin(json, report.info);
  json.key("first");
  write_tick(json, report.first);
  json.key("last");
  write_tick(json, report.last);
  json.member("span_ns", report.span_ns());
  json.member("sample_count", report.tick_count);
  json.member("thinned_count", report.thinned_count);
  json.member("new_high_count", report.new_high_count);
  write_heights(json, report);
  write_quality(json, report);
  json.member("living_count", report.living_count);
  write_processes(json, report);
  json.key("tables");
  json.begin_array();
  for (const analysis::InfoTable& table : report.tables) {
    json.begin_object();
    json.member("name", table.name);
    json.member("row_count", table.row_count);
    json.member("bytes", table.bytes);
    json.end_object();
  }
  json.end_array();
  write_trace(json, report);
  write_vms(json, report);
  write_trends(json, report.growing);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
