#include "view/text/trace_slab.h"

#include <fmt/format.h>

#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::SlabCacheRow;
using model::SlabSite;
using model::SlabTrace;

std::string size_of(uint64_t bytes, bool is_bound, const TextStyle& style) {
  std::string text = base::short_size(bytes, style.unit);
  if (!is_bound) return text;
  return (style.utf8 ? "≤" : "<=") + text;
}

// What holds an object nobody told of is not known to hold it still.
Cell now_of(const auto& row, const TextStyle& style) {
  return {size_of(row.bytes, row.untold_count > 0 && row.bytes > 0, style)};
}

std::string caller_of(const SlabSite& site) {
  const model::TraceFrame& frame = site.caller;
  if (frame.symbol.empty()) return fmt::format("0x{:x}", frame.address);
  std::string name =
      fmt::format("{}+0x{:x}", base::visible(frame.symbol), frame.offset);
  if (!frame.module.empty()) name += " [" + base::visible(frame.module) + "]";
  return name;
}

// Every way to be wrong that was met.
std::string faults_of(const SlabTrace& slab) {
  const std::pair<uint64_t, const char*> known[] = {
      {slab.missed_events, "events missed, on top of our own"},
      {slab.untracked_freed, "objects given back that nobody was seen to take"},
      {slab.overwritten, "objects taken again whose return was not told"},
      {slab.table_full, "objects for which no entry was left"},
  };
  std::string text;
  for (const auto& [count, what] : known) {
    if (count > 0) text += fmt::format("  {} {}\n", base::grouped(count), what);
  }
  return text;
}

}  // namespace

std::string trace_slab_text(const std::vector<SlabCacheRow>& rows,
                            const model::Trace& trace, const TextStyle& style) {
  if (!trace.slab) return "slab objects were not followed\n";
  if (!*trace.slab) {
    return wrapped(style, Ink::Warn, 0,
                   "slab objects cannot be followed: " +
                       base::visible(trace.slab->unknown_because));
  }
  const SlabTrace& slab = **trace.slab;
  std::string text =
      fmt::format("{} of slab objects taken since and held, {} at the peak\n",
                  base::long_size(slab.bytes, style.unit),
                  base::long_size(slab.peak_bytes, style.unit)) +
      faults_of(slab);
  for (const std::string& note : slab.notes)
    text += wrapped(style, Ink::Dim, 2, note);
  Table table({{"NOW"},
               {"PEAK"},
               {"OBJECTS"},
               {"TAKEN", Align::Right, 0, 1},
               {"CACHE AND CALLER", Align::Left}});
  for (const SlabCacheRow& row : rows) {
    const bool is_bound = !row.is_peak_exact() || row.untold_count > 0;
    table.add_row({now_of(row, style),
                   {size_of(row.peak_bytes, is_bound, style)},
                   {base::grouped(row.objects)},
                   {base::grouped(row.allocation_count)},
                   {base::visible(row.name), Ink::Bold}});
    for (const SlabSite& site : row.sites) {
      table.add_row({now_of(site, style),
                     {size_of(site.peak_bytes, site.untold_count > 0, style)},
                     {base::grouped(site.objects)},
                     {base::grouped(site.allocation_count)},
                     {"  " + caller_of(site)}});
    }
  }
  return text + table.render(style, false);
}

}  // namespace tidemark::view
