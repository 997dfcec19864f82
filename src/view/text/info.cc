#include "view/text/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "model/run.h"
#include "view/text/peak.h"
#include "view/text/spark.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::InfoReport;

std::string utc_second(uint64_t realtime_ns) {
  std::string text = base::rfc3339(realtime_ns).substr(0, 19);
  text.replace(10, 1, " ");
  return text + " UTC";
}

std::string samples_text(const InfoReport& report) {
  std::string text = base::grouped(report.tick_count);
  if (report.info.period_ns > 0) {
    text += " every " + base::long_duration(report.info.period_ns);
  }
  if (report.new_high_count > 0) {
    text += fmt::format(", {} of them at new highs",
                        base::grouped(report.new_high_count));
  }
  if (report.thinned_count > 0) {
    text += fmt::format("; {} older ones made room, peaks stay",
                        base::grouped(report.thinned_count));
  }
  return text;
}

std::string gaps_text(const InfoReport& report) {
  if (report.missed_count == 0) return "none";
  std::string text =
      base::counted(report.missed_count, "tick", "ticks") + " missed";
  for (const auto& [because, count] : report.missed_reasons)
    text += fmt::format("; {}: {}", base::grouped(count), because);
  return text;
}

std::string cost_text(const InfoReport& report) {
  const uint64_t mean =
      report.read_ns / std::max<uint64_t>(report.tick_count, 1);
  return fmt::format(
      "reading took {} a sample, {} the longest ({} % of the time)",
      base::long_duration(mean), base::long_duration(report.longest_read_ns),
      base::percent(report.read_ns, std::max<uint64_t>(report.span_ns(), 1)));
}

std::string detail_text(const InfoReport& report) {
  if (report.stale_tick_count == 0) return "every mapping in every sample";
  return fmt::format(
      "in {} samples some is older than the sample, up to {} ticks",
      base::grouped(report.stale_tick_count), report.oldest_detail_ticks);
}

std::string head_table(const InfoReport& report, const TextStyle& style) {
  Table table({{"", Align::Left, 10}, {"", Align::Left}});
  const auto add = [&](const char* label, const std::string& text) {
    table.add_row({{label}, {base::visible(text)}});
  };
  const model::RecordingInfo& info = report.info;
  add("targets", info.targets.empty() ? "?" : info.targets);
  if (!info.origin.empty()) add("from", info.origin);
  add("span", fmt::format("{} to {}, {}", utc_second(report.first.realtime_ns),
                          utc_second(report.last.realtime_ns),
                          base::long_duration(report.span_ns())));
  add("samples", samples_text(report));
  add("gaps", gaps_text(report));
  add("processes",
      fmt::format("{}, {} at the end", base::grouped(report.processes.size()),
                  base::grouped(report.living_count)));
  add("detail", detail_text(report));
  if (!info.budget.empty()) add("budget", info.budget);
  add("cost", cost_text(report));
  add("machine",
      fmt::format("{}, Linux {}", info.host.empty() ? "?" : info.host,
                  info.kernel.empty() ? "?" : info.kernel));
  add("file",
      fmt::format("{}, {} a sample{}; by {}",
                  base::long_size(report.file_bytes),
                  base::long_size(report.file_bytes /
                                  std::max<uint64_t>(report.tick_count, 1)),
                  report.is_open ? ", with an open log" : "", info.tool));
  return table.render_bare(style, 0);
}

std::string shape(const InfoReport& report, const TextStyle& style) {
  if (!report.peak_index || report.tick_count < 2) return "";
  const model::TimelinePoint& top = report.timeline.points[*report.peak_index];
  if (top.pss_bytes == 0) return "";
  std::vector<model::HeightPoint> points;
  for (size_t i = 0; i < report.timeline.points.size(); ++i) {
    points.push_back(
        {report.elapsed_ns[i], report.timeline.points[i].pss_bytes});
  }
  constexpr size_t kColumns = 60;
  return "\n" +
         sparkline(style, points, std::max<uint64_t>(report.span_ns(), 1),
                   top.pss_bytes, kColumns) +
         "  PSS, top " + spelled(style, top.pss_bytes) + "\n";
}

std::string note_line(const analysis::InfoNote& note) {
  std::string line = base::clock_duration(note.first_elapsed_ns) + "  ";
  if (!note.process.empty()) line += base::visible(note.process) + ": ";
  line += base::visible(note.text);
  if (note.count > 1) {
    line += fmt::format("  ({} such remarks)", base::grouped(note.count));
  }
  return line;
}

std::string notes_text(const InfoReport& report, const TextStyle& style) {
  std::string text;
  for (const analysis::InfoNote& note : report.notes)
    text += wrapped(style, Ink::Plain, 0, note_line(note));
  return text.empty() ? text : "\n" + text;
}

std::string process_list(const InfoReport& report, const TextStyle& style) {
  Table table({{"ID", Align::Right},
               {"PID", Align::Right},
               {"FIRST", Align::Right},
               {"GONE", Align::Right},
               {"SEEN", Align::Right, 8},
               {"VmHWM", Align::Right, 8},
               {"NAME", Align::Left}});
  for (const model::RecordedProcess& process : report.processes) {
    auto maxima = std::ranges::lower_bound(report.maxima, process.id, {},
                                           &model::ProcessMaxima::process);
    const bool is_known =
        maxima != report.maxima.end() && maxima->process == process.id;
    std::string name = base::visible(process.images.back().comm);
    if (process.images.back().image > 0) {
      name += fmt::format(" ({} exec)", process.images.back().image);
    }
    table.add_row(
        {{std::to_string(process.id)},
         {std::to_string(process.process.pid)},
         {std::to_string(process.first_tick)},
         {process.gone_at_tick ? std::to_string(*process.gone_at_tick) : ""},
         {is_known ? dense(style, maxima->resident_bytes) : "?"},
         {is_known ? dense(style, maxima->high_mark_bytes) : "?"},
         {name}});
  }
  return "\n" + table.render(style, false);
}

std::string table_list(const InfoReport& report, const TextStyle& style) {
  Table table({{"TABLE", Align::Left, 20},
               {"ROWS", Align::Right},
               {"BYTES", Align::Right}});
  for (const analysis::InfoTable& one : report.tables) {
    if (one.row_count == 0) continue;
    table.add_row({{base::visible(one.name)},
                   {base::grouped(one.row_count)},
                   {dense(style, one.bytes)}});
  }
  return "\n" + table.render(style, false);
}

}  // namespace

std::string info_text(const InfoReport& report, bool verbose,
                      const TextStyle& style) {
  std::string text = base::visible(report.path) + "\n\n" +
                     head_table(report, style) + shape(report, style) +
                     notes_text(report, style);
  constexpr size_t kTrends = 3;
  for (size_t i = 0; i < std::min(kTrends, report.growing.size()); ++i) {
    text += i == 0 ? "\ngrowing\n" : "";
    text += wrapped(style, Ink::Plain, 2, trend_text(report.growing[i], style));
  }
  if (verbose) text += process_list(report, style);
  return text + table_list(report, style);
}

}  // namespace tidemark::view
