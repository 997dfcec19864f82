#include "view/text/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/run_functions.h"
#include "view/text/spark.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::RunReport;

constexpr size_t kIndent = 2;
constexpr size_t kLabelWidth = 25;

std::string times(const TextStyle& style, uint64_t count) {
  return (style.utf8 ? " ×" : " x") + base::grouped(count);
}

// Analysis writes " x8" behind a name; on a terminal it is the real sign. What
// stands inside a name ("python3 x86.py") is left as it is.
std::string with_sign(const TextStyle& style, std::string text) {
  if (!style.utf8) return text;
  for (size_t at = text.find(" x"); at != std::string::npos;
       at = text.find(" x", at + 1)) {
    const size_t digit = at + 2;
    const size_t end =
        std::min(text.find_first_not_of("0123456789", digit), text.size());
    const bool is_last = end == text.size() || text[end] == ',';
    if (end > digit && is_last) text.replace(at, 2, " ×");
  }
  return text;
}

std::string after_start(int64_t ns) {
  return base::long_duration(static_cast<uint64_t>(std::max<int64_t>(ns, 0)));
}

std::string ending_text(const RunReport& report) {
  std::string text =
      report.signal_number != 0
          ? fmt::format("killed by signal {} ({})", report.signal_number,
                        ::strsignal(report.signal_number))
          : fmt::format("exit {}", report.exit_status);
  return text + ", " + base::long_duration(report.duration_ns);
}

Cell dim(std::string text) {
  return {std::move(text), Ink::Dim};
}

std::string percent_text(double share) {
  // Never "100.0" while something is missing.
  const double shown = share < 1.0 ? std::min(share * 100, 99.9) : 100.0;
  return fmt::format("{:.1f} %", shown);
}

std::string seen_note(const RunReport& report) {
  if (report.left_group_count > 0) {
    return "composition caught; how much of the peak is not known";
  }
  if (report.coverage >= 1.0) return "composition caught at its full height";
  std::string when = "composition caught";
  if (report.capture_after_ns) {
    const int64_t after = *report.capture_after_ns;
    when +=
        fmt::format(" {} {} it",
                    base::long_duration(static_cast<uint64_t>(std::abs(after))),
                    after < 0 ? "before" : "after");
  }
  return when + ": " + percent_text(report.coverage.value_or(0)) +
         " of the peak";
}

std::string peak_note(const RunReport& report) {
  std::string note;
  if (report.peak_at_ns) note = "at " + after_start(*report.peak_at_ns) + ", ";
  return note + report.peak.source;
}

const analysis::RunProcess* largest_of(const RunReport& report) {
  const analysis::RunProcess* largest = nullptr;
  for (const analysis::RunProcess& process : report.processes) {
    if (largest == nullptr || process.life.peak_rss_bytes.value_or(0) >
                                  largest->life.peak_rss_bytes.value_or(0)) {
      largest = &process;
    }
  }
  return largest;
}

void add_rss(Table& table, const RunReport& report, const TextStyle& style) {
  if (!report.rss || !report.peak_is_charge) return;
  std::string note = "highest sum";
  if (report.rss->time_ns && *report.rss->time_ns >= report.start_ns) {
    note +=
        ", at " + base::long_duration(*report.rss->time_ns - report.start_ns);
  }
  table.add_row({{"RSS"},
                 {spelled(style, report.rss->bytes)},
                 dim(note + "; shared pages repeat")});
}

void add_largest(Table& table, const RunReport& report,
                 const TextStyle& style) {
  const analysis::RunProcess* largest = largest_of(report);
  if (largest == nullptr || !largest->life.peak_rss_bytes) return;
  constexpr uint64_t kExactBytes = uint64_t{64} << 20;
  std::string note =
      "one process: " +
      base::fit_width(base::visible(largest->name), 20, ellipsis(style)) +
      ", peak RSS";
  const uint64_t bytes = *largest->life.peak_rss_bytes;
  switch (largest->life.peak_source) {
    case model::PeakSource::Counted:
      if (bytes > kExactBytes) {
        note += fmt::format(" ({}{})", style.utf8 ? "±" : "+-",
                            spelled(style, report.peak_error_bytes));
      }
      break;
    case model::PeakSource::HighMark:
      note += " by taskstats, a little low";
      break;
    case model::PeakSource::MaxRss:
      note += " by wait4, or its parent's";
      break;
    case model::PeakSource::Sampled:
      note += ", highest seen";
      break;
  }
  table.add_row({{"largest"}, {spelled(style, bytes)}, dim(note)});
}

