#include "view/json/gate.h"

namespace tidemark::view {
namespace {

using analysis::GateCheck;
using analysis::GateReport;
using base::JsonWriter;

void write_interval(JsonWriter& json, const char* name,
                    const std::optional<analysis::MedianInterval>& interval) {
  json.key(name);
  if (!interval) return json.null();
  json.begin_object();
  json.member("median_bytes", interval->median_bytes);
  json.member("low_bytes", interval->low_bytes);
  json.member("high_bytes", interval->high_bytes);
  json.member("confidence", interval->confidence);
  json.end_object();
}

void write_runs(JsonWriter& json, const GateReport& report) {
  json.key("runs");
  json.begin_array();
  for (const model::GateRun& run : report.runs) {
    json.begin_object();
    json.member("label", run.label);
    json.member("bytes", run.bytes.value);
    if (!run.bytes) {
      json.key("unknown");
      json.begin_object();
      json.member("bytes", run.bytes.unknown_because);
      json.end_object();
    }
    json.member("duration_ns", run.duration_ns);
    json.end_object();
  }
  json.end_array();
}

void write_checks(JsonWriter& json, const GateReport& report) {
  json.key("checks");
  json.begin_array();
  for (const GateCheck& check : report.checks) {
    json.begin_object();
    json.member("against",
                check.kind == GateCheck::Kind::Budget ? "budget" : "baseline");
    json.member("limit_bytes", check.limit_bytes);
    json.member("verdict", analysis::gate_verdict_token(check.verdict));
    json.member("more_runs", check.more_runs);
    json.end_object();
  }
  json.end_array();
}

void write_entry(JsonWriter& json, const model::GateEntry& entry) {
  json.begin_object();
  json.member("name", entry.name);
  json.member("metric", model::gate_metric_token(entry.metric));
  json.member("source", entry.source);
  json.member("median_bytes",
              analysis::median_interval(entry.runs_bytes).median_bytes);
  json.key("runs_bytes");
  json.begin_array();
  for (uint64_t bytes : entry.runs_bytes)
    json.number(bytes);
  json.end_array();
  if (entry.budget_bytes) json.member("budget_bytes", *entry.budget_bytes);
  if (entry.drift_percent) json.member("drift_percent", *entry.drift_percent);
  json.member("made", entry.made);
  json.member("kernel", entry.kernel);
  json.end_object();
}

}  // namespace

std::string gate_json(const GateReport& report, JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.gate/1");
  json.member("name", report.name);
  json.member("verdict", analysis::gate_verdict_token(report.verdict));
  if (!report.because.empty()) json.member("because", report.because);
  json.member("metric", model::gate_metric_token(report.metric));
  json.member("source", report.source);
  write_interval(json, "now", report.interval);
  write_interval(json, "baseline", report.baseline_interval);
  json.member("change_percent", report.change_percent);
  json.member("drift_percent", report.drift_percent);
  write_checks(json, report);
  write_runs(json, report);
  json.key("notes");
  json.begin_array();
  for (const std::string& note : report.notes)
    json.string(note);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string gate_baseline_json(const model::GateBaseline& baseline) {
  JsonWriter json(JsonWriter::Layout::Pretty);
  json.begin_object();
  json.member("schema", "tidemark.gate-baseline/1");
  json.key("gates");
  json.begin_array();
  for (const model::GateEntry& entry : baseline.gates)
    write_entry(json, entry);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
