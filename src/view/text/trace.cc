#include "view/text/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/trace_error.h"
#include "base/escape.h"
#include "base/units.h"
#include "view/json/trace.h"
#include "view/text/table.h"
#include "view/text/trace_boot.h"
#include "view/text/trace_modules.h"
#include "view/text/trace_slab.h"

namespace tidemark::view {
namespace {

using analysis::TraceGroup;
using analysis::TraceNode;
using analysis::TraceNumbers;
using analysis::TraceReportKind;
using analysis::TraceSection;
using model::Trace;

// --- as memstrack prints them ------------------------------------------------

std::string mebibytes(uint64_t bytes) {
  return fmt::format("{:.1f}MB", static_cast<double>(bytes) / (1 << 20));
}

// Of what lies between a leaf and its task only a bound is known; where the
// past is not, nothing.
class Peaks {
 public:
  explicit Peaks(const Trace& trace)
      : is_known_(trace.has_peaks), page_bytes_(trace.page_size_bytes) {}

  std::string of(const TraceNumbers& numbers) const {
    if (!is_known_) return "?";
    return (numbers.is_peak_exact() ? "" : "<=") +
           std::to_string(numbers.peak_pages);
  }
  std::string mebibytes_of(const TraceNumbers& numbers) const {
    return is_known_ ? mebibytes(numbers.peak_pages * page_bytes_) : "?";
  }

 private:
  bool is_known_;
  uint64_t page_bytes_;
};

std::string frame_name(const TraceNode& node) {
  std::string name = base::visible(node.name);
  if (name.empty()) name = "?";
  if (!node.module.empty()) name += " " + base::visible(node.module);
  if (!node.loads.empty()) name += " of " + base::visible(node.loads);
  return fmt::format("{} (0x{:x})", name, node.address);
}

void add_frames(const TraceNode& node, size_t depth, const Peaks& peaks,
                std::string& text) {
  for (const TraceNode& child : node.children) {
    text += fmt::format("{:{}}{} Pages: {} (peak: {})\n", "", depth * 2,
                        frame_name(child), child.total.pages,
                        peaks.of(child.total));
    add_frames(child, depth + 1, peaks, text);
  }
}

std::string module_summary(const TraceSection& section, const Peaks& peaks,
                           uint64_t page_bytes) {
  std::string text;
  for (const TraceNode& module : section.tree.children) {
    if (module.name.empty()) continue;  // the kernel's image is none
    text += fmt::format(
        "Module {} using {} ({} pages), peak allocation {} ({} pages)\n",
        base::visible(module.name), mebibytes(module.total.pages * page_bytes),
        module.total.pages, peaks.mebibytes_of(module.total),
        peaks.of(module.total));
  }
  return text;
}

std::string module_top(const TraceSection& section, const Peaks& peaks) {
  std::string text;
  for (const TraceNode& module : section.tree.children) {
    if (module.name.empty()) continue;
    text += fmt::format("Top stack usage of module {}:\n",
                        base::visible(module.name));
    text += fmt::format("  Pages: {} (peak: {})\n", module.total.pages,
                        peaks.of(module.total));
    add_frames(module, 2, peaks, text);
  }
  return text;
}

std::string task_summary(const TraceSection& section, const Peaks& peaks) {
  std::string text;
  for (const TraceNode& task : section.tree.children) {
    text += fmt::format("Task {} ({}) using {} pages, peak usage {} pages\n",
                        base::visible(task.name), task.pid, task.total.pages,
                        peaks.of(task.total));
  }
  return text;
}

std::string task_top(const TraceSection& section, const Peaks& peaks) {
  std::string text;
  for (const TraceNode& task : section.tree.children) {
    text += fmt::format("{} Pages: {} (peak: {})\n", base::visible(task.name),
                        task.total.pages, peaks.of(task.total));
    add_frames(task, 1, peaks, text);
  }
  return text;
}

std::string slab_static(const TraceSection& section, uint64_t page_bytes) {
  if (!section.caches) {
    return "slab caches: " + section.caches.unknown_because + "\n";
  }
  std::vector<model::SlabCache> caches = *section.caches;
  const auto bytes_of = [&](const model::SlabCache& cache) {
    return cache.slabs * cache.pages_per_slab * page_bytes;
  };
  std::ranges::stable_sort(caches, [&](const auto& a, const auto& b) {
    return bytes_of(a) > bytes_of(b);
  });
  if (section.spec.tree.top > 0 && caches.size() > section.spec.tree.top) {
    caches.resize(section.spec.tree.top);
  }
  std::string text = "Top Slab Usage:\n";
  for (const model::SlabCache& cache : caches) {
    text += fmt::format("{}: {:.1f} MB\n", base::visible(cache.name),
                        static_cast<double>(bytes_of(cache)) / (1 << 20));
  }
  return text;
}

// --- ours
// ------------------------------------------------------------------------

class Amounts {
 public:
  Amounts(const TraceTextOptions& options, const TextStyle& style,
          const Trace& trace)
      : in_pages_(options.in_pages),
        style_(style),
        trace_(trace),
        page_bytes_(trace.page_size_bytes),
        mark_(trace.is_exact() ? "" : "~") {}

