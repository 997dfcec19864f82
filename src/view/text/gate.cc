#include "view/text/gate.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::GateCheck;
using analysis::GateReport;
using analysis::GateVerdict;
using analysis::MedianInterval;

constexpr size_t kGateIndent = 2;

std::string_view metric_words(model::GateMetric metric) {
  switch (metric) {
    case model::GateMetric::Charged:
      return "peak charged to it";
    case model::GateMetric::Rss:
      return "peak RSS of the tree";
    case model::GateMetric::Pss:
      return "highest PSS seen of the tree";
    case model::GateMetric::Largest:
      break;
  }
  return "peak RSS of its largest process";
}

std::string signed_percent(double percent) {
  constexpr double kLeastShown = 0.05;
  if (std::fabs(percent) < kLeastShown) return "±0.0 %";
  return fmt::format("{:+.1f} %", percent);
}

std::string share_above(uint64_t bytes, uint64_t limit) {
  if (limit == 0) return "above";
  const double ratio = static_cast<double>(bytes) / static_cast<double>(limit);
  constexpr double kManyTimes = 10;
  if (ratio >= kManyTimes) return fmt::format("{:.0f} times", ratio);
  const double percent = 100 * (ratio - 1);
  return fmt::format("{:.1f} % {}", std::fabs(percent),
                     percent > 0 ? "above" : "below");
}

std::string more_runs_count(const GateCheck& check) {
  if (!check.more_runs) return "more runs would not tell";
  return base::counted(*check.more_runs, "more run", "more runs") +
         " would decide";
}

std::string more_runs_words(const GateCheck& check) {
  if (!check.more_runs) {
    return "the limit lies in the midst of the runs; more of them would not "
           "tell";
  }
  return more_runs_count(check) + ", if they come out like these";
}

std::string check_words(const GateReport& report, const GateCheck& check) {
  const uint64_t median = report.interval->median_bytes;
  const bool is_budget = check.kind == GateCheck::Kind::Budget;
  switch (check.verdict) {
    case GateVerdict::Undecided:
      return "not decided: " + more_runs_count(check);
    case GateVerdict::Better:
      return "better, beyond the band";
    case GateVerdict::Within:
      return is_budget ? "within, " + share_above(median, check.limit_bytes)
                       : "within the band";
    case GateVerdict::Worse:
      break;
  }
  return is_budget ? "over, " + share_above(median, check.limit_bytes)
                   : "worse, beyond the band";
}

// The check that made the verdict.
const GateCheck* deciding(const GateReport& report) {
  for (const GateCheck& check : report.checks) {
    if (check.verdict == report.verdict) return &check;
  }
  return nullptr;
}

std::string interval_words(const MedianInterval& interval) {
  if (interval.confidence == 0) return "one run";
  if (interval.low_bytes == interval.high_bytes) return "all runs alike";
  return fmt::format(
      "between {} and {}, {:.0f} % sure", base::long_size(interval.low_bytes),
      base::long_size(interval.high_bytes), 100 * interval.confidence);
}

struct GateRow {
  std::string head;
  std::string figure;
  std::string words;
};

std::vector<GateRow> rows_of(const GateReport& report) {
  std::vector<GateRow> rows;
  rows.push_back({"median", base::long_size(report.interval->median_bytes),
                  interval_words(*report.interval)});
  for (const GateCheck& check : report.checks) {
    if (check.kind == GateCheck::Kind::Budget) {
      rows.push_back({"budget", base::long_size(check.limit_bytes),
                      check_words(report, check)});
      continue;
    }
    std::string words = check_words(report, check);
    if (report.change_percent) {
      words = fmt::format("{}, {} of {:g} %",
                          signed_percent(*report.change_percent), words,
                          report.drift_percent);
    }
    rows.push_back({"baseline",
                    base::long_size(report.baseline_interval->median_bytes),
                    std::move(words)});
  }
  return rows;
}

