#include "view/json/trace_modules.h"

#include <string>
#include <utility>
#include <vector>

#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::BeforeRow;
using analysis::ModuleRow;
using analysis::ModuleTable;
using Unknown = std::vector<std::pair<std::string, std::string>>;

template <typename T>
void write_reading(base::JsonWriter& json, const char* name,
                   const model::Reading<T>& reading, Unknown& unknown) {
  json.member(name, reading.value);
  if (!reading) unknown.emplace_back(name, reading.unknown_because);
}

void write_row(base::JsonWriter& json, const ModuleRow& row, bool has_peaks) {
  Unknown unknown;
  json.begin_object();
  json.member("name", row.name);
  write_trace_numbers(json, row.total, has_peaks);
  json.member("own_pages", row.total.pages);
  write_reading(json, "image_bytes", row.image_bytes, unknown);
  json.member("loading_pages", row.loading_pages);
  json.member("later_pages", row.later_pages);
  json.member("page_cache_pages", row.cache_pages);
  json.member("slab_pages", row.slab_pages);
  json.member("was_there", row.was_there);
  json.member("was_loaded", row.was_loaded);
  json.member("was_unloaded", row.was_unloaded);
  write_reading(json, "before_code_bytes", row.before_code_bytes, unknown);
  write_reading(json, "before_vmalloc_bytes", row.before_vmalloc_bytes,
                unknown);
  write_reading(json, "before_pages", row.before_pages, unknown);
  write_unknown(json, unknown);
  json.end_object();
}

void write_sizes(base::JsonWriter& json, const char* name,
                 const model::Reading<std::vector<BeforeRow>>& rows,
                 Unknown& unknown) {
  json.key(name);
  if (!rows) {
    json.null();
    unknown.emplace_back(name, rows.unknown_because);
    return;
  }
  json.begin_array();
  for (const BeforeRow& row : *rows) {
    json.begin_object();
    json.member("name", row.name);
    json.member("bytes", row.bytes);
    json.end_object();
  }
  json.end_array();
}

void write_before(base::JsonWriter& json, const ModuleTable& table) {
  Unknown unknown;
  json.key("before");
  json.begin_object();
  write_reading(json, "module_image_bytes", table.before_image_bytes, unknown);
  write_sizes(json, "slab_caches", table.before_slab, unknown);
  write_sizes(json, "vmalloc_callers", table.before_vmalloc, unknown);
  write_sizes(json, "code_lines", table.before_code, unknown);
  write_sizes(json, "page_owners", table.before_pages, unknown);
  write_unknown(json, unknown);
  json.end_object();
}

}  // namespace

void write_trace_numbers(base::JsonWriter& json,
                         const analysis::TraceNumbers& numbers,
                         bool has_peaks) {
  json.member("pages", numbers.pages);
  json.key("peak_pages");
  if (has_peaks) {
    json.number(numbers.peak_pages);
  } else {
    json.null();
  }
  if (has_peaks && !numbers.is_peak_exact()) {
    json.member("least_peak_pages", numbers.least_peak_pages);
  }
  if (has_peaks) json.member("machine_peak_pages", numbers.machine_peak_pages);
}

void write_trace_modules(base::JsonWriter& json, const model::Trace& trace) {
  const ModuleTable table =
      analysis::make_module_table(trace, analysis::TraceOrder::ByPages, 0);
  json.key("modules");
  json.begin_array();
  json.begin_object();
  json.member("name", "");
  write_trace_numbers(json, table.kernel, trace.has_peaks);
  json.member("own_pages", table.kernel.pages);
  json.end_object();
  for (const ModuleRow& row : table.rows)
    write_row(json, row, trace.has_peaks);
  json.end_array();
  if (trace.before) write_before(json, table);
}

}  // namespace tidemark::view