  // What can be too high or too low is marked.
  std::string of(uint64_t pages) const {
    if (in_pages_) return mark_ + base::grouped(pages);
    return mark_ + base::short_size(pages * page_bytes_, style_.unit);
  }
  std::string peak(const TraceNumbers& numbers) const {
    if (numbers.is_peak_exact()) return of(numbers.peak_pages);
    return (style_.utf8 ? "≤" : "<=") + of(numbers.peak_pages);
  }
  // How far off it may be.
  std::string error(uint64_t pages) const {
    const uint64_t off = analysis::trace_error_pages(trace_, pages);
    if (in_pages_) return base::grouped(off);
    return base::short_size(off * page_bytes_, style_.unit);
  }
  std::string spelled_out(uint64_t pages) const {
    if (in_pages_) return mark_ + base::grouped(pages) + " pages";
    return mark_ + base::long_size(pages * page_bytes_, style_.unit);
  }

 private:
  bool in_pages_;
  const TextStyle& style_;
  const Trace& trace_;
  uint64_t page_bytes_;
  std::string mark_;
};

std::string node_name(const TraceNode& node) {
  std::string name = base::visible(node.name);
  switch (node.group) {
    case TraceGroup::Task:
      return node.pid > 0 ? fmt::format("{} ({})", name, node.pid) : name;
    case TraceGroup::Cgroup:
      return name.empty() ? "group not known" : name;
    case TraceGroup::Module:
      return name.empty() ? "the kernel's image" : name;
    case TraceGroup::Stack:
      break;
  }
  if (name.empty()) name = fmt::format("0x{:x}", node.address);
  if (!node.module.empty()) name += " [" + base::visible(node.module) + "]";
  if (!node.loads.empty()) name += " of " + base::visible(node.loads);
  return name;
}

// An only child that holds all its parent does stands below it without a step:
// stacks are deep, and only where they part is there something to see.
bool is_same_chain(const TraceNode& parent) {
  return parent.children.size() == 1 && parent.group == TraceGroup::Stack &&
         parent.children[0].group == TraceGroup::Stack &&
         parent.children[0].total == parent.total;
}

class TreeTable {
 public:
  struct Parts {
    // Where the past is not known there are no peaks to show.
    bool has_peaks = true;
    bool has_errors = false;
    // The errors are of what was held at the peak.
    bool is_of_peak = false;
  };
  TreeTable(const Amounts& amounts, const Parts& parts, const TextStyle& style)
      : amounts_(amounts), parts_(parts), table_(columns_of(parts, style)) {}

  void add(const TraceNode& node, size_t depth);
  std::string render(const TextStyle& style) const {
    return table_.render(style, false);
  }

 private:
  static std::vector<Column> columns_of(const Parts& parts,
                                        const TextStyle& style) {
    std::vector<Column> columns = {{"NOW"}};
    if (parts.has_peaks) {
      columns.push_back({"PEAK"});
      columns.push_back({"AT PEAK", Align::Right, 0, 1});
    }
    if (parts.has_errors) columns.push_back({style.utf8 ? "±" : "+-"});
    columns.push_back({"WHO AND THROUGH WHAT", Align::Left});
    return columns;
  }
  void add_row(const TraceNode& node, size_t depth, bool has_numbers);

