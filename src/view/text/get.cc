#include "view/text/get.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::CategoryUse;
using analysis::GetProcess;
using analysis::GetReport;
using model::Amount;

std::string title(const GetReport& report) {
  const GetProcess& first = report.processes.front();
  std::string text =
      fmt::format("p:{} {}", first.id.pid, base::visible(first.name));
  const size_t others = report.processes.size() - 1;
  if (others > 0) {
    text += fmt::format(" and {} other{}", base::grouped(others),
                        others == 1 ? "" : "s");
  }
  return text;
}

Cell size_cell(const TextStyle& style, const Amount& amount, Ink ink) {
  return {spelled(style, amount), amount.has_unknown ? Ink::Warn : ink};
}

// "anon 1.20 GiB, files 300 MiB" and "shared memory 0", in one line where that
// fits: numbers are never cut.
std::vector<std::string> split_lines(const TextStyle& style,
                                     const analysis::Use& use) {
  if (use.pss_anon.is_unknown()) return {};
  const std::string first = "anon " + spelled(style, use.pss_anon) +
                            ", files " + spelled(style, use.pss_file);
  const std::string second = "shared memory " + spelled(style, use.pss_shmem);
  constexpr size_t kNoteColumn = 26;
  if (kNoteColumn + first.size() + 2 + second.size() <= style.width) {
    return {first + ", " + second};
  }
  return {first + ",", second};
}

std::string in_ram_note(const TextStyle& style, const analysis::Use& use) {
  if (use.hugetlb.bytes == 0) return "PSS: shared pages divided by their users";
  return "PSS " + spelled(style, use.pss) + " + huge pages " +
         spelled(style, use.hugetlb);
}

void add_peak(Table& table, const GetReport& report, const TextStyle& style) {
  for (const GetProcess& process : report.processes) {
    // A tree has no such mark: the peaks of its processes do not coincide.
    if (!process.peak_rss_bytes || report.processes.size() > 1) continue;
    table.add_row({{"peak RSS"},
                   {spelled(style, *process.peak_rss_bytes)},
                   {"VmHWM, since the program started", Ink::Dim}});
  }
}

std::string headline(const GetReport& report, const GetTextOptions& options,
                     const TextStyle& style) {
  const analysis::Use& use = report.total;
  Table table({{"", Align::Left}, {"", Align::Right, 9}, {"", Align::Left}});
  table.add_row({{"in RAM", Ink::Bold},
                 size_cell(style, use.in_ram(), Ink::Bold),
                 {in_ram_note(style, use), Ink::Dim}});
  for (const std::string& line : split_lines(style, use)) {
    table.add_row({{}, {}, {line, Ink::Dim}});
  }
  table.add_row({{"swapped out"},
                 size_cell(style, use.swap_pss, Ink::Plain),
                 {"beside it, not in RAM", Ink::Dim}});
  table.add_row({{"private"},
                 size_cell(style, use.uss, Ink::Plain),
                 {report.processes.size() > 1
                      ? "sum of USS: each page mapped by one of them alone"
                      : "USS: would come back if it ended",
                  Ink::Dim}});
  table.add_row({{"RSS"},
                 size_cell(style, use.rss, Ink::Plain),
                 {report.processes.size() > 1
                      ? "counts shared pages once for each process"
                      : "counts shared pages in full",
                  Ink::Dim}});
  table.add_row({{"kernel"},
                 size_cell(style, use.kernel, Ink::Plain),
                 {"page tables and kernel stacks, beside it", Ink::Dim}});
  if (options.with_peak) add_peak(table, report, style);
  return table.render_bare(style, 2);
}

std::string category_table(const GetReport& report, const TextStyle& style) {
  Table table({{"", Align::Left, 21},
               {"PSS", Align::Right, 8},
               {"%", Align::Right, 4},
               {"PRIVATE", Align::Right, 8},
               {"SWAP", Align::Right}});
  const uint64_t whole = report.total.in_ram().bytes;
  for (const CategoryUse& use : report.categories) {
    table.add_row({{std::string(model::category_name(use.category))},
                   {spelled(style, use.pss_bytes)},
                   {base::percent(use.pss_bytes, whole)},
                   {spelled(style, use.private_bytes)},
                   {spelled(style, use.swap_pss_bytes)}});
  }
  table.add_row(
      {{"not explained", Ink::Dim},
       {spelled_signed(style, report.not_explained_bytes()), Ink::Dim}});
  table.add_row({{"in RAM", Ink::Bold},
                 size_cell(style, report.total.in_ram(), Ink::Bold),
                 {"100"},
                 {spelled(style, report.total.uss)},
                 {spelled(style, report.total.swap_pss)}});
  return table.render(style, false);
}

std::string process_table(const GetReport& report, const TextStyle& style) {
  Table table({{"TASK", Align::Left, 10},
               {"PSS", Align::Right, 6},
               {"PRIVATE", Align::Right},
               {"RSS", Align::Right, 6},
               {"SWAP", Align::Right},
               {"KERN", Align::Right, 5},
               {"NAME", Align::Left}});
  const auto cell = [&](const Amount& amount) {
    return Cell{dense(style, amount),
                amount.has_unknown ? Ink::Warn : Ink::Plain};
  };
  for (const GetProcess& process : report.processes) {
    const std::string indent(size_t{2} * process.depth, ' ');
    table.add_row({{indent + "p:" + std::to_string(process.id.pid)},
                   cell(process.use.in_ram()),
                   cell(process.use.uss),
                   cell(process.use.rss),
                   cell(process.use.swap_pss),
                   cell(process.use.kernel),
                   {indent + base::visible(process.name)}});
  }
  return table.render(style, false);
}