std::string gate_origin(const GateReport& report) {
  std::string words =
      fmt::format("{}, {}", metric_words(report.metric),
                  base::counted(report.runs.size(), "run", "runs"));
  if (!report.source.empty()) words += "; " + base::visible(report.source);
  return words;
}

std::string markdown_cell(std::string_view text) {
  std::string safe;
  for (char c : base::visible(text)) {
    if (std::string_view("|`<>*_[]\\").find(c) != std::string_view::npos) {
      safe += '\\';
    }
    safe += c;
  }
  return safe;
}

std::string_view verdict_sign(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::Within:
      return "within";
    case GateVerdict::Better:
      return "better";
    case GateVerdict::Worse:
      return "**worse**";
    case GateVerdict::Undecided:
      break;
  }
  return "**not decided**";
}

}  // namespace

std::string gate_line(const GateReport& report) {
  std::string line = base::visible(report.name) + ": ";
  if (!report.interval) return line + "not decided: " + report.because;
  const std::string median = base::long_size(report.interval->median_bytes);
  const GateCheck* check = deciding(report);
  if (check == nullptr) return line + median + "; " + report.because;
  if (report.verdict == GateVerdict::Undecided) {
    return line + "not decided: " + more_runs_words(*check);
  }
  line +=
      std::string(analysis::gate_verdict_token(report.verdict)) + ", " + median;
  if (check->kind == GateCheck::Kind::Budget) {
    return line + " is " +
           share_above(report.interval->median_bytes, check->limit_bytes) +
           " the budget of " + base::long_size(check->limit_bytes);
  }
  return line +
         (report.change_percent
              ? " is " + signed_percent(*report.change_percent) + " from"
              : ", and") +
         " the baseline of " +
         base::long_size(report.baseline_interval->median_bytes);
}

std::string gate_text(const GateReport& report, const TextStyle& style) {
  const bool is_bad = report.verdict == GateVerdict::Worse ||
                      report.verdict == GateVerdict::Undecided;
  std::string out =
      wrapped(style, is_bad ? Ink::Warn : Ink::Bold, 0, gate_line(report));
  out += wrapped(style, Ink::Dim, kGateIndent, gate_origin(report));
  out += "\n";
  if (report.interval) {
    Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Left}});
    for (const GateRow& row : rows_of(report))
      table.add_row({{row.head}, {row.figure, Ink::Bold}, {row.words}});
    out += table.render_bare(style, kGateIndent) + "\n";
  }
  Table runs({{"", Align::Left}, {"", Align::Right}, {"", Align::Left}});
  for (const model::GateRun& run : report.runs) {
    runs.add_row({{base::visible(run.label), Ink::Dim},
                  {run.bytes ? base::long_size(*run.bytes) : "?"},
                  {run.bytes ? base::long_duration(run.duration_ns)
                             : base::visible(run.bytes.unknown_because),
                   Ink::Dim}});
  }
  out += runs.render_bare(style, kGateIndent);
  for (const std::string& note : report.notes)
    out += "\n" + wrapped(style, Ink::Warn, kGateIndent, base::visible(note));
  return out;
}

std::string gate_markdown(const GateReport& report) {
  std::string out = "### Memory of " + markdown_cell(report.name) + ": " +
                    std::string(verdict_sign(report.verdict)) + "\n\n";
  if (!report.interval) return out + markdown_cell(report.because) + "\n";
  out += "| | | |\n|---|---:|---|\n";
  for (const GateRow& row : rows_of(report)) {
    out += fmt::format("| {} | {} | {} |\n", row.head, row.figure,
                       markdown_cell(row.words));
  }
  out += "\n" + markdown_cell(gate_origin(report)) + ":";
  for (const model::GateRun& run : report.runs)
    out += " " + base::long_size(*run.bytes) + ",";
  out.back() = '\n';
  for (const std::string& note : report.notes)
    out += "\n" + markdown_cell(note) + "\n";
  return out;
}

}  // namespace tidemark::view
