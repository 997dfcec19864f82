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
  const std::string indent(size_t{2} * row.depth, ' ');
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
  if (row.kind == RowKind::Thread) name += fmt::format(" ({})", row.run_state);
  if (with_descriptors && row.descriptors && !row.descriptors->empty()) {
    name += ": " + descriptor_text(row);
  }
  return name;
}

uint64_t descriptor_total(const PsRow& row) {
  uint64_t total = 0;
  for (const model::DescriptorCount& kind : *row.descriptors) {
    total += kind.count;
  }
  return total;
}

Cell amount_cell(const TextStyle& style, const model::Amount& amount, Ink ink) {
  const bool doubtful = amount.has_unknown;
  return {dense(style, amount), doubtful ? Ink::Warn : ink};
}

// SHARED of a group is blank: shared pages add up to nothing meaningful.
Cell shared_cell(const TextStyle& style, const PsRow& row, Ink ink) {
  if (row.kind != RowKind::Process) return {};
  return amount_cell(style, row.use.shared, ink);
}

std::vector<Cell> task_row(const PsRow& row, const PsTextOptions& options,
                           const TextStyle& style) {
  const Ink ink = row.kind == RowKind::Group    ? Ink::Bold
                  : row.kind == RowKind::Folded ? Ink::Dim
                                                : Ink::Plain;
  std::vector<Cell> cells = {{task_cell(row), ink}};
  if (row.kind == RowKind::Thread) {
    cells.insert(cells.end(), {{}, {}, {}, {}});
  } else {
    cells.push_back(amount_cell(style, row.use.in_ram(), ink));
    cells.push_back(amount_cell(style, row.use.uss, ink));
    cells.push_back(shared_cell(style, row, ink));
    cells.push_back(amount_cell(style, row.use.swap_pss, ink));
  }
  cells.push_back(amount_cell(style, row.use.kernel, ink));
  if (options.with_descriptors) {
    Cell count;
    if (row.kind == RowKind::Process) {
      count = row.descriptors
                  ? Cell{std::to_string(descriptor_total(row)), Ink::Plain}
              : row.state == model::ProcessState::Zombie ? Cell{}
                                                         : Cell{"?", Ink::Warn};
    }
    cells.push_back(count);
  }
  cells.push_back({name_cell(row, options.with_descriptors), ink});
  return cells;
}

std::string task_table(const PsReport& report, const PsTextOptions& options,
                       const TextStyle& style) {
  std::vector<Column> columns = {
      {"TASK", Align::Left, 8},  {"PSS", Align::Right, 6},
      {"PRIVATE", Align::Right}, {"SHARED", Align::Right},
      {"SWAP", Align::Right},    {"KERN", Align::Right, 5},
  };
  if (options.with_descriptors) columns.push_back({"FDS", Align::Right});
  columns.push_back({"NAME", Align::Left});
  Table table(std::move(columns));
  for (const PsRow& row : report.rows) {
    table.add_row(task_row(row, options, style));
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
      {"TASK", Align::Left, 8},  {"PSS", Align::Right, 6},
      {"PRIVATE", Align::Right}, {"SWAP", Align::Right},
      {"KERN", Align::Right, 5},
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
