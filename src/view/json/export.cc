#include "view/json/export.h"

#include "analysis/process_use.h"
#include "base/clock.h"
#include "base/json.h"
#include "view/json/mapping.h"

namespace tidemark::view {
namespace {

using base::JsonWriter;
using model::Process;

void write_values(JsonWriter& json, const model::NamedValues& values) {
  for (const auto& [name, value] : values)
    json.member(name, value);
}

void write_mappings(JsonWriter& json, const Process& process) {
  json.key("mappings");
  if (!process.mappings) {
    json.null();
    json.key("unknown");
    json.begin_object();
    const std::string& because = process.mappings.unknown_because;
    json.member("mappings", because.empty() ? "not read" : because);
    json.end_object();
    return;
  }
  json.begin_array();
  for (size_t i = 0; i < process.mappings->size(); ++i) {
    json.begin_object();
    if (i < process.kinds.size()) {
      const model::RegionKind kind = process.kinds[i];
      json.member("kind", model::region_kind_token(kind));
      json.member("category",
                  model::category_token(model::region_category(kind)));
    }
    write_mapping_members(json, (*process.mappings)[i]);
    json.end_object();
  }
  json.end_array();
}

void write_process(JsonWriter& json, const model::Moment& moment,
                   size_t index) {
  const Process& process = moment.sample->processes[index];
  json.begin_object();
  json.member("pid", process.id.pid);
  json.member("start_ticks", process.id.start_ticks);
  json.member("parent_pid", process.stat.parent_pid);
  json.member("name", analysis::display_name(process));
  json.member("cmdline", analysis::command_text(process));
  json.member("cgroup", process.cgroup_path);
  json.member("state", model::process_state_name(process.state));
  json.member("detail_tick", index < moment.detail_ticks.size()
                                 ? moment.detail_ticks[index]
                                 : std::optional<int64_t>());
  write_values(json, model::process_values(process, moment.page_size_bytes));
  write_mappings(json, process);
  json.end_object();
}

void write_notes(JsonWriter& json, const model::Moment& moment) {
  json.key("notes");
  json.begin_array();
  for (const model::ObserverNote& note : moment.notes) {
    json.begin_object();
    const std::optional<int32_t> pid =
        note.process.pid == 0 ? std::nullopt : std::optional(note.process.pid);
    json.member("pid", pid);
    json.member("text", note.text);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string export_json_line(const model::Moment& moment) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("schema", "tidemark.export/1");
  json.member("tick", moment.tick.id);
  json.member("time", base::rfc3339(moment.tick.realtime_ns));
  json.member("monotonic_ns", moment.tick.monotonic_ns);
  json.member("is_new_high", moment.tick.is_new_high);
  json.key("machine");
  if (moment.sample->machine) {
    json.begin_object();
    write_values(json, model::machine_values(*moment.sample->machine));
    json.end_object();
  } else {
    json.null();
  }
  json.key("processes");
  json.begin_array();
  for (size_t i = 0; i < moment.sample->processes.size(); ++i)
    write_process(json, moment, i);
  json.end_array();
  write_notes(json, moment);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
