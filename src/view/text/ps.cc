#include "view/text/ps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::PsReport;
using analysis::PsRow;
using analysis::RowKind;

std::string task_cell(const PsRow& row) {
  // Deep trees stop moving to the right: numbers need the room.
  constexpr size_t kDeepestIndent = 6;
  const std::string indent(2 * std::min<size_t>(row.depth, kDeepestIndent),
                           ' ');
  switch (row.kind) {
    case RowKind::Group:
      return indent + "j:" + std::to_string(row.id);
    case RowKind::Process:
      return indent + "p:" + std::to_string(row.id);
    case RowKind::Thread:
      return indent + "t:" + std::to_string(row.id);
    case RowKind::Folded:
      return {};
  }
  return {};
}

std::string descriptor_text(const PsRow& row) {
  std::string text;
  for (const model::DescriptorCount& kind : *row.descriptors) {
    text += (text.empty() ? "" : ", ") + std::to_string(kind.count) + " " +
            base::visible(kind.kind);
  }
  return text;
}

std::string name_cell(const PsRow& row, bool with_descriptors) {
  // One step is enough here: TASK shows the depth, and names need the room.
  std::string name = (row.depth > 0 ? "  " : "") + base::visible(row.name);
  if (row.state == model::ProcessState::Zombie) name += " (zombie)";
  if (row.kind == RowKind::Thread) {
    name += " (" + base::visible({&row.run_state, 1}) + ")";
  }
  if (with_descriptors && row.descriptors && !row.descriptors->empty()) {
    name += ": " + descriptor_text(row);
  }
  return name;
}

Cell amount_cell(const TextStyle& style, const model::Amount& amount, Ink ink) {
  const bool doubtful = amount.has_unknown;
  return {dense(style, amount), doubtful ? Ink::Warn : ink};
}

// SHARED of a group is blank where it is a sum: it would count pages
// repeatedly. To the page it is what the group shares with others.
Cell shared_cell(const TextStyle& style, const PsReport& report,
                 const PsRow& row, Ink ink) {
  const bool is_known = row.kind == RowKind::Process ||
                        (report.is_exact && row.kind == RowKind::Group);
  if (!is_known) return {};
  return amount_cell(style, row.use.shared, ink);
}

Cell descriptor_cell(const PsRow& row) {
  if (row.kind != RowKind::Process ||
      row.state == model::ProcessState::Zombie ||
      row.state == model::ProcessState::KernelThread) {
    return {};
  }
  if (!row.descriptors) return {"?", Ink::Warn};
  return {std::to_string(*row.descriptor_total()), Ink::Plain};
}

// RSS is worth its room where PSS is not known, and when asked for.
bool shows_rss(const PsReport& report) {
  return !report.denied.empty() || report.sort_by == analysis::SortBy::Rss;
}

std::vector<Cell> task_row(const PsReport& report, const PsRow& row,
                           const PsTextOptions& options,
                           const TextStyle& style) {
  const Ink ink = row.kind == RowKind::Group    ? Ink::Bold
                  : row.kind == RowKind::Folded ? Ink::Dim
                                                : Ink::Plain;
  const bool is_thread = row.kind == RowKind::Thread;
  const auto amount = [&](const model::Amount& bytes) {
    return is_thread ? Cell{} : amount_cell(style, bytes, ink);
  };
  std::vector<Cell> cells = {{task_cell(row), ink},
                             amount(row.use.in_ram()),
                             amount(row.use.uss),
                             shared_cell(style, report, row, ink)};
  if (shows_rss(report)) {
    // A sum of RSS counts shared pages repeatedly: only processes have one.
    cells.push_back(row.kind == RowKind::Process ? amount(row.use.rss)
                                                 : Cell{});
  }
  cells.push_back(amount(row.use.swap_pss));
  cells.push_back(amount_cell(style, row.use.kernel, ink));
  if (options.with_descriptors) cells.push_back(descriptor_cell(row));
  cells.push_back({name_cell(row, options.with_descriptors), ink});
  return cells;
}

std::string task_table(const PsReport& report, const PsTextOptions& options,
                       const TextStyle& style) {
  std::vector<Column> columns = {{"TASK", Align::Left, 8},
                                 {"PSS", Align::Right, 6},
                                 {"PRIVATE", Align::Right, 0, 4},
                                 {"SHARED", Align::Right, 0, 1}};
  if (shows_rss(report)) columns.push_back({"RSS", Align::Right, 6});
  columns.push_back({"SWAP", Align::Right, 0, 3});
  columns.push_back({"KERN", Align::Right, 5, 2});
  if (options.with_descriptors) columns.push_back({"FDS", Align::Right});
  columns.push_back({"NAME", Align::Left});
  Table table(std::move(columns));
  for (const PsRow& row : report.rows) {
    table.add_row(task_row(report, row, options, style));
  }
  return table.render(style, true);
}

