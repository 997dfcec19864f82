#include "view/json/kmap.h"

#include <utility>
#include <vector>

#include "view/json/mapping.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::AddressRange;
using analysis::KmapReport;
using base::JsonWriter;
using model::AddressForm;
using Reasons = std::vector<std::pair<std::string, std::string>>;

std::string_view form_token(AddressForm form) {
  switch (form) {
    case AddressForm::Real:
      return "real";
    case AddressForm::Hashed:
      return "hashed";
    case AddressForm::Hidden:
      break;
  }
  return "hidden";
}

// Left out where it is not known: "addresses" or "unknown" of the object around
// it says why.
void write_range(JsonWriter& json, const std::optional<AddressRange>& range) {
  if (!range) return;
  json.member("start", json_address(range->start));
  json.member("end", json_address(range->end));
}

void write_region(JsonWriter& json, const analysis::KmapRegion& region) {
  json.begin_object();
  json.member("region", region.token);
  json.member("name", region.name);
  if (region.range) {
    write_range(json, region.range);
  } else {
    json.key("start");
    json.null();
    json.key("end");
    json.null();
  }
  json.member("size_bytes", region.size_bytes.value);
  json.member("memory_bytes", region.memory_bytes.value);
  json.member("is_view", region.is_view);
  Reasons unknown;
  if (!region.range) {
    unknown.emplace_back("start", region.range_unknown_because);
    unknown.emplace_back("end", region.range_unknown_because);
  }
  if (!region.size_bytes) {
    unknown.emplace_back("size_bytes", region.size_bytes.unknown_because);
  }
  if (!region.memory_bytes) {
    unknown.emplace_back("memory_bytes", region.memory_bytes.unknown_because);
  }
  write_unknown(json, unknown);
  json.key("parts");
  json.begin_array();
  for (const analysis::KmapPart& part : region.parts) {
    json.begin_object();
    json.member("name", part.name);
    write_range(json, part.range);
    json.member("size_bytes", part.size_bytes);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_groups(JsonWriter& json, const KmapReport& report) {
  json.key("callers");
  json.begin_array();
  for (const analysis::KmapGroup& group : report.groups) {
    json.begin_object();
    json.member("caller", group.caller);
    json.member("kind", analysis::vmalloc_kind_token(group.kind));
    json.member("area_count", group.count);
    json.member("size_bytes", group.size_bytes);
    // Only of areas with pages of their own.
    if (group.memory_bytes) json.member("memory_bytes", *group.memory_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_areas(JsonWriter& json, const KmapReport& report) {
  json.key("areas");
  json.begin_array();
  for (const model::VmallocArea& area : report.areas) {
    json.begin_object();
    std::optional<AddressRange> range;
    if (report.area_addresses == AddressForm::Real) {
      range = AddressRange{*area.start, *area.end};
    }
    write_range(json, range);
    json.member("caller", area.caller);
    json.member("kind", analysis::vmalloc_kind_token(area.kind));
    json.member("size_bytes", area.size_bytes);
    if (area.pages) {
      json.member("memory_bytes", *area.pages * report.page_size_bytes);
    }
    if (area.phys) json.member("physical", json_address(*area.phys));
    json.member("is_user", area.is_user);
    json.end_object();
  }
  json.end_array();
}

void write_vmalloc(JsonWriter& json, const KmapReport& report, bool all_areas) {
  json.key("vmalloc");
  json.begin_object();
  json.member("addresses", form_token(report.area_addresses));
  json.member("not_explained_bytes", report.vmalloc_residue_bytes);
  if (!report.vmalloc_residue_bytes) {
    write_unknown(json, {{"not_explained_bytes",
                          "vmallocinfo or VmallocUsed is unknown"}});
  }
  write_groups(json, report);
  if (all_areas) write_areas(json, report);
  json.end_object();
}

void write_physical(JsonWriter& json, const KmapReport& report) {
  json.key("physical");
  json.begin_object();
  const bool is_real =
      report.physical && report.physical->addresses == AddressForm::Real;
  json.member("addresses",
              form_token(is_real ? AddressForm::Real : AddressForm::Hidden));
  json.member("ram_bytes", report.ram_bytes);
  if (!report.ram_bytes) {
    write_unknown(json, {{"ram_bytes", report.physical
                                           ? "iomem hides its addresses"
                                           : report.physical.unknown_because}});
  }
  json.key("resources");
  json.begin_array();
  if (report.physical) {
    for (const model::IoResource& resource : report.physical->resources) {
      json.begin_object();
      json.member("depth", resource.depth);
      json.member("name", resource.name);
      if (is_real) {
        json.member("first", json_address(resource.first));
        json.member("last", json_address(resource.last));
      }
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string kmap_json(const KmapReport& report, JsonWriter::Layout layout,
                      bool all_areas) {
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.kmap/1", report.realtime_ns, report.read_ns);
  json.key("regions");
  json.begin_array();
  for (const analysis::KmapRegion& region : report.regions)
    write_region(json, region);
  json.end_array();
  write_vmalloc(json, report, all_areas);
  write_physical(json, report);
  write_notes(json, report.notes);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
