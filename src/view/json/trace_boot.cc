#include "view/json/trace_boot.h"

#include "analysis/module_use.h"

namespace tidemark::view {

void write_module_shares(base::JsonWriter& json, const model::Trace& trace) {
  json.key("module_shares");
  json.begin_array();
  for (const analysis::ModuleShare& share :
       analysis::make_module_shares(trace)) {
    json.begin_object();
    json.member("name", share.name);
    json.member("pages", share.pages);
    if (trace.has_peaks) {
      json.member("machine_peak_pages", share.machine_peak_pages);
    }
    json.end_object();
  }
  json.end_array();
}

void write_crash_kernel(base::JsonWriter& json,
                        const model::Reading<analysis::CrashKernel>& crash) {
  json.key("crash_kernel");
  if (!crash) {
    json.null();
    json.key("unknown");
    json.begin_object();
    json.member("crash_kernel", crash.unknown_because);
    json.end_object();
    return;
  }
  json.begin_object();
  json.member("size_bytes", crash->size_bytes);
  json.member("kept_bytes", crash->kept_bytes);
  json.member("before_bytes", crash->before_bytes);
  json.member("peak_bytes", crash->peak_bytes);
  json.member("spare_bytes", crash->spare_bytes);
  json.member("unseen_bytes", crash->unseen_bytes);
  json.member("tracer_bytes", crash->tracer_bytes);
  json.member("tracer_table_bytes", crash->table_bytes);
  json.end_object();
}

}  // namespace tidemark::view