std::string headline(const RunReport& report, const TextStyle& style) {
  Table table({{"", Align::Left, 8}, {"", Align::Right, 9}, {"", Align::Left}});
  const bool is_bound =
      report.method == model::RunMethod::Sampled || report.left_group_count > 0;
  const std::string bound = is_bound ? (style.utf8 ? "≥ " : ">= ") : "";
  table.add_row({{"peak", Ink::Bold},
                 {bound + spelled(style, report.peak.bytes),
                  is_bound ? Ink::Warn : Ink::Bold},
                 dim(peak_note(report))});
  if (report.has_capture) {
    table.add_row({{"seen"},
                   {spelled(style, report.captured_bytes)},
                   dim(seen_note(report))});
  } else {
    table.add_row({{"seen"}, {"?", Ink::Warn}, dim("it ended before a look")});
  }
  add_rss(table, report, style);
  if (report.pss) {
    table.add_row(
        {{"PSS"},
         {spelled(style, report.pss->bytes)},
         dim(fmt::format("highest of {} capture{}",
                         base::grouped(report.cost.capture_count),
                         report.cost.capture_count == 1 ? "" : "s"))});
  }
  add_largest(table, report, style);
  if (!report.lists_every_process && report.command_max_rss_bytes > 0) {
    table.add_row({{"wait4"},
                   {spelled(style, report.command_max_rss_bytes)},
                   dim("largest process it waited for, before exec included")});
  }
  if (report.swap) {
    table.add_row(
        {{"swap"},
         {spelled(style, report.swap->bytes)},
         dim("swapped out, beside the peak; " + report.swap->source)});
  }
  if (report.hugetlb) {
    table.add_row({{"hugetlb"},
                   {spelled(style, report.hugetlb->bytes)},
                   dim("huge pages, beside the peak; highest seen")});
  }
  return table.render_bare(style, kIndent);
}

std::string shape(const RunReport& report, const TextStyle& style) {
  if (report.history.empty() || report.peak.bytes == 0) return {};
  constexpr size_t kColumns = 60;
  const size_t columns =
      std::min(kColumns, style.width > 30 ? style.width - 18 : size_t{12});
  std::string out = std::string(kIndent, ' ') +
                    sparkline(style, report.history, report.duration_ns,
                              report.peak.bytes, columns) +
                    "  " + spelled(style, report.peak.bytes) + "\n";
  const std::string end = base::long_duration(report.duration_ns);
  std::string scale(columns, ' ');
  scale.replace(0, 1, "0");
  if (columns > end.size() + 2)
    scale.replace(columns - end.size(), end.size(), end);
  if (report.peak_at_ns && report.duration_ns > 0) {
    const double at =
        std::min(1.0, static_cast<double>(*report.peak_at_ns) /
                          static_cast<double>(report.duration_ns));
    const size_t cell = std::min(
        columns - 1, static_cast<size_t>(at * static_cast<double>(columns)));
    const std::string mark = after_start(*report.peak_at_ns);
    // The label only where it does not touch the ends.
    if (cell > 2 && cell + mark.size() + 4 < columns - end.size()) {
      scale.replace(cell, mark.size() + 2, "^ " + mark);
    } else if (cell > 2 && cell + 2 < columns - end.size()) {
      scale.replace(cell, 1, "^");
    }
  }
  // The sign is wider than a byte, so it goes in last.
  const size_t sign = scale.find('^');
  if (sign != std::string::npos && style.utf8) scale.replace(sign, 1, "▲");
  return "\n" + out +
         paint(style, Ink::Dim, std::string(kIndent, ' ') + scale) + "\n";
}

std::string share_of(int64_t bytes, uint64_t whole) {
  if (whole == 0) return "";
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(bytes) /
                                   static_cast<double>(whole));
}

std::string parts_table(const RunReport& report, const TextStyle& style) {
  if (!report.has_capture) return {};
  Table table({{"at the peak", Align::Left, kLabelWidth},
               {report.peak_is_charge ? "PSS" : "RSS", Align::Right, 9},
               {"%", Align::Right, 5},
               {"mostly", Align::Left}});
  const uint64_t whole = std::max(report.peak.bytes, report.captured_bytes);
  for (const analysis::RunPart& part : report.parts) {
    table.add_row({{part.label},
                   {spelled_signed(style, part.bytes)},
                   {share_of(part.bytes, whole)},
                   dim(with_sign(style, base::visible(part.mostly)))});
  }
  if (report.not_explained_bytes != 0) {
    table.add_row({dim("not explained"),
                   dim(spelled_signed(style, report.not_explained_bytes)),
                   dim(share_of(report.not_explained_bytes, whole)),
                   dim("charged ahead, changed while read")});
  }
  if (report.not_caught_bytes != 0) {
    table.add_row(
        {dim("not caught"), dim(spelled(style, report.not_caught_bytes)),
         dim(share_of(static_cast<int64_t>(report.not_caught_bytes), whole)),
         dim("the peak rose above the capture")});
  }
  table.add_row(
      {{report.peak_is_charge ? "peak" : "peak of the RSS sum", Ink::Bold},
       {spelled(style, whole), Ink::Bold},
       {"100.0"}});
  return "\n" + table.render_indented(style, kIndent);
}

