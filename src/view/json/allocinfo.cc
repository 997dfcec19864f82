#include "view/json/allocinfo.h"

#include "base/clock.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::AllocinfoGrouping;
using analysis::AllocinfoReport;
using analysis::AllocinfoRow;
using analysis::AllocinfoTotals;
using base::JsonWriter;

std::string_view sort_token(analysis::AllocinfoSort sort) {
  constexpr std::string_view kTokens[] = {"size", "growth", "calls"};
  return kTokens[static_cast<size_t>(sort)];
}

void write_row(JsonWriter& json, const AllocinfoRow& row, bool has_place) {
  json.begin_object();
  json.member("bytes", row.bytes);
  json.member("call_count", row.calls);
  if (row.grown_bytes) json.member("grown_bytes", *row.grown_bytes);
  if (row.grown_calls) json.member("grown_call_count", *row.grown_calls);
  json.member("module", std::string_view(row.module));
  if (has_place) {
    json.member("file", std::string_view(row.file));
    json.member("line", row.line);
    json.member("function", std::string_view(row.function));
  }
  json.member("site_count", row.site_count);
  json.member("inexact", row.is_inexact);
  json.end_object();
}

void write_totals(JsonWriter& json, const AllocinfoTotals& totals) {
  json.key("totals");
  json.begin_object();
  json.member("listed_bytes", totals.listed_bytes);
  json.member("held_bytes", totals.held_bytes);
  json.member("slab_page_bytes", totals.slab_page_bytes);
  json.member("noise_bytes", totals.noise_bytes);
  json.member("noise_count", totals.noise_count);
  json.member("unused_count", totals.unused_count);
  if (totals.grown_bytes) json.member("grown_bytes", *totals.grown_bytes);
  if (totals.used_bytes) json.member("used_bytes", *totals.used_bytes);
  if (totals.residue_bytes) json.member("residue_bytes", *totals.residue_bytes);
  json.end_object();
}

}  // namespace

std::string allocinfo_json(const AllocinfoReport& report,
                           JsonWriter::Layout layout) {
  const bool has_place = report.group_by == AllocinfoGrouping::Line;
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.allocinfo/1", report.realtime_ns, report.read_ns);
  if (report.since_realtime_ns) {
    json.member("since",
                std::string_view(base::rfc3339(*report.since_realtime_ns)));
  }
  json.member("group_by", has_place ? "line" : "module");
  json.member("sort_by", sort_token(report.sort_by));
  write_totals(json, report.totals);
  json.key(has_place ? "lines" : "modules");
  json.begin_array();
  for (const AllocinfoRow& row : report.rows)
    write_row(json, row, has_place);
  json.end_array();
  json.member("folded_count", report.folded_count);
  json.member("folded_bytes", report.folded_bytes);
  if (report.folded_grown_bytes) {
    json.member("folded_grown_bytes", *report.folded_grown_bytes);
  }
  write_notes(json, report.notes);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
