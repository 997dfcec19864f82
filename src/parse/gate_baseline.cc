#include "parse/gate_baseline.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/escape.h"

namespace tidemark::parse {
namespace {

using Json = nlohmann::json;
using model::GateEntry;

constexpr std::string_view kSchema = "tidemark.gate-baseline/1";
constexpr size_t kMostGates = 10'000;
constexpr size_t kMostRuns = 1'000;
constexpr std::array<std::string_view, 9> kMembers = {
    "name",         "metric",        "source", "runs_bytes", "median_bytes",
    "budget_bytes", "drift_percent", "made",   "kernel"};

base::Error bad_baseline(const std::string& what) {
  return base::fail(base::ErrorKind::Malformed, "baseline: " + what,
                    "`tidemark gate --bootstrap` writes one");
}

base::Error bad_gate(const std::string& name, const std::string& what) {
  return bad_baseline("gate '" + base::visible(name) + "': " + what);
}

// Empty when there is none, and when it is no text.
std::string text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return "";
  return found->get<std::string>();
}

base::Status take_runs(const Json& object, GateEntry& entry) {
  const auto runs = object.find("runs_bytes");
  if (runs == object.end() || !runs->is_array() || runs->empty() ||
      runs->size() > kMostRuns) {
    return bad_gate(entry.name, "'runs_bytes' is no list of figures");
  }
  for (const Json& run : *runs) {
    if (!run.is_number_unsigned()) {
      return bad_gate(entry.name, "a run is no number of bytes");
    }
    entry.runs_bytes.push_back(run.get<uint64_t>());
  }
  return base::Ok{};
}

base::Status take_limits(const Json& object, GateEntry& entry) {
  const auto budget = object.find("budget_bytes");
  if (budget != object.end() && !budget->is_null()) {
    if (!budget->is_number_unsigned()) {
      return bad_gate(entry.name, "'budget_bytes' is no number of bytes");
    }
    entry.budget_bytes = budget->get<uint64_t>();
  }
  const auto drift = object.find("drift_percent");
  if (drift != object.end() && !drift->is_null()) {
    constexpr double kMostPercent = 10'000;
    const bool is_percent = drift->is_number() && drift->get<double>() >= 0 &&
                            drift->get<double>() <= kMostPercent;
    if (!is_percent) {
      return bad_gate(entry.name, "'drift_percent' is no percentage");
    }
    entry.drift_percent = drift->get<double>();
  }
  return base::Ok{};
}

base::Status check_members(const Json& object, const std::string& name) {
  for (const auto& [member, value] : object.items()) {
    if (std::ranges::find(kMembers, std::string_view(member)) ==
        kMembers.end()) {
      return bad_gate(name, "'" + base::visible(member) + "' is not known");
    }
  }
  return base::Ok{};
}

base::Result<GateEntry> entry_of(const Json& object) {
  if (!object.is_object()) return bad_baseline("a gate is an object");
  GateEntry entry;
  entry.name = text_member(object, "name");
  if (entry.name.empty()) return bad_baseline("a gate without a 'name'");
  base::Status status = check_members(object, entry.name);
  if (!status) return status.error();
  const std::optional<model::GateMetric> metric =
      model::find_gate_metric(text_member(object, "metric"));
  if (!metric) return bad_gate(entry.name, "its 'metric' is not known");
  entry.metric = *metric;
  entry.source = text_member(object, "source");
  entry.made = text_member(object, "made");
  entry.kernel = text_member(object, "kernel");
  status = take_runs(object, entry);
  if (status) status = take_limits(object, entry);
  if (!status) return status.error();
  return entry;
}

}  // namespace

base::Result<model::GateBaseline> parse_gate_baseline(std::string_view text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) {
    return bad_baseline("this is no JSON object");
  }
  if (text_member(root, "schema") != kSchema) {
    return bad_baseline("its 'schema' is not " + std::string(kSchema));
  }
  const auto gates = root.find("gates");
  if (gates == root.end() || !gates->is_array() || gates->size() > kMostGates) {
    return bad_baseline("'gates' is no list");
  }
  model::GateBaseline baseline;
  for (const Json& object : *gates) {
    base::Result<GateEntry> entry = entry_of(object);
    if (!entry) return entry.error();
    if (baseline.find(entry->name) != nullptr) {
      return bad_gate(entry->name, "it stands there twice");
    }
    baseline.gates.push_back(std::move(*entry));
  }
  return baseline;
}

}  // namespace tidemark::parse
