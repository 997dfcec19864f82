#include "view/text/vm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::VmBand;
using analysis::VmBandKind;
using analysis::VmFinding;
using analysis::VmReport;
using analysis::VmRow;

// As the bands below have it: some are known where others are not.
std::string band_cell(const TextStyle& style, const VmRow& row,
                      VmBandKind kind) {
  const auto band = std::ranges::find(row.bands, kind, &VmBand::kind);
  return band == row.bands.end() ? "?" : dense(style, band->bytes);
}

// A VM without a balloon device has none, which is not unknown.
std::string balloon_cell(const TextStyle& style, const VmRow& row) {
  if (row.vm.guest.state == model::GuestState::NoBalloon) return "-";
  return dense(style, row.vm.guest.balloon_bytes);
}

std::vector<Cell> vm_cells(const VmRow& row, const TextStyle& style) {
  std::vector<Cell> cells;
  cells.reserve(13);
  const auto add = [&](std::string text) {
    cells.push_back({std::move(text), Ink::Plain});
  };
  add(std::to_string(row.vm.id.pid));
  add(dense(style, row.cost));
  add(dense(style, analysis::configured_bytes(row.vm)));
  add(band_cell(style, row, VmBandKind::GuestUsed));
  add(band_cell(style, row, VmBandKind::GuestCaches));
  add(band_cell(style, row, VmBandKind::GuestReserved));
  add(band_cell(style, row, VmBandKind::GuestHeld));
  add(balloon_cell(style, row));
  add(dense(style, row.overhead_bytes.value));
  add(dense(style, row.vm.ram.swapped_bytes.value));
  add(dense(style, row.monitor_rss_bytes));
  add(std::string(model::vm_kind_name(row.vm.kind)));
  add(base::visible(row.vm.name));
  return cells;
}

bool has_swap(const VmReport& report) {
  return std::ranges::any_of(report.rows, [](const VmRow& row) {
    return row.vm.ram.swapped_bytes.value.value_or(0) != 0;
  });
}

std::string vm_table(const VmReport& report, const TextStyle& style) {
  constexpr size_t kGap = 1;
  Table table({{"PID", Align::Right, 6},
               {"COST", Align::Right, 5},
               {"RAM", Align::Right, 5},
               {"USED", Align::Right, 5},
               {"CACHES", Align::Right},
               {"RESERV", Align::Right, 0, 6},
               {"HELD", Align::Right, 5},
               {"BALLOON", Align::Right, 0, 7},
               {"VMM", Align::Right, 5},
               {"SWAP", Align::Right, 5, has_swap(report) ? 5 : 1},
               {"RSS", Align::Right, 5, 3},
               {"KIND", Align::Left, 0, 4},
               {"NAME", Align::Left, 10}},
              kGap);
  for (const VmRow& row : report.rows)
    table.add_row(vm_cells(row, style));
  return table.render(style, false);
}

std::string ram_words(const VmRow& row) {
  const model::GuestRam& ram = row.vm.ram;
  switch (ram.means) {
    case model::RamMeans::Name:
      return base::visible(ram.backing) + ", known by its name";
    case model::RamMeans::Size:
      return base::visible(ram.backing) +
             ", known by its size on the command line";
    case model::RamMeans::Block:
      return base::visible(ram.backing) +
             ", known by the blocks that its monitor tells";
    case model::RamMeans::Largest:
      return base::visible(ram.backing) +
             ", taken to be the largest area: a guess";
    case model::RamMeans::Shared:
      return base::visible(ram.backing) + ", all that its processes share";
    case model::RamMeans::None:
      break;
  }
  return "not found: " + base::visible(ram.resident_bytes.unknown_because);
}

// How much of it is in RAM, and who says so.
std::string resident_words(const VmRow& row, const TextStyle& style) {
  const model::GuestRam& ram = row.vm.ram;
  if (!ram.resident_bytes) return "";
  std::string words =
      fmt::format("; {} in RAM by {}", spelled(style, *ram.resident_bytes),
                  model::resident_means_token(ram.resident_means));
  if (ram.swapped_bytes.value.value_or(0) > 0) {
    words +=
        fmt::format(", {} swapped out", spelled(style, *ram.swapped_bytes));
  }
  if (row.detail_age_ns >= base::kNsPerSecond) {
    words += fmt::format("; smaps read {} s ago",
                         row.detail_age_ns / base::kNsPerSecond);
  }
  return words;
}

std::string guest_words(const VmRow& row) {
  const model::GuestAnswer& guest = row.vm.guest;
  if (guest.state != model::GuestState::Told) {
    return "does not tell: " + base::visible(guest.because);
  }
  std::string words = "asked by " + guest.source;
  if (row.statistics_age_s) {
    words += fmt::format(", {} s ago", *row.statistics_age_s);
  }
  if (!row.guest)
    return words + "; " + base::visible(row.guest.unknown_because);
  return words;
}

std::string limit_line(const VmRow& row, const TextStyle& style) {
  if (!row.guest) return "";
  std::string line = fmt::format("guest limit {} = total - balloon",
                                 spelled(style, row.guest->limit_bytes));
  line += fmt::format("; {} free in the guest",
                      spelled(style, row.guest->free_bytes));
  if (row.never_touched_bytes) {
    line += fmt::format("; {} never touched",
                        spelled(style, *row.never_touched_bytes));
  }
  return wrapped(style, Ink::Plain, 2, line);
}

