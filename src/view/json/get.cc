#include "view/json/get.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/process_use.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using Reasons = std::vector<std::pair<std::string, std::string>>;

void write_process(base::JsonWriter& json,
                   const analysis::GetProcess& process) {
  json.begin_object();
  json.member("pid", process.id.pid);
  json.member("start_ticks", process.id.start_ticks);
  json.member("parent_pid", process.parent_pid);
  json.member("depth", process.depth);
  json.member("name", process.name);
  json.member("comm", process.comm);
  json.member("cmdline", process.command);
  json.member("state", model::process_state_name(process.state));
  write_use(json, process.use);
  json.member("peak_rss_bytes", process.peak_rss_bytes);
  if (!process.categories.empty()) write_categories(json, process.categories);
  Reasons unknown = process.unknown;
  if (!process.peak_rss_bytes) {
    unknown.emplace_back("peak_rss_bytes", "no VmHWM in status");
  }
  write_unknown(json, unknown);
  json.end_object();
}

// Members of the total that no process told, each with the first reason.
Reasons unknown_of_total(const analysis::GetReport& report) {
  Reasons reasons = analysis::unknowns_of(report.total, "");
  for (auto& [name, reason] : reasons) {
    for (const analysis::GetProcess& process : report.processes) {
      auto told =
          std::ranges::find(process.unknown, name, &Reasons::value_type::first);
      if (told == process.unknown.end()) continue;
      reason = told->second;
      break;
    }
  }
  return reasons;
}

void write_report(base::JsonWriter& json, const analysis::GetReport& report) {
  write_head(json, "tidemark.get/1", report.realtime_ns, report.read_ns);
  if (report.is_new_high) json.member("is_new_high", true);
  json.key("total");
  json.begin_object();
  write_use(json, report.total);
  if (!report.categories.empty()) {
    write_categories(json, report.categories);
    json.member("not_explained_bytes", report.not_explained_bytes());
  }
  write_unknown(json, unknown_of_total(report));
  json.end_object();
  json.key("processes");
  json.begin_array();
  for (const analysis::GetProcess& process : report.processes) {
    write_process(json, process);
  }
  json.end_array();
  if (report.notes.empty()) return;
  json.key("notes");
  json.begin_array();
  for (const std::string& note : report.notes)
    json.string(note);
  json.end_array();
}

}  // namespace

std::string get_json(const analysis::GetReport& report,
                     base::JsonWriter::Layout layout) {
  base::JsonWriter json(layout);
  json.begin_object();
  write_report(json, report);
  json.end_object();
  return json.take();
}

std::string get_peak_json(const analysis::GetReport& peak,
                          const analysis::PeakReadings& readings) {
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  write_report(json, peak);
  json.member("is_peak", true);
  json.member("sample_count", readings.count);
  json.member("new_high_count", readings.new_high_count);
  if (readings.rss_bytes) {
    json.member("highest_rss_bytes", readings.rss_bytes);
  }
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