Cell reading_cell(const TextStyle& style,
                  const std::optional<model::Reading<uint64_t>>& reading,
                  Ink ink) {
  if (!reading) return {};
  const bool is_known = static_cast<bool>(*reading);
  return {dense(style, reading->value), is_known ? ink : Ink::Warn};
}

// Groups alone, with the kernel's own account of each.
std::string group_table(const PsReport& report, const TextStyle& style) {
  const bool has_account = report.group_by == analysis::GroupBy::Cgroup &&
                           report.cgroup_version != model::CgroupVersion::None;
  std::vector<Column> columns = {
      {"TASK", Align::Left, 8},        {"PSS", Align::Right, 6},
      {"PRIVATE", Align::Right, 0, 1}, {"SWAP", Align::Right, 0, 3},
      {"KERN", Align::Right, 5, 2},
  };
  if (has_account) {
    columns.insert(columns.end(), {{"CHARGED", Align::Right},
                                   {"UNSEEN", Align::Right},
                                   {"PEAK", Align::Right, 6}});
  }
  columns.push_back({"NAME", Align::Left});
  // Nine columns: the name gets what a narrower gap leaves.
  Table table(std::move(columns), 1);
  for (const PsRow& row : report.rows) {
    if (row.kind != RowKind::Group) continue;
    std::vector<Cell> cells = {{task_cell(row), Ink::Plain}};
    for (const model::Amount& amount :
         {row.use.in_ram(), row.use.uss, row.use.swap_pss, row.use.kernel}) {
      cells.push_back(amount_cell(style, amount, Ink::Plain));
    }
    if (has_account) {
      cells.push_back(reading_cell(style, row.charged_bytes, Ink::Plain));
      cells.push_back(row.charged_bytes
                          ? Cell{dense_signed(style, row.unseen_bytes()),
                                 row.unseen_bytes() ? Ink::Plain : Ink::Warn}
                          : Cell{});
      cells.push_back(reading_cell(style, row.peak_bytes, Ink::Plain));
    }
    cells.push_back({name_cell(row, false), Ink::Plain});
    table.add_row(std::move(cells));
  }
  return table.render(style, true);
}

std::string account_text(const PsReport& report, const TextStyle& style) {
  const analysis::MachineAccount& account = *report.account;
  Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Left}});
  table.add_row(
      {{"in use", Ink::Bold},
       {spelled(style, account.used_bytes), Ink::Bold},
       {"of " + spelled(style, account.total_bytes) + ": MemTotal - MemFree",
        Ink::Dim}});
  table.add_row({{"  processes"},
                 {spelled(style, account.processes),
                  account.processes.has_unknown ? Ink::Warn : Ink::Plain},
                 {fmt::format("sum of PSS and huge pages of {}",
                              base::grouped(report.process_count)),
                  Ink::Dim}});
  for (const analysis::AccountLine& line : account.others) {
    table.add_row({{"  " + line.name}, {spelled_signed(style, line.bytes)}});
  }
  const auto rest = static_cast<uint64_t>(std::max<int64_t>(
      account.not_explained_bytes, -account.not_explained_bytes));
  table.add_row(
      {{"  not explained"},
       {spelled_signed(style, account.not_explained_bytes)},
       {base::percent(rest, account.total_bytes) + " % of RAM", Ink::Dim}});
  return table.render_bare(style, 0);
}

std::string denied_text(const PsReport& report, const TextStyle& style) {
  constexpr size_t kShown = 3;
  std::string names;
  for (size_t i = 0; i < std::min(report.denied.size(), kShown); ++i) {
    names += (i == 0 ? "" : ", ") + base::visible(report.denied[i]);
  }
  if (report.denied.size() > kShown) {
    names += fmt::format(", {} more", report.denied.size() - kShown);
  }
  std::string text = fmt::format("{} process{} unknown (?): {}\n",
                                 base::grouped(report.denied.size()),
                                 report.denied.size() == 1 ? "" : "es", names);
  text += "  " + base::visible(report.denied_because) + "\n";
  if (!report.denied_hint.empty()) {
    text += "  hint: " + report.denied_hint + "\n";
  }
  return paint(style, Ink::Warn, text);
}

}  // namespace

std::string ps_text(const PsReport& report, const PsTextOptions& options,
                    const TextStyle& style) {
  std::string out = options.groups_only ? group_table(report, style)
                                        : task_table(report, options, style);
  const bool has_account = report.account.has_value();
  if (has_account) out += "\n" + account_text(report, style);
  if (!report.denied.empty()) out += "\n" + denied_text(report, style);
  if (report.group_by == analysis::GroupBy::Cgroup &&
      !report.cgroup_note.empty()) {
    out += "\nno group figures: " + base::visible(report.cgroup_note) + "\n";
  }
  return out;
}

}  // namespace tidemark::view