std::string bands_table(const VmRow& row, const TextStyle& style) {
  Table table({{"", Align::Left},
               {"", Align::Right},
               {"", Align::Right},
               {"", Align::Left}});
  for (const VmBand& band : row.bands) {
    std::string name = base::visible(band.name);
    if (band.process_count > 1) {
      name += fmt::format(" x{}", band.process_count);
    }
    table.add_row({{std::move(name)},
                   {spelled(style, band.bytes)},
                   {base::percent(band.bytes, row.bands_sum.bytes) + " %"},
                   {band.known, Ink::Dim}});
  }
  const uint64_t saved = row.vm.ram.ksm_saved_bytes.value.value_or(0);
  if (saved > 0) {
    table.add_row({{"merged pages"},
                   {"-" + spelled(style, saved)},
                   {},
                   {"RSS - PSS of guest RAM", Ink::Dim}});
  }
  table.add_row({{"cost to the host", Ink::Bold},
                 {spelled(style, row.cost), Ink::Bold},
                 {},
                 {}});
  return table.render_bare(style, 2);
}

std::string bands_text(const VmRow& row, const TextStyle& style) {
  std::string head =
      fmt::format("{}, {}, pid {}", base::visible(row.vm.name),
                  model::vm_kind_name(row.vm.kind), row.vm.id.pid);
  if (const std::optional<uint64_t> configured =
          analysis::configured_bytes(row.vm)) {
    head += fmt::format(", {} of RAM", spelled(style, *configured));
  }
  std::string out = paint(style, Ink::Bold, head) + "\n";
  out += wrapped(style, Ink::Plain, 2,
                 "guest RAM: " + ram_words(row) + resident_words(row, style));
  out += wrapped(style, Ink::Plain, 2, "guest: " + guest_words(row));
  return out + limit_line(row, style) + bands_table(row, style);
}

// Names need not be unique: then the pid says which one is meant.
std::string name_in(const VmReport& report, const VmRow& row) {
  const std::string name = base::visible(row.vm.name);
  const auto bearers = std::ranges::count_if(
      report.rows,
      [&](const VmRow& other) { return other.vm.name == row.vm.name; });
  return bearers > 1 ? fmt::format("{} ({})", name, row.vm.id.pid) : name;
}

std::string findings_text(const VmRow& row, const TextStyle& style,
                          const std::string& prefix) {
  std::string out;
  for (const VmFinding& finding : row.findings) {
    out += wrapped(style, Ink::Warn, 0,
                   prefix + finding.title + " " + finding.details);
  }
  return out;
}

// "3 VMs: 21.5 GiB, of which 1.61 GiB could come back, free in the guest".
std::string sum_line(const VmReport& report, const TextStyle& style) {
  std::string line =
      fmt::format("{}: {}", base::counted(report.rows.size(), "VM", "VMs"),
                  spelled(style, report.cost));
  // "At least nothing" would say nothing.
  const bool says_nothing =
      report.held.is_lower_bound() && report.held.bytes == 0;
  if (!report.held.is_unknown() && !says_nothing) {
    line += fmt::format(", of which {} could come back, free in the guest",
                        spelled(style, report.held));
  }
  if (report.answering_count == 0) {
    line += "; no guest tells";
  } else if (report.answering_count < report.rows.size()) {
    line += fmt::format("; {} of {} guests tell", report.answering_count,
                        report.rows.size());
  }
  return wrapped(style, Ink::Plain, 0, line);
}

std::string unseen_line(const VmReport& report, const TextStyle& style) {
  if (report.unseen_count == 0) return "";
  return wrapped(
      style, Ink::Dim, 0,
      fmt::format("the descriptors of {} may not be listed: a VM under a name "
                  "unknown here would be missing",
                  base::counted(report.unseen_count, "process", "processes")));
}

std::string silence_lines(const VmReport& report, const TextStyle& style) {
  std::string out;
  for (const VmRow& row : report.rows) {
    if (row.guest || !row.findings.empty()) continue;
    out += wrapped(style, Ink::Dim, 0,
                   fmt::format("? of {}: {}", name_in(report, row),
                               base::visible(row.guest.unknown_because)));
  }
  return out;
}

// Asked for "90s" or for the end, one wants to know which moment that was: the
// last reading at or before it.
std::string moment_line(const VmReport& report, const TextStyle& style) {
  std::string time = base::rfc3339(report.realtime_ns);
  time[10] = ' ';
  return paint(style, Ink::Dim, "at " + time.substr(0, 19) + " UTC") + "\n";
}

}  // namespace

std::string vm_text(const VmReport& report, const VmTextOptions& options,
                    const TextStyle& style) {
  if (options.is_watch) {
    return base::rfc3339(report.realtime_ns).substr(11, 8) + "\n" +
           (report.rows.empty() ? "no VMs\n" : vm_table(report, style));
  }
  std::string out = options.is_recorded ? moment_line(report, style) : "";
  if (report.rows.empty()) {
    return out +
           (options.is_recorded ? "no VMs were running then\n"
                                : "no VMs are running here\n") +
           unseen_line(report, style);
  }
  out += vm_table(report, style) + sum_line(report, style);
  if (options.with_bands) {
    for (const VmRow& row : report.rows) {
      out += "\n" + bands_text(row, style);
      out += findings_text(row, style, "");
    }
    return out + unseen_line(report, style);
  }
  std::string words;
  for (const VmRow& row : report.rows)
    words += findings_text(row, style, name_in(report, row) + ": ");
  words += silence_lines(report, style) + unseen_line(report, style);
  return words.empty() ? out : out + "\n" + words;
}

}  // namespace tidemark::view
