#include "view/json/objects.h"

#include <utility>
#include <vector>

#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::ObjectAccount;
using analysis::ObjectHolder;
using analysis::ObjectReport;
using analysis::ObjectRow;
using analysis::ObjectSelection;
using base::JsonWriter;

using Unknown = std::vector<std::pair<std::string, std::string>>;

void write_holder(JsonWriter& json, const ObjectHolder& holder) {
  json.begin_object();
  json.member("pid", holder.process.pid);
  json.member("start_ticks", holder.process.start_ticks);
  json.member("name", holder.name);
  json.member("rights", model::rights_letters(holder.rights));
  json.member("map_count", holder.map_count);
  json.member("fd_count", holder.fd_count);
  json.end_object();
}

void write_object(JsonWriter& json, const ObjectRow& row) {
  Unknown unknown;
  json.begin_object();
  json.member("id", row.id);
  json.member("kind", model::object_kind_token(row.kind));
  json.member("name", row.name);
  json.member("deleted", row.is_deleted);
  if (row.is_found_by_pages) json.member("found_by_pages", true);
  json.member("rights", model::rights_letters(row.rights));
  if (!row.parent_id.empty()) json.member("parent_id", row.parent_id);
  json.member("child_count", row.child_count);
  write_reading(json, "size_bytes", row.size_bytes, unknown);
  write_reading(json, "alloc_bytes", row.alloc_bytes, unknown);
  write_reading(json, "swap_bytes", row.swap_bytes, unknown);
  json.member("map_count", row.map_count);
  json.member("process_count", row.process_count);
  json.member("fd_count", row.fd_count);
  json.key("holders");
  json.begin_array();
  for (const ObjectHolder& holder : row.holders)
    write_holder(json, holder);
  json.end_array();
  write_unknown(json, unknown);
  json.end_object();
}

void write_account(JsonWriter& json, const char* name, const char* rest_name,
                   const ObjectAccount& account) {
  json.key(name);
  json.begin_object();
  json.member("total_bytes", account.total_bytes);
  json.member("named_bytes", account.named.bytes);
  json.member(rest_name, account.rest_bytes);
  if (account.found_bytes) json.member("found_bytes", *account.found_bytes);
  if (account.named.is_lower_bound()) {
    json.key("lower_bounds");
    json.begin_array();
    json.string("named_bytes");
    json.end_array();
    json.key("upper_bounds");
    json.begin_array();
    json.string(rest_name);
    json.end_array();
  }
  json.end_object();
}

void write_unreadable(JsonWriter& json, const ObjectReport& report) {
  json.key("unreadable_processes");
  json.begin_array();
  for (const model::ObjectProcess& process : report.unreadable) {
    json.begin_object();
    json.member("pid", process.id.pid);
    json.member("name", process.name);
    json.member("state", model::process_state_name(process.state));
    json.member("rss_bytes", process.rss_bytes);
    json.member("because", process.unknown_because);
    if (!process.rss_bytes) {
      write_unknown(json, {{"rss_bytes", process.unknown_because}});
    }
    json.end_object();
  }
  json.end_array();
}

std::string_view selection_token(ObjectSelection selection) {
  constexpr std::string_view kTokens[] = {"all", "hidden", "process", "one"};
  return kTokens[static_cast<size_t>(selection)];
}

}  // namespace

std::string objects_json(const ObjectReport& report,
                         JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.objects/1", report.realtime_ns, report.read_ns);
  json.member("selection", selection_token(report.selection));
  json.member("source", model::object_means_token(report.means));
  json.member("process_count", report.process_count);
  json.member("ended_process_count", report.ended_count);
  write_unreadable(json, report);
  if (report.shmem) {
    write_account(json, "shmem", "unreachable_bytes", *report.shmem);
  }
  if (report.file_cache) {
    write_account(json, "file_cache", "closed_files_bytes", *report.file_cache);
  }
  json.key("objects");
  json.begin_array();
  for (const ObjectRow& row : report.rows)
    write_object(json, row);
  json.end_array();
  write_notes(json, report.notes);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
