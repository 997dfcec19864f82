#include "view/json/maps.h"

#include <utility>
#include <vector>

#include "view/json/mapping.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using base::JsonWriter;
using model::Mapping;

void write_mapping(JsonWriter& json, const Mapping& mapping) {
  json.begin_object();
  write_mapping_members(json, mapping);
  json.end_object();
}

void write_region(JsonWriter& json, const analysis::MapsRegion& region) {
  json.begin_object();
  json.member("kind", model::region_kind_token(region.kind));
  json.member("category", model::category_token(region.category));
  json.member("name", region.name);
  if (region.thread_id != 0) json.member("thread_id", region.thread_id);
  json.member("start", json_address(region.start_address));
  json.member("end", json_address(region.end_address));
  json.member("size_bytes", region.sum.size_bytes);
  json.member("rss_bytes", region.sum.rss_bytes);
  json.member("pss_bytes", region.sum.pss_bytes);
  json.member("uss_bytes", region.sum.private_bytes);
  json.member("swap_pss_bytes", region.sum.swap_pss_bytes);
  json.key("mappings");
  json.begin_array();
  for (const Mapping& mapping : region.mappings)
    write_mapping(json, mapping);
  json.end_array();
  json.end_object();
}

// What status did not tell.
std::vector<std::pair<std::string, std::string>> unknown_of_total(
    const analysis::MapsReport& report) {
  std::vector<std::pair<std::string, std::string>> unknown;
  const auto note = [&](const char* name, bool is_known, const char* because) {
    if (!is_known) unknown.emplace_back(name, because);
  };
  note("status_rss_bytes", report.status_rss_bytes.has_value(),
       "no VmRSS in status");
  note("peak_rss_bytes", report.peak_rss_bytes.has_value(),
       "no VmHWM in status");
  note("page_table_bytes", report.page_table_bytes.has_value(),
       "no VmPTE in status");
  return unknown;
}

}  // namespace

std::string maps_json(const analysis::MapsReport& report,
                      JsonWriter::Layout layout, bool summary_only) {
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.maps/1", report.realtime_ns, report.read_ns);
  json.member("pid", report.process.pid);
  json.member("start_ticks", report.process.start_ticks);
  json.member("name", report.name);
  json.member("cmdline", report.command);
  json.key("total");
  json.begin_object();
  json.member("mapping_count", report.total.mapping_count);
  json.member("size_bytes", report.total.size_bytes);
  json.member("rss_bytes", report.total.rss_bytes);
  json.member("pss_bytes", report.total.pss_bytes);
  json.member("uss_bytes", report.total.private_bytes);
  json.member("swap_pss_bytes", report.total.swap_pss_bytes);
  json.member("status_rss_bytes", report.status_rss_bytes);
  json.member("peak_rss_bytes", report.peak_rss_bytes);
  json.member("page_table_bytes", report.page_table_bytes);
  write_unknown(json, unknown_of_total(report));
  json.end_object();
  write_categories(json, report.categories);
  if (!summary_only) {
    json.key("regions");
    json.begin_array();
    for (const analysis::MapsRegion& region : report.regions) {
      write_region(json, region);
    }
    json.end_array();
  }
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
