#include "view/json/ps.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/process_use.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::PsReport;
using analysis::PsRow;
using analysis::RowKind;
using base::JsonWriter;

void write_group(JsonWriter& json, const PsRow& row,
                 std::optional<uint64_t> parent_id) {
  json.begin_object();
  json.member("id", row.id);
  json.member("parent_id", parent_id);
  json.member("name", row.name);
  json.member("key", row.key);
  json.member("process_count", row.process_count);
  write_use(json, row.use);
  std::vector<std::pair<std::string, std::string>> unknown =
      analysis::unknowns_of(row.use, "no process of the group could be read");
  if (row.charged_bytes) {
    write_reading(json, "charged_bytes", *row.charged_bytes, unknown);
    json.member("unseen_bytes", row.unseen_bytes());
    if (!row.unseen_bytes()) {
      unknown.emplace_back("unseen_bytes",
                           "the charge or a process's PSS is unknown");
    }
    write_reading(json, "peak_bytes", *row.peak_bytes, unknown);
    if (row.limit_bytes) json.member("limit_bytes", *row.limit_bytes);
  }
  write_unknown(json, unknown);
  json.end_object();
}

void write_process(JsonWriter& json, const PsRow& row,
                   std::optional<uint64_t> group_id) {
  json.member("pid", row.process.pid);
  json.member("start_ticks", row.process.start_ticks);
  json.member("parent_pid", row.parent_pid);
  json.member("group_id", group_id);
  json.member("name", row.name);
  json.member("comm", row.comm);
  json.member("cmdline", row.command);
  json.member("user", row.user.empty() ? std::optional<std::string>()
                                       : std::optional<std::string>(row.user));
  json.member("cgroup", row.cgroup_path);
  json.member("run_state", std::string(1, row.run_state));
  json.member("state", model::process_state_name(row.state));
  write_use(json, row.use);
  if (row.descriptors) {
    json.key("descriptors");
    json.begin_object();
    for (const model::DescriptorCount& kind : *row.descriptors) {
      json.member(kind.kind, kind.count);
    }
    json.end_object();
  } else if (std::ranges::any_of(row.unknown, [](const auto& reason) {
               return reason.first == "descriptors";
             })) {
    json.key("descriptors");
    json.null();
  }
  write_unknown(json, row.unknown);
}

void write_threads(JsonWriter& json, const PsReport& report, size_t process) {
  size_t next = process + 1;
  if (next >= report.rows.size() || report.rows[next].kind != RowKind::Thread) {
    return;
  }
  json.key("threads");
  json.begin_array();
  for (; next < report.rows.size() && report.rows[next].kind == RowKind::Thread;
       ++next) {
    const PsRow& row = report.rows[next];
    json.begin_object();
    json.member("thread_id", row.id);
    json.member("name", row.name);
    json.member("run_state", std::string(1, row.run_state));
    json.end_object();
  }
  json.end_array();
}

// Calls `visit(index, id of the group the row is in)` for rows of one kind.
template <typename Visit>
void for_each_row(const PsReport& report, RowKind kind, const Visit& visit) {
  std::vector<uint64_t> open;  // group ids by depth
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PsRow& row = report.rows[i];
    if (row.kind == RowKind::Thread) continue;
    open.resize(std::min<size_t>(open.size(), row.depth));
    std::optional<uint64_t> parent;
    if (!open.empty()) parent = open.back();
    if (row.kind == kind) visit(i, parent);
    if (row.kind == RowKind::Group) open.push_back(row.id);
  }
}

void write_account(JsonWriter& json, const analysis::MachineAccount& account) {
  json.key("machine");
  json.begin_object();
  json.member("total_bytes", account.total_bytes);
  json.member("used_bytes", account.used_bytes);
  json.member("processes_bytes", account.processes.known_bytes());
  json.key("others");
  json.begin_array();
  for (const analysis::AccountLine& line : account.others) {
    json.begin_object();
    json.member("class", line.token);
    json.member("category", model::category_token(line.category));
    json.member("bytes", line.bytes);
    json.end_object();
  }
  json.end_array();
  json.member("not_explained_bytes", account.not_explained_bytes);
  if (account.processes.is_lower_bound()) {
    json.key("lower_bounds");
    json.begin_array();
    json.string("processes_bytes");
    json.end_array();
  } else if (account.processes.is_unknown()) {
    write_unknown(json, {{"processes_bytes", "no process could be read"}});
  }
  json.end_object();
}

void write_processes(JsonWriter& json, const PsReport& report) {
  json.key("processes");
  json.begin_array();
  for_each_row(report, RowKind::Process,
               [&](size_t i, std::optional<uint64_t> parent) {
                 json.begin_object();
                 write_process(json, report.rows[i], parent);
                 write_threads(json, report, i);
                 json.end_object();
               });
  json.end_array();
}

}  // namespace

std::string_view group_by_token(analysis::GroupBy group_by) {
  constexpr std::string_view kTokens[] = {"cgroup", "parent",  "user",
                                          "exe",    "session", "container"};
  return kTokens[static_cast<size_t>(group_by)];
}

std::string ps_json(const PsReport& report, JsonWriter::Layout layout,
                    bool groups_only) {
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.ps/1", report.realtime_ns, report.read_ns);
  json.member("by", group_by_token(report.group_by));
  json.member("process_count", report.process_count);
  json.member("kernel_thread_count", report.kernel_thread_count);
  json.member("unknown_process_count", report.denied.size());
  json.key("total");
  json.begin_object();
  write_use(json, report.total);
  write_unknown(
      json, analysis::unknowns_of(report.total, "no process could be read"));
  json.end_object();
  json.key("groups");
  json.begin_array();
  for_each_row(report, RowKind::Group,
               [&](size_t i, std::optional<uint64_t> parent) {
                 write_group(json, report.rows[i], parent);
               });
  json.end_array();
  if (!groups_only) write_processes(json, report);
  if (report.account) write_account(json, *report.account);
  if (!report.cgroup_note.empty()) {
    json.member("cgroup_note", report.cgroup_note);
  }
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
