#include "view/json/trace_slab.h"

#include <fmt/format.h>

#include "analysis/slab_sites.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

void write_site(base::JsonWriter& json, const model::SlabSite& site) {
  json.begin_object();
  json.member("symbol", site.caller.symbol);
  if (!site.caller.module.empty()) json.member("module", site.caller.module);
  json.member("offset", site.caller.offset);
  json.member("address", fmt::format("0x{:x}", site.caller.address));
  json.member("bytes", site.bytes);
  json.member("peak_bytes", site.peak_bytes);
  json.member("objects", site.objects);
  json.member("allocations", site.allocation_count);
  json.member("untold_frees", site.untold_count);
  json.end_object();
}

void write_cache(base::JsonWriter& json, const analysis::SlabCacheRow& row) {
  json.begin_object();
  json.member("cache", row.name);
  json.member("bytes", row.bytes);
  json.member("peak_bytes", row.peak_bytes);
  if (!row.is_peak_exact()) {
    json.member("least_peak_bytes", row.least_peak_bytes);
  }
  json.member("objects", row.objects);
  json.member("allocations", row.allocation_count);
  json.member("untold_frees", row.untold_count);
  json.key("callers");
  json.begin_array();
  for (const model::SlabSite& site : row.sites)
    write_site(json, site);
  json.end_array();
  json.end_object();
}

}  // namespace

void write_trace_slab(base::JsonWriter& json, const model::Trace& trace) {
  if (!trace.slab) return;
  json.key("slab");
  if (!*trace.slab) {
    json.null();
    json.member("slab_unknown", trace.slab->unknown_because);
    return;
  }
  const model::SlabTrace& slab = **trace.slab;
  json.begin_object();
  json.member("bytes", slab.bytes);
  json.member("peak_bytes", slab.peak_bytes);
  json.member("missed", slab.missed_events);
  json.member("untracked_frees", slab.untracked_freed);
  json.member("overwritten", slab.overwritten);
  json.member("table_full", slab.table_full);
  json.key("caches");
  json.begin_array();
  for (const analysis::SlabCacheRow& row :
       analysis::make_slab_rows(slab, analysis::TraceOrder::ByPages, 0)) {
    write_cache(json, row);
  }
  json.end_array();
  write_notes(json, slab.notes);
  json.end_object();
}

}  // namespace tidemark::view
