#include "model/gate.h"

#include <array>
#include <utility>

namespace tidemark::model {
namespace {

constexpr std::array<std::pair<GateMetric, std::string_view>, 4> kMetrics = {{
    {GateMetric::Charged, "charged"},
    {GateMetric::Rss, "rss"},
    {GateMetric::Pss, "pss"},
    {GateMetric::Largest, "largest"},
}};

}  // namespace

std::string_view gate_metric_token(GateMetric metric) {
  return kMetrics[static_cast<size_t>(metric)].second;
}

std::optional<GateMetric> find_gate_metric(std::string_view token) {
  for (const auto& [metric, name] : kMetrics) {
    if (name == token) return metric;
  }
  return std::nullopt;
}

const GateEntry* GateBaseline::find(std::string_view name) const {
  for (const GateEntry& entry : gates) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

void GateBaseline::put(GateEntry entry) {
  for (GateEntry& known : gates) {
    if (known.name != entry.name) continue;
    known = std::move(entry);
    return;
  }
  gates.push_back(std::move(entry));
}

}  // namespace tidemark::model
