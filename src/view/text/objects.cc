#include "view/text/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::ObjectAccount;
using analysis::ObjectHolder;
using analysis::ObjectReport;
using analysis::ObjectRow;
using analysis::ObjectSelection;
using model::ObjectKind;

// Device memory is not RAM, and a handle has no size: neither is unknown.
std::string size_cell(const TextStyle& style, const ObjectRow& row,
                      const model::Reading<uint64_t>& reading, bool is_alloc) {
  if (row.kind == ObjectKind::Handle) return "-";
  if (row.kind == ObjectKind::Device) return is_alloc ? "phys" : "-";
  return dense(style, reading.value);
}

std::string count_cell(uint64_t count) {
  return count == 0 ? "-" : base::grouped(count);
}

std::string letters(const model::ObjectRights& rights) {
  const std::string text = model::rights_letters(rights);
  return text == "---" ? "-" : text;
}

// Of a path that has no room the end is what tells files apart.
std::string name_cell(const TextStyle& style, const ObjectRow& row) {
  if (row.name.empty()) return "-";
  std::string name = base::visible(row.name);
  constexpr size_t kOtherColumns = 100;
  constexpr size_t kLeastRoom = 20;
  const size_t room = style.width > kOtherColumns + kLeastRoom
                          ? style.width - kOtherColumns
                          : kLeastRoom;
  if (style.wide || !name.starts_with('/') ||
      base::display_width(name) <= room) {
    return name;
  }
  return std::string(ellipsis(style)) + "/" +
         base::visible(base::base_name(row.name));
}

// One by one, since a list in braces would copy each.
std::vector<Cell> object_cells(const ObjectRow& row, const TextStyle& style) {
  std::vector<Cell> cells;
  cells.reserve(12);
  const auto add = [&](std::string text) {
    cells.push_back({std::move(text), Ink::Plain});
  };
  add(letters(row.rights));
  add(base::visible(row.id));
  add(row.parent_id.empty() ? "-" : base::visible(row.parent_id));
  add(count_cell(row.child_count));
  add(count_cell(row.map_count));
  add(count_cell(row.process_count));
  add(count_cell(row.fd_count));
  add(size_cell(style, row, row.size_bytes, false));
  add(size_cell(style, row, row.alloc_bytes, true));
  add(row.kind == ObjectKind::Handle ? "-"
                                     : dense(style, row.swap_bytes.value));
  add(std::string(model::object_kind_name(row.kind)));
  add(name_cell(style, row));
  return cells;
}

std::string objects_table(const ObjectReport& report, const TextStyle& style) {
  // The id begins with the kind, and few objects have a parent.
  const bool has_parents = std::ranges::any_of(
      report.rows, [](const ObjectRow& row) { return !row.parent_id.empty(); });
  const bool has_swap =
      std::ranges::any_of(report.rows, [](const ObjectRow& row) {
        return row.swap_bytes.value.value_or(1) != 0;
      });
  Table table({{"RIGHTS", Align::Left, 0, 5},
               {"ID", Align::Left},
               {"PARENT", Align::Left, 0, has_parents ? 6 : 1},
               {"#CHLD", Align::Right, 0, 3},
               {"#MAP", Align::Right},
               {"#SHR", Align::Right, 0, 7},
               {"#FD", Align::Right},
               {"SIZE", Align::Right, 5},
               {"ALLOC", Align::Right, 5},
               {"SWAP", Align::Right, 0, has_swap ? 4 : 2},
               {"KIND", Align::Left, 0, 1},
               {"NAME", Align::Left, 18}});
  for (const ObjectRow& row : report.rows)
    table.add_row(object_cells(row, style));
  if (report.folded_count > 0) {
    table.add_row(
        {{},
         {fmt::format("{} more", base::grouped(report.folded_count)), Ink::Dim},
         {},
         {},
         {},
         {},
         {},
         {},
         {dense(style, report.folded_alloc), Ink::Dim}});
  }
  return table.render(style, true);
}

std::string holders_table(const ObjectRow& row, const TextStyle& style) {
  if (row.holders.empty()) {
    return "no process maps it or holds it open\n";
  }
  Table table({{"PID", Align::Right, 7},
               {"RIGHTS", Align::Left},
               {"#MAP", Align::Right},
               {"#FD", Align::Right},
               {"NAME", Align::Left}});
  for (const ObjectHolder& holder : row.holders) {
    table.add_row({{std::to_string(holder.process.pid)},
                   {letters(holder.rights)},
                   {count_cell(holder.map_count)},
                   {count_cell(holder.fd_count)},
                   {base::visible(holder.name)}});
  }
  return table.render(style, false);
}

