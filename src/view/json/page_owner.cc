#include "view/json/page_owner.h"

#include <utility>

#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::PageOwnerGrouping;
using analysis::PageOwnerReport;
using analysis::PageOwnerRow;
using base::JsonWriter;

void write_group_by(JsonWriter& json, const PageOwnerGrouping& by) {
  const std::pair<bool, const char*> words[] = {{by.by_stack, "stacktrace"},
                                                {by.by_pid, "pid"},
                                                {by.by_tgid, "tgid"},
                                                {by.by_name, "name"},
                                                {by.by_allocator, "allocator"}};
  json.key("group_by");
  json.begin_array();
  for (const auto& [is_chosen, word] : words) {
    if (is_chosen) json.string(word);
  }
  json.end_array();
}

void write_row(JsonWriter& json, const PageOwnerRow& row, uint64_t page_bytes) {
  json.begin_object();
  json.member("bytes", row.pages * page_bytes);
  json.member("pages", row.pages);
  json.member("block_count", row.blocks);
  if (row.pid) json.member("pid", *row.pid);
  if (row.tgid) json.member("tgid", *row.tgid);
  if (row.name) json.member("name", std::string_view(*row.name));
  if (row.allocator) {
    json.member("allocator", page_allocator_token(*row.allocator));
  }
  if (row.oldest_ns) json.member("oldest_ns", *row.oldest_ns);
  if (row.newest_ns) json.member("newest_ns", *row.newest_ns);
  if (!row.frames.empty()) {
    json.key("stack");
    json.begin_array();
    for (const std::string& frame : row.frames)
      json.string(frame);
    json.end_array();
  }
  json.end_object();
}

void write_totals(JsonWriter& json, const PageOwnerReport& report) {
  const model::PageOwnerTotals& totals = report.totals;
  json.key("totals");
  json.begin_object();
  json.member("block_count", totals.records);
  json.member("pages", totals.pages);
  json.member("slab_pages", totals.slab_pages);
  json.member("charged_pages", totals.charged_pages);
  json.member("migrated_pages", totals.migrated_pages);
  json.member("early_pages", totals.early_pages);
  json.member("nested_pages", totals.nested_pages);
  json.member("failed_pages", totals.failed_pages);
  json.member("unselected_block_count", report.unselected_records);
  json.member("unselected_pages", report.unselected_pages);
  json.member("broken_record_count", totals.broken_records);
  json.member("stray_line_count", totals.stray_lines);
  json.end_object();
}

}  // namespace

std::string page_owner_json(const PageOwnerReport& report,
                            JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.page_owner/1", report.realtime_ns, report.read_ns);
  json.member("page_size_bytes", report.page_size_bytes);
  write_group_by(json, report.group_by);
  write_totals(json, report);
  json.key("groups");
  json.begin_array();
  for (const PageOwnerRow& row : report.rows)
    write_row(json, row, report.page_size_bytes);
  json.end_array();
  json.member("folded_group_count", report.folded_count);
  json.member("folded_pages", report.folded_pages);
  write_notes(json, report.notes);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
