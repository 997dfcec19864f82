#include "view/json/memstats.h"

#include <map>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/units.h"
#include "model/memstats.h"

namespace tidemark::view {
namespace {

using analysis::VmRow;
using base::JsonWriter;
using model::GuestField;

// Page sizes and the size of the address space are not in smaps_rollup, which
// the collector reads.
bool is_in_rollup(model::SmapsField field) {
  return field != model::SmapsField::Size &&
         field != model::SmapsField::KernelPageSize &&
         field != model::SmapsField::MmuPageSize;
}

void write_totals(JsonWriter& json, const model::VmProcess& process) {
  model::SmapsFields totals = *process.own;
  if (process.ram) totals.add(*process.ram);
  std::map<std::string_view, uint64_t> sorted;  // as the collector has them
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    const auto field = static_cast<model::SmapsField>(i);
    const std::optional<uint64_t> bytes = totals.get(field);
    if (!bytes || !is_in_rollup(field)) continue;
    sorted[model::kSmapsLabels[i].kernel_label] = *bytes / base::kKib;
  }
  json.key("smaps");
  json.begin_object();
  for (const auto& [label, kib] : sorted)
    json.member(label, kib);
  json.end_object();
}

void write_processes(JsonWriter& json, const VmRow& row) {
  json.key("stats");
  json.begin_array();
  for (const model::VmProcess& process : row.vm.processes) {
    if (!process.own) continue;
    json.begin_object();
    json.member("pid", process.id.pid);
    json.member("name", process.name);
    write_totals(json, process);
    json.end_object();
  }
  json.end_array();
}

// With the balloon in it, as the tools that draw it expect. Where the RAM the
// guest was given is not known the guest's word must do.
std::optional<uint64_t> total_with_balloon(const VmRow& row) {
  const model::GuestAnswer& guest = row.vm.guest;
  if (!guest.balloon_bytes || guest.state != model::GuestState::Told) {
    return std::nullopt;
  }
  if (row.guest) return row.guest->limit_bytes + *guest.balloon_bytes;
  const bool is_complete = guest.deflates_on_oom.value_or(false) &&
                           !row.is_stale && !row.is_unsettled;
  return is_complete ? guest.stats[GuestField::Total] : std::nullopt;
}

void write_balloon_stats(JsonWriter& json, const VmRow& row) {
  json.key("balloon_stats");
  const std::optional<uint64_t> total = total_with_balloon(row);
  if (!total) {
    json.null();
    return;
  }
  const uint64_t balloon = *row.vm.guest.balloon_bytes;
  json.begin_object();
  json.key("stats");
  json.begin_object();
  for (size_t i = 0; i < model::kBalloonFields.size(); ++i) {
    std::optional<uint64_t> value =
        row.vm.guest.stats[model::kBalloonFields[i]];
    if (model::kBalloonFields[i] == GuestField::Total) {
      value = total;
    }
    json.member(model::kBalloonNames[i], value);
  }
  json.end_object();
  json.member("balloon_actual", balloon);
  json.end_object();
}

}  // namespace

std::string memstats_record(const VmRow& row, uint64_t elapsed_seconds) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("timestamp", elapsed_seconds);
  write_processes(json, row);
  write_balloon_stats(json, row);
  json.end_object();
  std::string text = json.take();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace tidemark::view