// "shmem: 79.3M = 63.9M named + 15.4M unreachable". Where not all that is named
// is known, the rest is at most what is left.
std::string account_line(const TextStyle& style, std::string_view what,
                         const ObjectAccount& account,
                         std::string_view named_word,
                         std::string_view rest_word) {
  const std::string at_most = !account.named.is_lower_bound() ? ""
                              : style.utf8                    ? "≤"
                                                              : "<=";
  std::string line =
      fmt::format("{}: {} = {} {} + {} {}", what,
                  base::short_size(account.total_bytes, style.unit),
                  dense(style, account.named), named_word,
                  at_most + dense_signed(style, account.rest_bytes), rest_word);
  if (account.found_bytes) {
    line += fmt::format(", {} of it found by its pages",
                        base::short_size(*account.found_bytes, style.unit));
  }
  return wrapped(style, Ink::Plain, 0, line);
}

// Each reason once, with how many values it cost.
std::string unknown_lines(const ObjectReport& report, const TextStyle& style) {
  std::map<std::string, size_t> reasons;
  for (const ObjectRow& row : report.rows) {
    if (row.kind == ObjectKind::Handle || row.kind == ObjectKind::Device) {
      continue;
    }
    const model::Reading<uint64_t>* last = nullptr;
    for (const model::Reading<uint64_t>* reading :
         {&row.size_bytes, &row.alloc_bytes, &row.swap_bytes}) {
      if (*reading) continue;
      if (last == nullptr || last->unknown_because != reading->unknown_because)
        ++reasons[reading->unknown_because];
      last = reading;
    }
  }
  // Paths differ from object to object; one stands for all of them.
  constexpr size_t kMostShown = 5;
  std::string out;
  size_t shown = 0;
  for (const auto& [reason, count] : reasons) {
    if (++shown > kMostShown) {
      out += wrapped(style, Ink::Dim, 0,
                     fmt::format("? for {} more reasons, which --json tells",
                                 reasons.size() - kMostShown));
      break;
    }
    out += wrapped(
        style, Ink::Dim, 0,
        fmt::format("? of {} {}: {}", base::grouped(count),
                    count == 1 ? "object" : "objects", base::visible(reason)));
  }
  return out;
}

std::string unreadable_lines(const ObjectReport& report,
                             const TextStyle& style) {
  if (report.unreadable.empty()) return "";
  model::Amount rss;
  for (const model::ObjectProcess& process : report.unreadable)
    rss.add(process.rss_bytes);
  std::string text = fmt::format(
      "{} of {} processes could not be read (RSS {}); what only they refer to "
      "is missing. The first, {}: {}",
      report.unreadable.size(), report.unreadable.size() + report.process_count,
      dense(style, rss), report.unreadable.front().id.pid,
      base::visible(report.unreadable.front().unknown_because));
  return wrapped(style, Ink::Warn, 0, text);
}

// What stands in the list, and what cannot.
std::string_view hidden_words(const ObjectReport& report) {
  if (report.pages_were_read) {
    return "unreachable is what no process, mount or segment leads to: memfds "
           "on their way through a socket, file systems that are mounted over, "
           "memory of processes that could not be read; what its pages tell of "
           "is listed unless it is mapped";
  }
  return "unreachable is shared memory without a name here: memfds on their "
         "way "
         "through a socket, file systems that are mounted over or were never "
         "listed; neither it nor closed files can be named from /proc";
}

std::string footer(const ObjectReport& report, const TextStyle& style) {
  std::string out;
  if (report.shmem) {
    out += account_line(style, "shmem", *report.shmem, "named", "unreachable");
  }
  if (report.file_cache) {
    out += account_line(style, "file cache", *report.file_cache,
                        "of files in use", "of closed files");
  }
  if (report.selection == ObjectSelection::Hidden) {
    out += wrapped(style, Ink::Dim, 0, hidden_words(report));
  }
  out += unreadable_lines(report, style);
  if (report.ended_count > 0) {
    out +=
        wrapped(style, Ink::Dim, 0,
                fmt::format("{} {} ended meanwhile", report.ended_count,
                            report.ended_count == 1 ? "process" : "processes"));
  }
  for (const std::string& note : report.notes)
    out += wrapped(style, Ink::Dim, 0, base::visible(note));
  return out + unknown_lines(report, style);
}

}  // namespace

std::string objects_text(const ObjectReport& report, const TextStyle& style) {
  std::string out = objects_table(report, style);
  if (report.selection == ObjectSelection::One && !report.rows.empty()) {
    out += "\n" + holders_table(report.rows.front(), style);
  }
  const std::string remarks = footer(report, style);
  return remarks.empty() ? out : out + "\n" + remarks;
}

}  // namespace tidemark::view
