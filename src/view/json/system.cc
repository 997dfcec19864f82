#include "view/json/system.h"

#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::SystemColumn;
using analysis::SystemReport;

std::string_view token_of(size_t index) {
  return analysis::system_column_name(static_cast<SystemColumn>(index)).token;
}

void write_columns(base::JsonWriter& json, const SystemReport& report) {
  json.key("columns");
  json.begin_object();
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i) {
    json.member(token_of(i), report.columns[i].bytes.value);
  }
  write_unknown(json, analysis::unknown_columns(report));
  json.end_object();
}

void write_terms(base::JsonWriter& json, const SystemReport& report) {
  json.key("terms");
  json.begin_array();
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i) {
    for (const analysis::SystemTerm& term : report.columns[i].terms) {
      json.begin_object();
      json.member("column", token_of(i));
      json.member("what", term.what);
      json.member("file", term.file);
      json.member("bytes", term.bytes);
      json.end_object();
    }
  }
  json.end_array();
}

}  // namespace

std::string system_json(const SystemReport& report,
                        base::JsonWriter::Layout layout, bool with_terms) {
  base::JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.system/1", report.realtime_ns, report.read_ns);
  json.member("total_bytes", report.total_bytes);
  json.member("total_source", report.total_source);
  json.member("mem_total_bytes", report.mem_total_bytes);
  write_columns(json, report);
  json.member("other_bytes", report.other_bytes);
  json.member("other_change_bytes", report.other_change_bytes);
  if (with_terms) write_terms(json, report);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
