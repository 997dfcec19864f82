#include "view/json/peak.h"

#include "base/clock.h"
#include "view/json/composition.h"

namespace tidemark::view {

std::string peak_json(const analysis::PeakReport& report,
                      base::JsonWriter::Layout layout) {
  base::JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.peak/1");
  json.member("recording", report.path);
  json.member("targets", report.targets);
  json.member("metric", analysis::peak_metric_name(report.metric));
  json.member("is_peak", !report.is_asked_moment);
  json.key("moment");
  write_tick(json, report.tick);
  json.member("elapsed_ns", report.elapsed_ns);
  json.member("tick_count", report.tick_count);
  json.member("resident_bytes", report.point.resident_bytes);
  json.member("available_bytes", report.point.available_bytes);
  json.member("available_computed_bytes",
              report.point.available_computed_bytes);
  write_composition(json, report.composition);
  json.key("rows");
  json.begin_array();
  for (const analysis::PeakRow& row : report.rows) {
    json.begin_object();
    json.member("category", model::category_token(row.category));
    if (!row.name.empty()) json.member("name", row.name);
    if (row.others_count > 0) json.member("others_count", row.others_count);
    write_bytes(json, row.bytes);
    json.member("change_bytes", row.change_bytes);
    json.end_object();
  }
  json.end_array();
  json.member("change_since_ns", report.change_since_ns);
  json.member("change_bytes", report.change_bytes);
  json.member("is_change_by_counters", report.is_change_by_counters);
  json.key("marks");
  json.begin_array();
  for (const analysis::PeakMark& mark : report.marks) {
    json.begin_object();
    json.member("label", mark.label);
    json.member("bytes", mark.bytes);
    json.member("sampled_bytes", mark.sampled_bytes);
    json.member("is_group", mark.is_group);
    json.member("is_older", mark.is_older);
    json.end_object();
  }
  json.end_array();
  write_trends(json, report.growing);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
