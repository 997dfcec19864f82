#include "parse/memstats.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/units.h"

namespace tidemark::parse {
namespace {

using Json = nlohmann::json;
using model::MemstatsProcess;
using model::MemstatsRecord;

base::Error malformed_at(size_t record, const std::string& what) {
  return base::fail(base::ErrorKind::Malformed,
                    "memstats: record " + std::to_string(record) + ": " + what);
}

// Null unless it is an object that has the member.
const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::optional<uint64_t> number(const Json* value) {
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<uint64_t>();
}

// Labels are the kernel's, amounts its kB. Labels of newer kernels are skipped.
bool take_totals(const Json& smaps, model::SmapsFields& totals) {
  for (const auto& [label, value] : smaps.items()) {
    const auto known =
        std::ranges::find(model::kSmapsLabels, std::string_view(label),
                          &model::SmapsLabel::kernel_label);
    if (known == model::kSmapsLabels.end()) continue;
    const std::optional<uint64_t> kib = number(&value);
    if (!kib || *kib > std::numeric_limits<int64_t>::max() / base::kKib)
      return false;
    totals.set(
        static_cast<model::SmapsField>(known - model::kSmapsLabels.begin()),
        *kib * base::kKib);
  }
  return true;
}

base::Result<MemstatsProcess> process_of(const Json& object, size_t record) {
  const std::optional<uint64_t> pid = number(member(object, "pid"));
  const Json* name = member(object, "name");
  const Json* smaps = member(object, "smaps");
  if (!pid || *pid > std::numeric_limits<int32_t>::max()) {
    return malformed_at(record, "a process without a pid");
  }
  if (name == nullptr || !name->is_string()) {
    return malformed_at(record, "a process without a name");
  }
  MemstatsProcess process;
  process.pid = static_cast<int32_t>(*pid);
  process.name = name->get_ref<const std::string&>();
  const bool is_whole = smaps != nullptr && smaps->is_object() &&
                        take_totals(*smaps, process.totals) &&
                        process.totals.has(model::SmapsField::Rss) &&
                        process.totals.has(model::SmapsField::Pss);
  if (!is_whole) {
    return malformed_at(record, "process " + std::to_string(process.pid) +
                                    " has no whole 'smaps'");
  }
  return process;
}

base::Status take_balloon(const Json& record, size_t index,
                          std::optional<model::BalloonStats>& target) {
  const Json* balloon = member(record, "balloon_stats");
  if (balloon == nullptr || balloon->is_null()) return base::Ok{};
  const Json* stats = member(*balloon, "stats");
  const std::optional<uint64_t> actual =
      number(member(*balloon, "balloon_actual"));
  if (stats == nullptr || !stats->is_object() || !actual) {
    return malformed_at(index, "'balloon_stats' is not whole");
  }
  model::BalloonStats found;
  found.balloon_bytes = *actual;
  for (size_t i = 0; i < model::kBalloonNames.size(); ++i) {
    const std::string name(model::kBalloonNames[i]);
    const Json* value = member(*stats, name.c_str());
    if (value == nullptr || value->is_null()) continue;
    found.values[i] = number(value);
    if (!found.values[i]) {
      return malformed_at(index, "'" + name + "' is no number");
    }
  }
  target = found;
  return base::Ok{};
}

base::Result<MemstatsRecord> record_of(const Json& object, size_t index) {
  MemstatsRecord record;
  const std::optional<uint64_t> time = number(member(object, "timestamp"));
  constexpr uint64_t kMostSeconds = uint64_t{1} << 32;
  if (!time || *time > kMostSeconds) {
    return malformed_at(index, "no 'timestamp'");
  }
  record.elapsed_seconds = *time;
  const Json* stats = member(object, "stats");
  if (stats == nullptr || !stats->is_array()) {
    return malformed_at(index, "no 'stats'");
  }
  for (const Json& entry : *stats) {
    base::Result<MemstatsProcess> process = process_of(entry, index);
    if (!process) return process.error();
    const bool is_there =
        std::ranges::find(record.processes, process->pid,
                          &MemstatsProcess::pid) != record.processes.end();
    if (is_there) {
      return malformed_at(index,
                          "process " + std::to_string(process->pid) + " twice");
    }
    record.processes.push_back(std::move(*process));
  }
  base::Status status = take_balloon(object, index, record.balloon);
  if (!status) return status.error();
  return record;
}

}  // namespace

base::Result<std::vector<MemstatsRecord>> parse_memstats(
    std::string_view text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    return base::fail(base::ErrorKind::Malformed, "memstats: not whole JSON");
  }
  if (!root.is_array()) {
    return base::fail(base::ErrorKind::Malformed, "memstats: not an array");
  }
  std::vector<MemstatsRecord> records;
  for (const Json& entry : root) {
    base::Result<MemstatsRecord> record = record_of(entry, records.size());
    if (!record) return record.error();
    if (!records.empty() &&
        record->elapsed_seconds < records.back().elapsed_seconds) {
      return malformed_at(records.size(), "its time goes backwards");
    }
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace tidemark::parse
