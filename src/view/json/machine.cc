#include "view/json/machine.h"

#include <algorithm>
#include <string_view>

#include "base/clock.h"

namespace tidemark::view {
namespace {

using analysis::MachineHistory;
using analysis::MachineTick;
using base::JsonWriter;

void write_value(JsonWriter& json, uint64_t value) {
  json.number(value);
}
void write_value(JsonWriter& json, int64_t value) {
  json.number(value);
}
template <typename T>
void write_value(JsonWriter& json, const std::optional<T>& value) {
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

// One value for each tick, null where it is unknown.
template <typename Value>
void write_series(JsonWriter& json, std::string_view name,
                  const MachineHistory& history, const Value& value) {
  json.key(name);
  json.begin_array();
  for (const MachineTick& tick : history.ticks)
    write_value(json, value(tick));
  json.end_array();
}

void write_ticks(JsonWriter& json, const MachineHistory& history) {
  json.key("ticks");
  json.begin_object();
  const auto row = [&](std::string_view name, auto member) {
    write_series(json, name, history,
                 [&](const MachineTick& tick) { return tick.*member; });
  };
  row("id", &MachineTick::id);
  row("elapsed_ns", &MachineTick::elapsed_ns);
  row("total_bytes", &MachineTick::total_bytes);
  row("available_bytes", &MachineTick::available_bytes);
  row("swap_used_bytes", &MachineTick::swap_used_bytes);
  row("other_bytes", &MachineTick::other_bytes);
  row("stalled_some_ns", &MachineTick::stalled_some_ns);
  row("stalled_full_ns", &MachineTick::stalled_full_ns);
  json.end_object();
}

void write_class(JsonWriter& json, const MachineHistory& history, size_t i) {
  const auto column = static_cast<analysis::SystemColumn>(i);
  const analysis::SystemColumnName& name = system_column_name(column);
  json.begin_object();
  json.member("class", name.token);
  json.member("name", name.meaning);
  json.member("category",
              model::category_token(system_column_category(column)));
  const bool is_known = std::ranges::any_of(
      history.ticks,
      [&](const MachineTick& tick) { return tick.columns[i].has_value(); });
  if (is_known) {
    write_series(json, "bytes", history,
                 [&](const MachineTick& tick) { return tick.columns[i]; });
  } else {
    json.key("bytes");
    json.null();
  }
  if (!history.unknown_because[i].empty()) {
    json.key("unknown");
    json.begin_object();
    json.member("bytes", history.unknown_because[i]);
    json.end_object();
  }
  if (!history.remarks[i].empty()) json.member("remark", history.remarks[i]);
  json.end_object();
}

// A class that was always nothing is left out.
bool is_always_zero(const MachineHistory& history, size_t i) {
  return std::ranges::all_of(history.ticks, [&](const MachineTick& tick) {
    return tick.columns[i] == std::optional<int64_t>(0);
  });
}

void write_residue(JsonWriter& json, const analysis::Residue& residue) {
  json.key("residue");
  json.begin_object();
  json.member("first_bytes", residue.first_bytes);
  json.member("last_bytes", residue.last_bytes);
  json.member("least_bytes", residue.least_bytes);
  json.member("most_bytes", residue.most_bytes);
  json.member("span_ns", residue.span_ns);
  json.member("trend", analysis::residue_trend_token(residue.trend));
  json.end_object();
}

}  // namespace

std::string machine_json(const MachineHistory& history,
                         JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.machine/1");
  json.member("recording", history.path);
  json.member("start", base::rfc3339(history.start_realtime_ns));
  json.member("total_source", history.total_source);
  write_ticks(json, history);
  json.key("classes");
  json.begin_array();
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i) {
    if (!is_always_zero(history, i)) write_class(json, history, i);
  }
  json.end_array();
  if (history.residue) write_residue(json, *history.residue);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
