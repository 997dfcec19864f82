#include "view/text/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::PeakReport;
using analysis::PeakRow;

std::string share_text(uint64_t part, uint64_t whole) {
  if (whole == 0) return "";
  return fmt::format(
      "{:.1f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string change_text(const TextStyle& style, std::optional<int64_t> bytes) {
  if (!bytes) return "?";
  if (*bytes == 0) return "0";
  return (*bytes > 0 ? "+" : "") + spelled_signed(style, *bytes);
}

// Heads of columns are in capitals: "10 MIN".
std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string label_of(const PeakRow& row) {
  std::string category(model::category_name(row.category));
  if (!row.name.empty()) {
    return row.category == model::Category::File
               ? base::visible(row.name)
               : category + ": " + base::visible(row.name);
  }
  if (row.others_count == 0) return category;
  return fmt::format("{}: {} other{}", category,
                     base::grouped(row.others_count),
                     row.others_count == 1 ? "" : "s");
}

std::string utc_millisecond(uint64_t realtime_ns) {
  // To the millisecond; --json has the nanoseconds.
  std::string text = base::rfc3339(realtime_ns);
  text.replace(10, 1, " ");
  return text.substr(0, 23) + " UTC";
}

std::string headline(const PeakReport& report, const TextStyle& style) {
  const std::string what =
      report.is_asked_moment
          ? "as it was"
          : (is_of_machine(report.metric) ? "least " : "peak of ") +
                std::string(analysis::peak_metric_name(report.metric));
  const std::string moment =
      fmt::format("{} at {} ({}), tick {} of {}", what,
                  base::clock_duration(report.elapsed_ns),
                  utc_millisecond(report.tick.realtime_ns), report.tick.id,
                  report.tick_count);
  std::string whom = base::visible(report.path) + (style.utf8 ? " · " : " - ") +
                     base::visible(report.targets);
  // A command line may be a whole script.
  if (!style.wide) whom = base::fit_width(whom, style.width, ellipsis(style));
  return whom + "\n" + moment + "\n";
}

Cell private_cell(const TextStyle& style, const analysis::Bytes& bytes,
                  Ink ink) {
  if (bytes.lacks_uss) return {"?", Ink::Warn};
  return {spelled(style, bytes.uss), ink};
}

std::string composition_table(const PeakReport& report,
                              const TextStyle& style) {
  const bool by_rss = report.metric == analysis::PeakMetric::Rss ||
                      report.metric == analysis::PeakMetric::Statm;
  std::vector<Column> columns = {{"", Align::Left, 30},
                                 {by_rss ? "RSS" : "PSS", Align::Right, 9},
                                 {"%", Align::Right, 5},
                                 {"PRIVATE", Align::Right, 9}};
  if (report.change_since_ns) {
    columns.push_back({upper(base::long_duration(*report.change_since_ns)),
                       Align::Right, 10});
  }
  Table table(std::move(columns));
  const auto height = [&](const analysis::Bytes& bytes) {
    return by_rss ? bytes.rss : bytes.pss;
  };
  const auto height_text = [&](const analysis::Bytes& bytes) {
    return by_rss ? spelled(style, bytes.rss) : pss_text(style, bytes);
  };
  const uint64_t whole = height(report.composition.total);
  constexpr size_t kLabelColumns = 44;
  for (const PeakRow& row : report.rows) {
    std::vector<Cell> cells = {
        {base::fit_width(label_of(row), kLabelColumns, ellipsis(style))},
        {height_text(row.bytes)},
        {share_text(height(row.bytes), whole)},
        private_cell(style, row.bytes, Ink::Plain)};
    if (report.change_since_ns) {
      cells.push_back({change_text(style, row.change_bytes)});
    }
    table.add_row(std::move(cells));
  }
  std::vector<Cell> sum = {
      {"sum", Ink::Bold},
      {height_text(report.composition.total), Ink::Bold},
      {whole > 0 ? "100.0" : "", Ink::Bold},
      private_cell(style, report.composition.total, Ink::Bold)};
  if (report.change_since_ns) {
    sum.push_back({(report.is_change_by_counters ? "~" : "") +
                       change_text(style, report.change_bytes),
                   Ink::Bold});
  }
  table.add_row(std::move(sum));
  return table.render(style, false);
}

std::string swap_note(const PeakReport& report) {
  const analysis::Holder* most = nullptr;
  for (const analysis::Holder& holder : report.composition.processes) {
    if (most == nullptr || holder.bytes.swap > most->bytes.swap) {
      most = &holder;
    }
  }
  if (most == nullptr || most->bytes.swap == 0) return "";
  return fmt::format(
      "{} {} %", base::visible(most->name),
      base::percent(most->bytes.swap, report.composition.total.swap));
}

std::string mark_note(const analysis::PeakMark& mark, const TextStyle& style) {
  if (mark.is_group) {
    return fmt::format(
        "the recording explains {} % of it",
        base::percent(std::min(mark.sampled_bytes, mark.bytes), mark.bytes));
  }
  if (mark.bytes <= mark.sampled_bytes) return "seen";
  if (mark.is_older) return "from before the recording";
  return "missed by " + spelled(style, mark.bytes - mark.sampled_bytes);
}

std::string beside_table(const PeakReport& report, const TextStyle& style) {
  Table table(
      {{"", Align::Left, 30}, {"", Align::Right, 9}, {"", Align::Left}});
  for (const analysis::PeakMark& mark : report.marks) {
    table.add_row(
        {{base::fit_width(base::visible(mark.label), 44, ellipsis(style))},
         {spelled(style, mark.bytes)},
         {mark_note(mark, style), Ink::Dim}});
  }
  const analysis::Composition& composition = report.composition;
  if (composition.total.swap > 0) {
    table.add_row({{"swapped out, beside the sum"},
                   {spelled(style, composition.total.swap)},
                   {swap_note(report), Ink::Dim}});
  }
  if (composition.page_table_bytes > 0) {
    table.add_row({{"page tables, beside the sum"},
                   {spelled(style, composition.page_table_bytes)},
                   {}});
  }
  return table.render_bare(style, 0);
}

std::string process_table(const PeakReport& report, size_t limit,
                          const TextStyle& style) {
  const std::vector<analysis::Holder>& all = report.composition.processes;
  if (all.size() < 2) return "";
  Table table({{"", Align::Left, 30},
               {"PSS", Align::Right, 9},
               {"PRIVATE", Align::Right, 9},
               {"RSS", Align::Right, 9},
               {"VmHWM", Align::Right, 9}});
  const auto cell = [&](std::optional<uint64_t> bytes) -> Cell {
    return bytes ? Cell{spelled(style, *bytes)} : Cell{"?", Ink::Warn};
  };
  for (size_t i = 0; i < std::min(limit, all.size()); ++i) {
    const analysis::Holder& holder = all[i];
    table.add_row(
        {{base::fit_width(
             fmt::format("p:{} {}", holder.id.pid, base::visible(holder.name)),
             34, ellipsis(style))},
         holder.is_unknown ? cell({}) : Cell{pss_text(style, holder.bytes)},
         private_cell(style, holder.bytes, Ink::Plain),
         cell(holder.resident_bytes || holder.is_unknown
                  ? holder.resident_bytes
                  : std::optional(holder.bytes.rss)),
         cell(holder.peak_rss_bytes)});
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < std::min(limit, all.size()); ++i)
    sum += all[i].bytes.pss;
  // Without RSS: of several processes that counts what they share repeatedly.
  if (all.size() > limit) {
    const analysis::Bytes rest =
        analysis::bytes_from(report.composition, limit);
    sum += rest.pss;
    table.add_row(
        {{fmt::format("{} smaller", base::grouped(all.size() - limit))},
         {pss_text(style, rest)},
         private_cell(style, rest, Ink::Plain)});
  }
  const uint64_t total = report.composition.total.pss;
  if (sum > total) {
    table.add_row({{"shared, counted above more than once", Ink::Dim},
                   {"-" + spelled(style, sum - total), Ink::Dim}});
  }
  return table.render(style, false);
}

std::string machine_table(const PeakReport& report, const TextStyle& style) {
  if (!report.machine || !is_of_machine(report.metric)) return "";
  const model::MemInfo& info = report.machine->meminfo;
  Table table(
      {{"", Align::Left, 30}, {"", Align::Right, 9}, {"", Align::Left}});
  const auto add = [&](const char* label, std::optional<uint64_t> bytes,
                       const char* note) {
    table.add_row({{label},
                   bytes ? Cell{spelled(style, *bytes)} : Cell{"?", Ink::Warn},
                   {note, Ink::Dim}});
  };
  add("total", info.total_bytes, "");
  add("available", report.point.available_bytes, "MemAvailable, the kernel's");
  add("available, computed", report.point.available_computed_bytes,
      "free + cache - shmem + reclaimable slab");
  add("free", info.free_bytes, "");
  add("page cache", info.cached_bytes, "shared memory included");
  add("shared memory", info.shmem_bytes, "");
  add("slab, reclaimable", info.slab_reclaimable_bytes, "");
  add("slab, not reclaimable", info.slab_unreclaimable_bytes, "");
  add("swap free", info.swap_free_bytes, "");
  return table.render_bare(style, 0) + "\n";
}

// What stands behind the marks of the numbers.
std::string best_note(const analysis::Composition& composition,
                      const TextStyle& style) {
  std::string text;
  if (composition.total.bounded > 0) {
    text += wrapped(
        style, Ink::Dim, 0,
        fmt::format(
            "{} at most: resident memory of {}, whose sharing was not "
            "read{}",
            mark_of(style, {.has_bound = true}),
            base::counted(composition.unsplit_count, "process", "processes"),
            composition.unsplit_because.empty()
                ? ""
                : " (" + base::visible(composition.unsplit_because) + ")"));
  }
  if (composition.total.estimated > 0) {
    text += wrapped(
        style, Ink::Dim, 0,
        fmt::format(
            "~ estimated: {} read in full up to {} before, scaled to "
            "the resident memory of this moment",
            base::counted(composition.estimated_count, "process", "processes"),
            base::long_duration(composition.oldest_split_ns)));
  }
  if (composition.unknown_count > 0) {
    text += wrapped(
        style, Ink::Dim, 0,
        base::counted(composition.unknown_count, "process", "processes") +
            " in no row above: not even the resident memory is "
            "known");
  }
  return text;
}

}  // namespace