std::string unknown_text(const GetReport& report, const TextStyle& style) {
  std::string text;
  for (const GetProcess& process : report.processes) {
    if (process.unknown.empty() || !process.use.pss.is_unknown()) continue;
    text += fmt::format("PSS of p:{} {} is unknown: {}\n", process.id.pid,
                        base::visible(process.name),
                        base::visible(process.unknown[0].second));
    text += "  RSS is from statm, which anyone may read\n";
  }
  if (text.empty()) return text;
  if (!report.denied_hint.empty()) {
    text += "  hint: " + report.denied_hint + "\n";
  }
  return "\n" + paint(style, Ink::Warn, text);
}

std::string kib(const Amount& amount, bool in_bytes) {
  if (amount.is_unknown()) return "?";
  return in_bytes ? std::to_string(amount.bytes)
                  : std::to_string(amount.bytes / 1024) + " kB";
}

}  // namespace

std::string get_text(const GetReport& report, const GetTextOptions& options,
                     const TextStyle& style) {
  if (options.only_peak) {
    Table table({{"", Align::Left}, {"", Align::Right, 9}, {"", Align::Left}});
    add_peak(table, report, style);
    std::string line = table.render_bare(style, 0);
    if (!line.empty()) return line;
    return "peak RSS  ?  the kernel keeps one for a process, none for a tree; "
           "-w finds the highest reading\n";
  }
  std::string out = paint(style, Ink::Bold, title(report)) + "\n\n";
  out += headline(report, options, style);
  if (options.verbose) {
    if (!report.categories.empty()) {
      out += "\n" + category_table(report, style);
    }
    out += "\n" + process_table(report, style);
  }
  out += unknown_text(report, style);
  for (const std::string& note : report.notes)
    out += "\n" + note + "\n";
  return out;
}

std::string get_watch_head(const TextStyle& style) {
  return paint(style, Ink::Dim,
               "TIME           IN RAM  PRIVATE      RSS     SWAP  PROCESSES") +
         "\n";
}

std::string get_watch_line(const GetReport& report,
                           const GetTextOptions& options,
                           const TextStyle& style) {
  // HH:MM:SS.mmm of "2026-11-15T08:09:03.000000000Z".
  const std::string time = base::rfc3339(report.realtime_ns).substr(11, 12);
  const auto pad = [&](const Amount& amount) {
    const std::string text = dense(style, amount);
    // A wider number moves its line, but never touches its neighbour.
    return std::string(9 - std::min<size_t>(8, base::display_width(text)),
                       ' ') +
           text;
  };
  std::string out = time + pad(report.total.in_ram()) + pad(report.total.uss) +
                    pad(report.total.rss) + pad(report.total.swap_pss) +
                    fmt::format("{:>11}", report.processes.size()) +
                    (report.is_new_high ? "  new high\n" : "\n");
  if (!options.verbose) return out;
  for (const GetProcess& process : report.processes) {
    const std::string label =
        std::string(size_t{2} * (process.depth + 1), ' ') +
        fmt::format("p:{}", process.id.pid);
    const std::string name = base::visible(process.name);
    out += fmt::format("{:<12}", label) + pad(process.use.in_ram()) +
           pad(process.use.uss) + pad(process.use.rss) +
           pad(process.use.swap_pss) + "  " +
           (style.wide ? name : base::fit_width(name, 30, ellipsis(style))) +
           "\n";
  }
  return out;
}

std::string get_peak_text(const GetReport& peak,
                          const analysis::PeakReadings& readings,
                          const GetTextOptions& options,
                          const TextStyle& style) {
  std::string head =
      fmt::format("peak of {} reading{}", base::grouped(readings.count),
                  readings.count == 1 ? "" : "s");
  if (readings.rss_bytes) {
    head += fmt::format(", {} of them at new highs; RSS peaked at {}",
                        base::grouped(readings.new_high_count),
                        spelled(style, *readings.rss_bytes));
  } else {
    head += "; between them it may have been higher";
  }
  return paint(style, Ink::Bold, head) + "\n" +
         get_watch_line(peak, options, style);
}

std::string get_bytes_line(const GetReport& report, bool peak_rss) {
  if (!peak_rss) return kib(report.total.in_ram(), true) + "\n";
  const std::optional<uint64_t> peak = report.processes.size() == 1
                                           ? report.processes[0].peak_rss_bytes
                                           : std::nullopt;
  return (peak ? std::to_string(*peak) : "?") + "\n";
}

std::string get_memstat_text(const GetReport& report, bool verbose,
                             bool in_bytes) {
  std::string out;
  if (verbose) {
    for (const GetProcess& process : report.processes) {
      out += fmt::format("{}[{}] {} ({})\n",
                         std::string(size_t{2} * process.depth, ' '),
                         process.id.pid, kib(process.use.in_ram(), in_bytes),
                         base::visible(process.comm));
    }
  }
  out += in_bytes ? kib(report.total.in_ram(), true) + "\n"
                  : "Total: " + kib(report.total.in_ram(), false) + "\n";
  return out;
}

}  // namespace tidemark::view
