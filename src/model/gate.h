// What a gate compares: the peak of a command over several runs, and what was
// agreed about it in a file that is kept with the sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/reading.h"

namespace tidemark::model {

// Which peak. They answer different questions and are never compared with each
// other.
enum class GateMetric : uint8_t {
  Charged,  // the high-water mark of a control group of its own
  Rss,      // of the whole tree; counts shared pages repeatedly
  Pss,      // the highest that was seen of the tree
  Largest,  // RSS of the largest single process
};
std::string_view gate_metric_token(GateMetric metric);
std::optional<GateMetric> find_gate_metric(std::string_view token);

struct GateRun {
  std::string label;  // "run 3", or the file of a recording
  Reading<uint64_t> bytes;
  std::string source;  // by whose word
  uint64_t duration_ns = 0;
};

// What is agreed of one command. Limits stand with the figures, so that both
// are read when they change.
struct GateEntry {
  std::string name;
  GateMetric metric = GateMetric::Charged;
  std::string source;
  std::vector<uint64_t> runs_bytes;  // in the order they ran; never empty
  std::optional<uint64_t> budget_bytes;
  std::optional<double> drift_percent;
  std::string made;    // when, RFC 3339
  std::string kernel;  // where
  bool operator==(const GateEntry&) const = default;
};

struct GateBaseline {
  std::vector<GateEntry> gates;  // each name once

  const GateEntry* find(std::string_view name) const;
  // In the place of the one of its name, or behind the others.
  void put(GateEntry entry);
  bool operator==(const GateBaseline&) const = default;
};

}  // namespace tidemark::model