  const Amounts& amounts_;
  Parts parts_;
  Table table_;
};

void TreeTable::add_row(const TraceNode& node, size_t depth, bool has_numbers) {
  std::vector<Cell> cells(parts_.has_peaks ? 3 : 1);
  if (has_numbers) {
    cells[0].text = amounts_.of(node.total.pages);
    if (parts_.has_peaks) {
      cells[1].text = amounts_.peak(node.total);
      cells[2].text = amounts_.of(node.total.machine_peak_pages);
    }
  }
  if (parts_.has_errors) {
    cells.emplace_back();
    if (has_numbers) {
      cells.back().text = amounts_.error(
          parts_.is_of_peak ? node.total.machine_peak_pages : node.total.pages);
    }
  }
  const Ink ink = node.group != TraceGroup::Stack ? Ink::Bold
                  : has_numbers                   ? Ink::Plain
                                                  : Ink::Dim;
  cells.push_back({std::string(depth * 2, ' ') + node_name(node), ink});
  table_.add_row(std::move(cells));
}

void TreeTable::add(const TraceNode& node, size_t depth) {
  for (const TraceNode& child : node.children) {
    add_row(child, depth, true);
    const TraceNode* below = &child;
    while (is_same_chain(*below)) {
      below = &below->children[0];
      add_row(*below, depth, false);
    }
    add(*below, depth + 1);
  }
}

std::string tree_text(const TraceSection& section, const Trace& trace,
                      const Amounts& amounts, const TextStyle& style) {
  TreeTable table(
      amounts,
      {trace.has_peaks, trace.user.has_value() && trace.sample_period > 1,
       section.spec.tree.order == analysis::TraceOrder::ByMachinePeak},
      style);
  table.add(section.tree, 0);
  return table.render(style);
}

std::string growth_text(const TraceSection& section, const Trace& trace,
                        const Amounts& amounts, const TextStyle& style) {
  if (section.growing.empty()) {
    return "nothing only rises: every stack gave back at some time, or the "
           "trace was too short to tell\n";
  }
  std::string text;
  for (const analysis::Growth& growth : section.growing) {
    text += paint(style, Ink::Bold,
                  fmt::format("{} in {} of {} stretches, {} now, held for {}",
                              "+" + amounts.spelled_out(growth.grown_pages),
                              growth.rising_count, growth.stretch_count - 1,
                              amounts.spelled_out(growth.pages),
                              base::long_duration(growth.held_ns)));
    const model::TraceTask& task = trace.tasks[growth.task];
    text += fmt::format("\n  {} ({})\n",
                        base::visible(analysis::task_name(task)), task.pid);
    for (uint32_t frame : trace.stacks[growth.stack]) {
      const model::TraceFrame& at = trace.frames[frame];
      text += fmt::format("    {}{}\n",
                          at.symbol.empty() ? fmt::format("0x{:x}", at.address)
                                            : base::visible(at.symbol),
                          at.module.empty()
                              ? std::string()
                              : " [" + base::visible(at.module) + "]");
    }
  }
  return text;
}

std::string head_text(const Trace& trace, const Amounts& amounts) {
  if (trace.backend == model::TraceBackend::PageOwner) {
    return amounts.spelled_out(trace.pages) +
           " held, by the kernel's notes on each page (pageowner)\n";
  }
  std::string text = fmt::format("{} by {}: {} taken since and held",
                                 base::long_duration(trace.elapsed_ns),
                                 model::trace_backend_token(trace.backend),
                                 amounts.spelled_out(trace.pages));
  if (trace.has_peaks) {
    text +=
        fmt::format(", {} at the peak", amounts.spelled_out(trace.peak_pages));
  }
  if (trace.sample_period > 1) {
    text += fmt::format(" (one page frame in {} was followed)",
                        trace.sample_period);
  }
  return text + "\n";
}

// What it took to unwind the stacks of programs, and which could not be.
std::string user_text(const Trace& trace) {
  if (!trace.user) return {};
  const model::TraceUser& user = *trace.user;
  const double percent = trace.elapsed_ns == 0
                             ? 0
                             : 100.0 * static_cast<double>(user.unwinding_ns) /
                                   static_cast<double>(trace.elapsed_ns);
  std::string text =
      fmt::format("  {} stacks of programs, unwound in {} ({:.1f} % of a CPU)",
                  base::grouped(user.sample_count),
                  base::long_duration(user.unwinding_ns), percent);
  if (user.naming_ns > 0)
    text += ", named in " + base::long_duration(user.naming_ns);
  text += "\n";
  if (user.cut_count > 0) {
    text +=
        fmt::format("  {} of them could not be followed to their beginning\n",
                    base::grouped(user.cut_count));
  }
  if (user.unmapped_count > 0) {
    text += fmt::format("  {} are of processes that ended too soon\n",
                        base::grouped(user.unmapped_count));
  }
  return text;
}

// Every way to be wrong that was met.
std::vector<std::string> losses(const model::TraceFaults& faults) {
  const std::pair<uint64_t, const char*> known[] = {
      {faults.lost_events, "events lost"},
      {faults.missed_events, "events missed, on top of our own"},
      {faults.overwritten, "pages taken again whose return was missed"},
      {faults.out_of_range, "pages outside the tables"},
      {faults.table_full, "allocations for which no entry was left"},
      {faults.unmatched_migrations, "pages moved, nobody knows where"},
  };
  std::vector<std::string> lines;
  if (faults.wrong_stacks > 0) {
    lines.push_back(
        fmt::format("{} of {} stacks that were verified were taken for another",
                    base::grouped(faults.wrong_stacks),
                    base::grouped(faults.verified_stacks)));
  }
  for (const auto& [count, what] : known) {
    if (count > 0) lines.push_back(base::grouped(count) + " " + what);
  }
  return lines;
}

std::string faults_text(const model::TraceFaults& faults) {
  std::string text;
  for (const std::string& line : losses(faults))
    text += "  " + line + "\n";
  if (faults.untracked_freed > 0) {
    text += fmt::format("  {} pages given back that nobody was seen to take\n",
                        base::grouped(faults.untracked_freed));
  }
  return text;
}

// Above each report that stands for itself, not inside: some are read by
// programs.
std::string loss_line(const model::TraceFaults& faults) {
  if (!faults.change_numbers()) return {};
  return trace_losses(faults) + ": the numbers below are too high or too low\n";
}

std::string section_text(const TraceSection& section,
                         const analysis::TraceReport& report,
                         const Amounts& amounts,
                         const TraceTextOptions& options,
                         const TextStyle& style) {
  const Trace& trace = *report.trace;
  switch (section.spec.kind) {
    case TraceReportKind::ModuleSummary:
      return module_summary(section, Peaks(trace), trace.page_size_bytes);
    case TraceReportKind::ModuleTop:
      return module_top(section, Peaks(trace));
    case TraceReportKind::TaskSummary:
      return task_summary(section, Peaks(trace));
    case TraceReportKind::TaskTop:
      return task_top(section, Peaks(trace));
    case TraceReportKind::TaskTopJson:
      return task_top_json(section.tree);
    case TraceReportKind::ProcSlabStatic:
      return slab_static(section, trace.page_size_bytes);
    case TraceReportKind::CgroupSummary:
    case TraceReportKind::Tree:
    case TraceReportKind::Peak:
      return tree_text(section, trace, amounts, style);
    case TraceReportKind::Growth:
      return growth_text(section, trace, amounts, style);
    case TraceReportKind::Modules:
      return trace_modules_text(section.modules, trace, options.in_pages,
                                style);
    case TraceReportKind::Slab:
      return trace_slab_text(section.slab, trace, style);
    case TraceReportKind::ModuleAny:
      return module_shares_text(section.shares, trace);
    case TraceReportKind::CrashKernel:
      return crash_kernel_text(report.crash_kernel, style);
  }
  return {};
}

}  // namespace

std::string trace_losses(const model::TraceFaults& faults) {
  return fmt::format("{}", fmt::join(losses(faults), "; "));
}

std::string trace_text(const analysis::TraceReport& report,
                       const TraceTextOptions& options,
                       const TextStyle& style) {
  const Trace& trace = *report.trace;
  const Amounts amounts(options, style, trace);
  std::string text;
  if (!options.has_banners) {
    text = head_text(trace, amounts) + user_text(trace) +
           faults_text(trace.faults);
    for (const std::string& note : trace.notes)
      text += wrapped(style, Ink::Dim, 2, note);
  }
  for (const TraceSection& section : report.sections) {
    const std::string_view name =
        analysis::trace_report_token(section.spec.kind);
    if (options.has_banners) {
      text += loss_line(trace.faults);
      text += fmt::format("======== Report format {}: ========\n", name);
    } else {
      text += "\n";
    }
    text += section_text(section, report, amounts, options, style);
    if (options.has_banners) {
      text += fmt::format("======== Report format {} END ========\n", name);
    }
  }
  return text;
}

}  // namespace tidemark::view
