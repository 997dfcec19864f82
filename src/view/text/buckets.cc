#include "view/text/buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::BucketKind;
using analysis::BucketLine;
using analysis::BucketReport;
using analysis::UndigestedObject;

std::string table_of_lines(const BucketReport& report, const TextStyle& style) {
  Table table({{"SIZE", Align::Right, 8},
               {"%", Align::Right, 4},
               {"PROCESSES", Align::Right},
               {"OBJECTS", Align::Right},
               {"BUCKET", Align::Left}});
  for (const BucketLine& line : report.lines) {
    const bool is_rule = line.kind == BucketKind::Rule;
    if (is_rule && line.bytes == 0) continue;
    const Ink ink = is_rule ? Ink::Plain : Ink::Dim;
    const bool has_objects = is_rule || line.kind == BucketKind::Undigested;
    table.add_row({{dense(style, line.bytes), ink},
                   {base::percent(line.bytes, report.total_bytes), ink},
                   {has_objects ? base::grouped(line.process_count) : "", ink},
                   {has_objects ? base::grouped(line.object_count) : "", ink},
                   {base::visible(line.name), ink}});
  }
  table.add_row(
      {{dense(style, report.total_bytes), Ink::Bold},
       {base::percent(report.total_bytes, report.total_bytes), Ink::Bold},
       {"", Ink::Bold},
       {"", Ink::Bold},
       {"sum: all RAM", Ink::Bold}});
  return table.render(style, false);
}

std::string table_of_undigested(const BucketReport& report, size_t limit,
                                const TextStyle& style) {
  if (report.undigested.empty()) return "\nNo object is undigested.\n";
  Table table({{"SIZE", Align::Right, 8},
               {"#SHR", Align::Right},
               {"PID", Align::Right},
               {"PROCESS", Align::Left},
               {"OBJECT", Align::Left}});
  constexpr size_t kProcessColumns = 24;
  const size_t shown = std::min(limit, report.undigested.size());
  uint64_t rest = 0;
  for (size_t i = 0; i < report.undigested.size(); ++i) {
    const UndigestedObject& one = report.undigested[i];
    if (i >= shown) {
      rest += one.bytes;
      continue;
    }
    const std::string process = base::visible(one.process);
    table.add_row({{dense(style, one.bytes)},
                   {std::to_string(one.share_count)},
                   {std::to_string(one.pid)},
                   {style.wide ? process
                               : base::fit_width(process, kProcessColumns,
                                                 ellipsis(style))},
                   {base::visible(one.name)}});
  }
  std::string text = "\nundigested objects, with the process that has most\n" +
                     table.render(style, false);
  if (rest > 0) {
    text += fmt::format("and {} smaller: {}\n",
                        base::grouped(report.undigested.size() - shown),
                        spelled(style, rest));
  }
  return text;
}

}  // namespace

std::string buckets_text(const BucketReport& report,
                         const BucketTextOptions& options,
                         const TextStyle& style) {
  std::string text = table_of_lines(report, style);
  if (report.unknown_process_count > 0) {
    text += wrapped(
        style, Ink::Dim, 0,
        fmt::format(
            "{} process{} could not be read; what {} is in Orphaned",
            report.unknown_process_count,
            report.unknown_process_count == 1 ? "" : "es",
            report.unknown_process_count == 1 ? "it has" : "they have"));
  }
  if (options.with_undigested) {
    text += table_of_undigested(report, options.undigested_limit, style);
  }
  return text;
}

}  // namespace tidemark::view