std::string trend_text(const analysis::Trend& trend, const TextStyle& style) {
  const double slope = trend.bytes_per_second;
  constexpr double kPerHour = 3600;
  const bool is_slow = slope < 1024;
  const std::string rate =
      base::long_size(static_cast<uint64_t>(
                          std::llround(is_slow ? slope * kPerHour : slope)),
                      style.unit) +
      (is_slow ? "/h" : "/s");
  std::string name(trend.is_resident ? "resident memory"
                                     : model::category_name(trend.category));
  if (!trend.name.empty() && trend.name != name) {
    name += ": " + base::visible(trend.name);
  }
  if (!trend.process.empty()) {
    name = base::visible(trend.process) + ": " + name;
  }
  return fmt::format(
      "{} +{} over {} (+{} in all), robust slope, {} {:.2f}, {} samples{}",
      name, rate, base::long_duration(trend.span_ns),
      spelled_signed(style, trend.growth_bytes), style.utf8 ? "r²" : "r2",
      trend.r_squared, base::grouped(trend.sample_count),
      trend.ends_at_peak ? "; it ends at its highest" : "");
}

std::string peak_text(const PeakReport& report, const PeakTextOptions& options,
                      const TextStyle& style) {
  std::string text = headline(report, style) + "\n";
  if (!options.is_step) text += machine_table(report, style);
  text += composition_table(report, style);
  text += best_note(report.composition, style);
  const std::string processes =
      process_table(report, options.process_rows, style);
  if (!processes.empty()) text += "\n" + processes;
  if (options.is_step) return text;
  const std::string beside = beside_table(report, style);
  if (!beside.empty()) text += "\n" + beside;
  constexpr size_t kTrends = 3;
  for (size_t i = 0; i < std::min(kTrends, report.growing.size()); ++i) {
    text += i == 0 ? "\ngrowing\n" : "";
    text += wrapped(style, Ink::Plain, 2, trend_text(report.growing[i], style));
  }
  return text;
}

}  // namespace tidemark::view
