#include "view/text/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
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

uint64_t some_span_ns(const InfoReport& report) {
  return std::max<uint64_t>(report.span_ns(), 1);
}

std::string cost_text(const InfoReport& report) {
  if (!report.cpu_ns) return "? (CPU time was not recorded)";
  return fmt::format("{} % of a core, {} of CPU time",
                     base::percent(*report.cpu_ns, some_span_ns(report)),
                     base::long_duration(*report.cpu_ns));
}

std::string reading_text(const InfoReport& report) {
  const uint64_t mean =
      report.read_ns / std::max<uint64_t>(report.tick_count, 1);
  return fmt::format("{} a sample, {} the longest ({} % of the time)",
                     base::long_duration(mean),
                     base::long_duration(report.longest_read_ns),
                     base::percent(report.read_ns, some_span_ns(report)));
}

std::string detail_text(const InfoReport& report) {
  std::string text;
  if (report.stale_tick_count > 0) {
    text = fmt::format(
        "in {} samples some is older than the sample, up to {} ticks",
        base::grouped(report.stale_tick_count), report.oldest_detail_ticks);
  }
  if (report.bounded_tick_count > 0) {
    text += fmt::format("{}in {} samples only counters of some were read",
                        text.empty() ? "" : "; ",
                        base::grouped(report.bounded_tick_count));
  }
  return text.empty() ? "every mapping in every sample" : text;
}

// One line each: together they are wider than a terminal.
std::vector<std::string> fault_lines(const model::TraceFaults& faults) {
  std::vector<std::string> lines;
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) lines.push_back(base::grouped(count) + " " + what);
  };
  add(faults.lost_events, "events lost");
  add(faults.missed_events, "events missed, on top of our own");
  add(faults.untracked_freed, "pages given back that nobody was seen to take");
  add(faults.overwritten, "pages taken again whose return was missed");
  add(faults.out_of_range, "pages beyond the tables");
  add(faults.table_full, "allocations for which no entry was left");
  add(faults.unmatched_migrations, "pages moved out of sight");
  add(faults.wrong_stacks, "stacks mistaken for others");
  if (lines.empty()) lines.emplace_back("none");
  return lines;
}

std::vector<std::pair<const char*, std::string>> trace_lines(
    const InfoReport& report) {
  const model::RecordedTrace& trace = *report.trace;
  std::string means = fmt::format(
      "by {}, {} over {}", model::trace_backend_token(trace.backend),
      base::counted(trace.tick_count, "reading", "readings"),
      base::long_duration(trace.elapsed_ns));
  if (trace.sample_period > 1) {
    means += fmt::format(", one page in {}", trace.sample_period);
  }
  std::string parts = fmt::format(
      "{}, {}, {}", base::counted(trace.stack_count, "stack", "stacks"),
      base::counted(trace.task_count, "task", "tasks"),
      base::counted(trace.leaf_count, "leaf", "leaves"));
  if (const std::optional<uint64_t> bytes = report.trace_bytes()) {
    parts += fmt::format("; {} of the file", base::long_size(*bytes));
  }
  const uint64_t page = trace.page_size_bytes;
  std::vector<std::pair<const char*, std::string>> lines = {
      {"trace", means},
      {"", parts},
      {"", fmt::format("{} held at the end, {} at the peak",
                       base::long_size(trace.pages * page),
                       base::long_size(trace.peak_pages * page))}};
  const char* label = "faults";
  for (std::string& line : fault_lines(trace.faults))
    lines.emplace_back(std::exchange(label, ""), std::move(line));
  return lines;
}

std::string vms_text(const model::RecordedVms& vms) {
  return fmt::format("{}, in {}", base::counted(vms.vm_count, "VM", "VMs"),
                     base::counted(vms.tick_count, "reading", "readings"));
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
  // A trace alone has none.
  if (!report.trace || !report.processes.empty()) {
    add("processes",
        fmt::format("{}, {} at the end", base::grouped(report.processes.size()),
                    base::grouped(report.living_count)));
    add("detail", detail_text(report));
  }
  if (report.trace) {
    for (const auto& [label, text] : trace_lines(report))
      add(label, text);
  }
  if (report.vms) add("VMs", vms_text(*report.vms));
  if (!info.budget.empty()) add("budget", info.budget);
  add("cost", cost_text(report));
  add("reading", reading_text(report));
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
  const std::optional<analysis::InfoHeights> heights =
      analysis::heights_of(report);
  if (!heights || report.tick_count < 2) return "";
  const uint64_t top_bytes = heights->highest().bytes;
  constexpr size_t kColumns = 60;
  std::string text = "\n" + sparkline(style, heights->points,
                                      std::max<uint64_t>(report.span_ns(), 1),
                                      top_bytes, kColumns);
  text += "  PSS, top " +
          spelled(style, top_bytes,
                  {.has_bound = heights->is_bound,
                   .has_estimate = heights->is_estimated}) +
          "\n";
  if (!heights->is_bound) return text;
  return text + "resident memory where sharing was not read: PSS is no more\n";
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
