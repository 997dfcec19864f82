#include "view/json/diff.h"

#include "view/json/composition.h"

namespace tidemark::view {
namespace {

using analysis::DiffReport;
using analysis::DiffRow;

void write_side(base::JsonWriter& json, const char* name,
                const std::string& label, const analysis::Composition& side,
                const std::optional<analysis::DiffCourse>& course) {
  json.key(name);
  json.begin_object();
  json.member("label", label);
  write_bytes(json, side.total);
  json.member("process_count", side.processes.size());
  json.member("undetailed_count", side.undetailed_count);
  if (course) {
    json.member("span_ns", course->span_ns);
    json.member("moment_ns", course->moment_ns);
    json.key("shape_bytes");
    json.begin_array();
    for (uint64_t bytes : course->shape_bytes)
      json.number(bytes);
    json.end_array();
  }
  json.end_object();
}

void write_rows(base::JsonWriter& json, const char* name,
                const std::vector<DiffRow>& rows, bool has_category,
                bool has_name) {
  json.key(name);
  json.begin_array();
  for (const DiffRow& row : rows) {
    json.begin_object();
    if (has_category) {
      json.member("category", model::category_token(row.category));
    }
    if (has_name) json.member("name", row.name);
    json.member("before_pss_bytes", row.before.pss);
    json.member("after_pss_bytes", row.after.pss);
    json.member("change_bytes", row.change());
    json.member("before_rss_bytes", row.before.rss);
    json.member("after_rss_bytes", row.after.rss);
    json.member("before_count", row.before_count);
    json.member("after_count", row.after_count);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string diff_json(const DiffReport& report,
                      base::JsonWriter::Layout layout) {
  base::JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.diff/1");
  write_side(json, "before", report.before_label, report.before,
             report.before_course);
  write_side(json, "after", report.after_label, report.after,
             report.after_course);
  json.member("change_bytes", report.change());
  write_rows(json, "categories", report.categories, true, false);
  write_rows(json, "mappings", report.parts, true, true);
  write_rows(json, "processes", report.processes, false, true);
  write_rows(json, "holdings", report.holdings, true, true);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