std::string mapping_table(const RunReport& report,
                          const RunTextOptions& options,
                          const TextStyle& style) {
  if (report.mappings.empty()) return {};
  Table table({{"by mapping", Align::Left, kLabelWidth},
               {report.peak_is_charge ? "PSS" : "RSS", Align::Right, 9},
               {"%", Align::Right, 5},
               {"kind", Align::Left}});
  const uint64_t whole = std::max(report.peak.bytes, report.captured_bytes);
  const size_t shown = std::min(std::max<size_t>(options.row_limit / 2, 1),
                                report.mappings.size());
  for (size_t i = 0; i < shown; ++i) {
    const analysis::RunMapping& row = report.mappings[i];
    std::string kind(model::category_name(row.category));
    if (row.process_count > 1) kind += times(style, row.process_count);
    table.add_row({{base::fit_width(base::visible(row.name), kLabelWidth,
                                    ellipsis(style))},
                   {spelled(style, row.bytes)},
                   {share_of(static_cast<int64_t>(row.bytes), whole)},
                   dim(kind)});
  }
  uint64_t rest = 0;
  for (size_t i = shown; i < report.mappings.size(); ++i) {
    rest += report.mappings[i].bytes;
  }
  if (shown < report.mappings.size()) {
    table.add_row(
        {dim(fmt::format("{} smaller", report.mappings.size() - shown)),
         dim(spelled(style, rest)),
         dim(share_of(static_cast<int64_t>(rest), whole))});
  }
  return "\n" + table.render_indented(style, kIndent);
}

std::string branch(const analysis::RunTreeRow& row, const TextStyle& style) {
  std::string out;
  // The roots stand at the margin; every level below has a line from above.
  for (size_t level = 1; level < row.has_more.size(); ++level) {
    const bool is_last = level + 1 == row.has_more.size();
    if (is_last) {
      out += row.has_more[level] ? (style.utf8 ? "├ " : "|-")
                                 : (style.utf8 ? "└ " : "`-");
    } else {
      out += row.has_more[level] ? (style.utf8 ? "│ " : "| ") : "  ";
    }
  }
  return out;
}

std::string tree_drawing(const RunReport& report, const RunTextOptions& options,
                         const TextStyle& style) {
  if (report.tree.size() < 2) return {};
  Table table({{"who held it", Align::Left, kLabelWidth},
               {report.peak_is_charge ? "PSS" : "RSS", Align::Right, 9},
               {"", Align::Left}});
  const size_t shown = std::min(options.row_limit * 2, report.tree.size());
  constexpr size_t kNameWidth = 40;
  for (size_t i = 0; i < shown; ++i) {
    const analysis::RunTreeRow& row = report.tree[i];
    const std::string name = branch(row, style) + base::visible(row.name) +
                             (row.count > 1 ? times(style, row.count) : "");
    table.add_row({{base::fit_width(name, kNameWidth, ellipsis(style))},
                   {spelled(style, row.bytes)},
                   dim(row.count == 1 ? fmt::format("p:{}", row.pid) : "")});
  }
  std::string out = "\n" + table.render_indented(style, kIndent);
  if (shown < report.tree.size()) {
    out += paint(style, Ink::Dim,
                 "  " +
                     base::counted(report.tree.size() - shown, "more line",
                                   "more lines") +
                     ", in --json\n");
  }
  return out;
}

std::string lived_text(const analysis::RunName& row) {
  if (row.count == 1) return base::long_duration(row.longest_ns);
  std::string text = base::long_duration(row.shortest_ns) + " - " +
                     base::long_duration(row.longest_ns);
  if (row.at_peak_count > 0) {
    text += fmt::format(", {} at peak", base::grouped(row.at_peak_count));
  }
  return text;
}

