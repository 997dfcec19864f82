#include "view/json/diff.h"

#include <utility>

#include "view/json/composition.h"

namespace tidemark::view {
namespace {

using analysis::DiffReport;
using analysis::DiffRow;

void write_side(base::JsonWriter& json, const char* name,
                const std::string& label, const analysis::Composition& side,
                uint64_t again_bytes,
                const std::optional<analysis::DiffCourse>& course) {
  json.key(name);
  json.begin_object();
  json.member("label", label);
  write_bytes(json, side.total, side.unsplit_because);
  json.member("process_count", side.processes.size());
  json.member("undetailed_count", side.undetailed_count);
  json.member("counted_again_bytes", again_bytes);
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

// What of the row was not measured.
void write_marks(base::JsonWriter& json, const DiffRow& row) {
  const std::pair<const char*, const analysis::Bytes*> sides[] = {
      {"before_pss_bytes", &row.before}, {"after_pss_bytes", &row.after}};
  if (row.before.bounded > 0 || row.after.bounded > 0) {
    json.key("bounds");
    json.begin_object();
    for (const auto& [name, side] : sides)
      write_bound(json, name, *side);
    json.end_object();
  }
  if (row.before.is_unsplit() || row.after.is_unsplit()) {
    json.key("unknown");
    json.begin_object();
    for (const auto& [name, side] : sides) {
      if (side->is_unsplit()) json.member(name, "sharing was not read");
    }
    json.end_object();
  }
  if (row.before.estimated > 0)
    json.member("before_estimated_bytes", row.before.estimated);
  if (row.after.estimated > 0)
    json.member("after_estimated_bytes", row.after.estimated);
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
    write_best(json, "before_pss_bytes", row.before);
    write_best(json, "after_pss_bytes", row.after);
    json.member("change_bytes", row.change());
    write_marks(json, row);
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
             report.before_again_bytes, report.before_course);
  write_side(json, "after", report.after_label, report.after,
             report.after_again_bytes, report.after_course);
  json.member("change_bytes", report.change());
  if (!report.by_counters.empty()) {
    json.key("by_counters");
    json.begin_array();
    for (const std::string& name : report.by_counters)
      json.string(name);
    json.end_array();
  }
  write_rows(json, "categories", report.categories, true, false);
  write_rows(json, "mappings", report.parts, true, true);
  write_rows(json, "processes", report.processes, false, true);
  write_rows(json, "holdings", report.holdings, true, true);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
