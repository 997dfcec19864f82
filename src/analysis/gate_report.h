// Whether the memory of a command is within what was agreed. Peaks of repeated
// runs are neither normal nor many, so nothing is assumed of how they are
// spread: what is known of the true median is known by order alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gate.h"

namespace tidemark::analysis {

// Between which runs the true median lies, and how surely: of so many
// repetitions of the whole that share would hold it. Fewer than five runs
// cannot reach the level that is wanted; then it is the lowest and the highest,
// with what surety that gives.
struct MedianInterval {
  uint64_t median_bytes = 0;
  uint64_t low_bytes = 0;
  uint64_t high_bytes = 0;
  double confidence = 0;  // 0 … 1
};
// Of at least one value.
MedianInterval median_interval(std::vector<uint64_t> values);

enum class GateVerdict : uint8_t { Within, Better, Worse, Undecided };
std::string_view gate_verdict_token(GateVerdict verdict);

// How the runs stand to one limit.
struct GateCheck {
  enum class Kind : uint8_t { Budget, Drift };
  Kind kind = Kind::Budget;
  uint64_t limit_bytes = 0;
  GateVerdict verdict = GateVerdict::Within;
  // Of an undecided one: how many more runs would decide if they came out like
  // these; empty when that many are not reasonable.
  std::optional<uint64_t> more_runs;
};

struct GateInput {
  std::string name;
  model::GateMetric metric = model::GateMetric::Charged;
  std::vector<model::GateRun> runs;
  uint64_t asked_runs = 0;
  std::optional<uint64_t> budget_bytes;
  std::optional<model::GateEntry> baseline;
  double drift_percent = 5;
};

struct GateReport {
  std::string name;
  model::GateMetric metric = model::GateMetric::Charged;
  std::string source;  // by whose word, of the first run
  std::vector<model::GateRun> runs;
  std::optional<MedianInterval> interval;  // none when a run told nothing
  std::optional<model::GateEntry> baseline;
  std::optional<MedianInterval> baseline_interval;
  double drift_percent = 0;
  std::optional<double> change_percent;  // of the median against the baseline's
  std::vector<GateCheck> checks;
  GateVerdict verdict = GateVerdict::Undecided;
  std::string because;             // why nothing could be decided at all
  std::vector<std::string> notes;  // what a reader should know besides
};

GateReport make_gate_report(const GateInput& input);

}  // namespace tidemark::analysis