std::string process_table(const RunReport& report,
                          const RunTextOptions& options,
                          const TextStyle& style) {
  if (report.names.empty()) return {};
  Table table({{"process", Align::Left, kLabelWidth},
               {"own peak", Align::Right, 9},
               {"at peak", Align::Right, 9},
               {"lived", Align::Left}});
  const size_t shown = std::min(options.row_limit, report.names.size());
  for (size_t i = 0; i < shown; ++i) {
    const analysis::RunName& row = report.names[i];
    const std::string name = base::fit_width(base::visible(row.name),
                                             kLabelWidth - 6, ellipsis(style)) +
                             (row.count > 1 ? times(style, row.count) : "");
    table.add_row(
        {{name},
         {spelled(style, row.peak_rss_bytes)},
         {row.at_peak_count > 0 ? spelled(style, row.at_peak_bytes) : "0"},
         dim(lived_text(row))});
  }
  analysis::RunName rest;
  for (size_t i = shown; i < report.names.size(); ++i) {
    rest.count += report.names[i].count;
    rest.at_peak_bytes += report.names[i].at_peak_bytes;
    rest.peak_rss_bytes =
        std::max(rest.peak_rss_bytes, report.names[i].peak_rss_bytes);
  }
  if (rest.count > 0) {
    table.add_row({dim(base::counted(report.names.size() - shown, "other name",
                                     "other names") +
                       times(style, rest.count)),
                   dim(spelled(style, rest.peak_rss_bytes)),
                   dim(spelled(style, rest.at_peak_bytes))});
  }
  return "\n" + table.render_indented(style, kIndent);
}

std::vector<std::string> completeness(const RunReport& report) {
  std::vector<std::string> list;
  if (!report.lists_every_process) {
    list.push_back(
        base::counted(report.process_count, "process was", "processes were") +
        " seen; those that lived between two looks are missing");
  }
  if (report.unlisted_count > 0) {
    list.push_back(base::counted(report.unlisted_count, "more process is",
                                 "more processes are") +
                   " counted, not listed");
  }
  if (report.lost_count > 0) {
    list.push_back(base::counted(
        report.lost_count, "process was lost: no room for its record",
        "processes were lost: no room for their records"));
  }
  if (report.left_running_count > 0) {
    list.push_back(base::counted(report.left_running_count,
                                 "of them still runs, left alone",
                                 "of them still run, left alone"));
  }
  if (report.rescanned_count > 0) {
    list.push_back(base::counted(report.rescanned_count, "large process is",
                                 "large processes are") +
                   " shown by a page scan: PSS as a share of RSS is that of "
                   "the last full look");
  }
  if (report.unreadable_count > 0) {
    list.push_back(
        base::counted(report.unreadable_count, "process", "processes") +
        " at the peak could not be read");
  }
  return list;
}

std::string cost_text(const RunReport& report) {
  const model::WatchCost& cost = report.cost;
  const double share = report.duration_ns == 0
                           ? 0
                           : 100.0 * static_cast<double>(cost.cpu_ns) /
                                 static_cast<double>(report.duration_ns);
  std::string text = fmt::format("cost: {:.1f} % of a core, {} capture{} in {}",
                                 share, base::grouped(cost.capture_count),
                                 cost.capture_count == 1 ? "" : "s",
                                 base::long_duration(cost.capture_ns));
  if (cost.bpf_ns) {
    text +=
        ", BPF " + base::long_duration(*cost.bpf_ns) + " of the command's time";
  }
  if (cost.stop_count == 0) return text + ", nothing stopped or frozen";
  return text + fmt::format(", {} {} for {}", base::grouped(cost.stop_count),
                            cost.stop_count == 1 ? "stop" : "stops",
                            base::long_duration(cost.stopped_ns));
}

}  // namespace

std::string run_line(const RunReport& report, const TextStyle& style) {
  const std::string end = ending_text(report);
  const std::string head = "tidemark: ";
  // The edge of the screen stays free, so that no terminal breaks the line.
  const size_t width = std::max<size_t>(style.width, 40) - 2;
  const size_t room = width > head.size() + end.size() + 2
                          ? width - head.size() - end.size() - 2
                          : 8;
  std::string command = base::visible(report.command);
  if (!style.wide) command = base::fit_width(command, room, ellipsis(style));
  const size_t used = base::display_width(command);
  const size_t gap = used < room ? room - used : 0;
  return paint(style, Ink::Bold, head + command) + std::string(gap + 2, ' ') +
         end + "\n";
}

std::string run_text(const RunReport& report, const RunTextOptions& options,
                     const TextStyle& style) {
  std::string out = run_line(report, style) + "\n";
  out += headline(report, style);
  out += shape(report, style);
  out += parts_table(report, style);
  out += mapping_table(report, options, style);
  out += run_functions_text(report, options.row_limit, style);
  out += tree_drawing(report, options, style);
  out += process_table(report, options, style);
  for (const std::string& line : completeness(report)) {
    out += wrapped(style, Ink::Warn, kIndent, line);
  }
  out += "\n" + wrapped(style, Ink::Dim, kIndent, cost_text(report));
  for (const std::string& note : report.notes) {
    out += wrapped(style, Ink::Warn, kIndent, base::visible(note));
  }
  return out;
}

}  // namespace tidemark::view
