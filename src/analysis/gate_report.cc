#include "analysis/gate_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"

namespace tidemark::analysis {
namespace {

using model::GateRun;

constexpr double kWantedConfidence = 0.9;
// Nobody runs a command more often than this to learn of its memory.
constexpr uint64_t kMostRuns = 200;

// That at most `k` of `n` throws of a coin show heads.
double coin_at_most(uint64_t k, uint64_t n) {
  double term = std::pow(0.5, static_cast<double>(n));
  double sum = 0;
  for (uint64_t i = 0; i <= k; ++i) {
    sum += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return sum;
}

// Each run is as likely above the true median as below it. So many of the
// lowest, and as many of the highest, can be left out of the interval.
uint64_t spare_runs(uint64_t n) {
  uint64_t spare = 0;
  while (2 * (spare + 1) < n &&
         1 - 2 * coin_at_most(spare + 1, n) >= kWantedConfidence) {
    ++spare;
  }
  return spare;
}

GateVerdict stand(const MedianInterval& interval, uint64_t limit_bytes) {
  if (interval.high_bytes <= limit_bytes) return GateVerdict::Within;
  if (interval.low_bytes > limit_bytes) return GateVerdict::Worse;
  return GateVerdict::Undecided;
}

std::optional<uint64_t> runs_to_decide(const std::vector<uint64_t>& values,
                                       uint64_t limit_bytes) {
  const auto above = static_cast<double>(std::ranges::count_if(
      values, [&](uint64_t bytes) { return bytes > limit_bytes; }));
  const double share = above / static_cast<double>(values.size());
  for (uint64_t n = values.size() + 1; n <= kMostRuns; ++n) {
    const auto expected =
        static_cast<uint64_t>(std::llround(share * static_cast<double>(n)));
    if (std::min(expected, n - expected) <= spare_runs(n)) {
      return n - values.size();
    }
  }
  return std::nullopt;
}

GateCheck check_against(GateCheck::Kind kind, uint64_t limit_bytes,
                        const MedianInterval& interval,
                        const std::vector<uint64_t>& values) {
  GateCheck check;
  check.kind = kind;
  check.limit_bytes = limit_bytes;
  check.verdict = stand(interval, limit_bytes);
  if (check.verdict == GateVerdict::Undecided) {
    check.more_runs = runs_to_decide(values, limit_bytes);
  }
  return check;
}

uint64_t moved_by(uint64_t bytes, double percent) {
  return static_cast<uint64_t>(
      std::llround(static_cast<double>(bytes) * (1 + percent / 100)));
}

void check_drift(const std::vector<uint64_t>& values, GateReport& report) {
  report.baseline_interval = median_interval(report.baseline->runs_bytes);
  const uint64_t before = report.baseline_interval->median_bytes;
  const uint64_t now = report.interval->median_bytes;
  if (before > 0) {
    report.change_percent =
        100 * (static_cast<double>(now) - static_cast<double>(before)) /
        static_cast<double>(before);
  }
  GateCheck check = check_against(GateCheck::Kind::Drift,
                                  moved_by(before, report.drift_percent),
                                  *report.interval, values);
  const bool is_better =
      report.interval->high_bytes < moved_by(before, -report.drift_percent);
  if (is_better) check.verdict = GateVerdict::Better;
  report.checks.push_back(check);
  const bool is_band_narrow =
      report.baseline_interval->high_bytes > check.limit_bytes ||
      report.baseline_interval->low_bytes <
          moved_by(before, -report.drift_percent);
  if (is_band_narrow) {
    report.notes.emplace_back(
        "the runs of the baseline itself differ by more than the band: a wider "
        "one, or more runs, would be surer");
  }
  if (report.source != report.baseline->source) {
    report.notes.push_back("the baseline was told by another source: " +
                           report.baseline->source);
  }
}

// The gravest of all; better only when nothing else is to be said.
GateVerdict verdict_of(const std::vector<GateCheck>& checks) {
  const auto is_any = [&](GateVerdict verdict) {
    return std::ranges::any_of(
        checks, [&](const GateCheck& one) { return one.verdict == verdict; });
  };
  if (is_any(GateVerdict::Worse)) return GateVerdict::Worse;
  if (checks.empty() || is_any(GateVerdict::Undecided)) {
    return GateVerdict::Undecided;
  }
  return is_any(GateVerdict::Better) ? GateVerdict::Better
                                     : GateVerdict::Within;
}

// Empty when all told their peak.
std::string why_untold(const GateInput& input) {
  for (const GateRun& run : input.runs) {
    if (!run.bytes) return run.label + ": " + run.bytes.unknown_because;
  }
  return input.runs.empty() ? "nothing was run" : "";
}

}  // namespace

std::string_view gate_verdict_token(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::Within:
      return "within";
    case GateVerdict::Better:
      return "better";
    case GateVerdict::Worse:
      return "worse";
    case GateVerdict::Undecided:
      break;
  }
  return "undecided";
}

MedianInterval median_interval(std::vector<uint64_t> values) {
  std::ranges::sort(values);
  const size_t count = values.size();
  const uint64_t spare = spare_runs(count);
  MedianInterval interval;
  // Of an even number the upper of the two in the middle: a figure that was
  // measured, and on the safe side of a limit.
  interval.median_bytes = values[count / 2];
  interval.low_bytes = values[spare];
  interval.high_bytes = values[count - 1 - spare];
  interval.confidence = 1 - 2 * coin_at_most(spare, count);
  return interval;
}

GateReport make_gate_report(const GateInput& input) {
  GateReport report;
  report.name = input.name;
  report.metric = input.metric;
  report.runs = input.runs;
  report.baseline = input.baseline;
  report.drift_percent = input.drift_percent;
  if (!input.runs.empty()) report.source = input.runs.front().source;
  report.because = why_untold(input);
  if (!report.because.empty()) return report;
  std::vector<uint64_t> values;
  for (const GateRun& run : input.runs)
    values.push_back(*run.bytes);
  report.interval = median_interval(values);
  if (input.budget_bytes) {
    report.checks.push_back(check_against(GateCheck::Kind::Budget,
                                          *input.budget_bytes, *report.interval,
                                          values));
  }
  if (input.baseline) check_drift(values, report);
  report.verdict = verdict_of(report.checks);
  if (report.checks.empty()) {
    report.because = "there is neither a budget nor a baseline";
  } else if (report.verdict == GateVerdict::Undecided) {
    report.because = "the median may lie on either side of a limit";
  }
  if (values.size() == 1) {
    report.notes.emplace_back("one run tells nothing of the spread");
  }
  return report;
}

}  // namespace tidemark::analysis
