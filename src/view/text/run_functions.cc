#include "view/text/run_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/trace_error.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::RunReport;
using analysis::TraceFunction;

constexpr size_t kFunctionIndent = 2;

Cell dimmed(std::string text) {
  return {std::move(text), Ink::Dim};
}

std::string label_of(const TraceFunction& function) {
  std::string name = function.name.empty()
                         ? fmt::format("0x{:x}", function.address)
                         : base::visible(function.name);
  if (!function.module.empty())
    name += " [" + base::visible(function.module) + "]";
  return name;
}

std::string way_of(const TraceFunction& function) {
  std::string way;
  if (!function.caller.empty()) way = "from " + base::visible(function.caller);
  if (!function.through.empty()) {
    way += (way.empty() ? "through " : ", through ") +
           base::visible(function.through);
  }
  return way;
}

// When, by what, and how much of it was looked at.
std::string source_line(const RunReport& report, const TextStyle& style) {
  const model::Trace& trace = *report.trace;
  std::string text = fmt::format(
      "stacks: ~{} by who touched it first",
      base::long_size(trace.peak_pages * trace.page_size_bytes, style.unit));
  if (trace.peak_realtime_ns > report.realtime_ns) {
    text += ", at " +
            base::long_duration(trace.peak_realtime_ns - report.realtime_ns);
  }
  text += fmt::format("; one page in {}", base::grouped(trace.sample_period));
  if (trace.user) {
    text += fmt::format(", {} unwound in {}",
                        base::grouped(trace.user->sample_count),
                        base::long_duration(trace.user->unwinding_ns));
    if (trace.user->unmapped_count > 0) {
      text += fmt::format(", {} of processes that ended too soon",
                          base::grouped(trace.user->unmapped_count));
    }
  }
  return text;
}

}  // namespace

std::string run_functions_text(const RunReport& report, size_t row_limit,
                               const TextStyle& style) {
  if (report.trace == nullptr) return {};
  const model::Trace& trace = *report.trace;
  constexpr size_t kNameWidth = 30;
  constexpr size_t kWayWidth = 28;
  Table table({{"function that touched it", Align::Left, kNameWidth},
               {"at peak", Align::Right, 9},
               {style.utf8 ? "±" : "+-", Align::Right, 8},
               {"", Align::Left}});
  const auto bytes = [&](uint64_t pages) {
    return spelled(style, pages * trace.page_size_bytes);
  };
  const auto cut = [&](const std::string& text, size_t width) {
    return style.wide ? text : base::fit_width(text, width, ellipsis(style));
  };
  const size_t shown = std::min(row_limit, report.functions.size());
  for (size_t i = 0; i < shown; ++i) {
    const TraceFunction& function = report.functions[i];
    table.add_row(
        {{cut(label_of(function), kNameWidth)},
         {bytes(function.pages)},
         dimmed(bytes(analysis::trace_error_pages(trace, function.pages))),
         dimmed(cut(way_of(function), kWayWidth))});
  }
  uint64_t rest = 0;
  for (size_t i = shown; i < report.functions.size(); ++i)
    rest += report.functions[i].pages;
  const size_t rest_count = report.functions.size() - shown;
  if (rest_count > 0) {
    table.add_row(
        {{base::counted(rest_count, "other", "others"), Ink::Dim},
         {bytes(rest), Ink::Dim},
         {bytes(analysis::trace_error_pages(trace, rest)), Ink::Dim}});
  }
  return "\n" + table.render_indented(style, kFunctionIndent) +
         wrapped(style, Ink::Dim, kFunctionIndent, source_line(report, style));
}

}  // namespace tidemark::view
