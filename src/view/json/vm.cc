#include "view/json/vm.h"

#include <utility>
#include <vector>

#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::VmBand;
using analysis::VmFinding;
using analysis::VmReport;
using analysis::VmRow;
using base::JsonWriter;

using Unknown = std::vector<std::pair<std::string, std::string>>;

void write_ram(JsonWriter& json, const model::GuestRam& ram) {
  Unknown unknown;
  json.key("ram");
  json.begin_object();
  json.member("found_by", model::ram_means_token(ram.means));
  json.member("backing", ram.backing);
  json.member("resident_by", model::resident_means_token(ram.resident_means));
  write_reading(json, "configured_bytes", ram.configured_bytes, unknown);
  write_reading(json, "resident_bytes", ram.resident_bytes, unknown);
  write_reading(json, "swapped_bytes", ram.swapped_bytes, unknown);
  write_reading(json, "hugetlb_bytes", ram.hugetlb_bytes, unknown);
  write_reading(json, "thp_bytes", ram.thp_bytes, unknown);
  write_reading(json, "ksm_bytes", ram.ksm_bytes, unknown);
  write_reading(json, "ksm_saved_bytes", ram.ksm_saved_bytes, unknown);
  write_unknown(json, unknown);
  json.end_object();
}

constexpr const char* kNotParted = "the record has it of the whole process";

// Who maps no guest RAM has none of it; where only a share is known, as of a
// file of memstats, what is resident is not.
std::optional<uint64_t> guest_ram_rss(
    const model::Reading<model::SmapsFields>& ram) {
  if (!ram) return std::nullopt;
  const std::optional<uint64_t> rss = ram->get(model::SmapsField::Rss);
  if (!rss && ram->has(model::SmapsField::Pss)) return std::nullopt;
  return rss.value_or(0);
}

void write_vm_process(JsonWriter& json, const model::VmProcess& process) {
  Unknown unknown;
  json.begin_object();
  json.member("pid", process.id.pid);
  json.member("start_ticks", process.id.start_ticks);
  json.member("name", process.name);
  json.member("role", model::vm_role_token(process.role));
  json.member("rss_bytes", process.rss_bytes);
  if (!process.rss_bytes) unknown.emplace_back("rss_bytes", "not in status");
  std::optional<uint64_t> pss;
  std::optional<uint64_t> uss;
  if (process.own) {
    pss = model::in_ram_bytes(*process.own);
    uss = model::uss_bytes(*process.own);
  }
  json.member("own_bytes", pss);
  json.member("own_private_bytes", uss);
  if (!process.own) {
    unknown.emplace_back("own_bytes", process.own.unknown_because);
    unknown.emplace_back("own_private_bytes", process.own.unknown_because);
  }
  if (process.own && !uss) {
    unknown.emplace_back("own_private_bytes", kNotParted);
  }
  const std::optional<uint64_t> ram = guest_ram_rss(process.ram);
  json.member("guest_ram_rss_bytes", ram);
  if (!ram) {
    unknown.emplace_back(
        "guest_ram_rss_bytes",
        process.ram ? kNotParted : process.ram.unknown_because);
  }
  json.member("page_table_bytes", process.page_table_bytes);
  if (!process.page_table_bytes) {
    unknown.emplace_back("page_table_bytes", "not read");
  }
  write_unknown(json, unknown);
  json.end_object();
}

void write_image(JsonWriter& json, const model::VmImage& image) {
  Unknown unknown;
  json.begin_object();
  json.member("path", image.path);
  json.member("size_bytes", image.size_bytes);
  write_reading(json, "cached_bytes", image.cached_bytes, unknown);
  write_unknown(json, unknown);
  json.end_object();
}

void write_balloon(JsonWriter& json, const VmRow& row) {
  const model::GuestAnswer& guest = row.vm.guest;
  json.key("balloon");
  json.begin_object();
  json.member("size_bytes", guest.balloon_bytes);
  json.member("deflates_on_oom", row.deflates_on_oom ? row.deflates_on_oom
                                                     : guest.deflates_on_oom);
  json.member("deflation_is_learned", row.deflation_is_learned);
  json.member("free_page_reporting", guest.reports_free_pages);
  if (!guest.balloon_bytes) {
    write_unknown(json, {{"size_bytes", guest.because}});
  }
  json.end_object();
}

void write_view(JsonWriter& json, const VmRow& row) {
  json.key("view");
  if (!row.guest) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("used_bytes", row.guest->used_bytes);
  json.member("caches_bytes", row.guest->caches_bytes);
  json.member("free_bytes", row.guest->free_bytes);
  std::optional<uint64_t> reserved;
  if (row.guest->is_reserved_known) reserved = row.guest->reserved_bytes;
  json.member("reserved_bytes", reserved);
  json.member("limit_bytes", row.guest->limit_bytes);
  if (!reserved) {
    write_unknown(json, {{"reserved_bytes",
                          row.vm.ram.configured_bytes.unknown_because}});
  }
  json.end_object();
}

void write_guest(JsonWriter& json, const VmRow& row) {
  const model::GuestAnswer& guest = row.vm.guest;
  json.key("guest");
  json.begin_object();
  json.member("state", model::guest_state_token(guest.state));
  json.member("because", guest.because);
  json.member("source", guest.source);
  json.member("asked_ns", guest.asked_ns);
  json.member("age_s", row.statistics_age_s);
  json.member("stale", row.is_stale);
  json.member("unsettled", row.is_unsettled);
  json.member("polling_interval_s", guest.polling_interval_s);
  json.key("statistics");
  json.begin_object();
  for (size_t i = 0; i < model::kGuestFieldCount; ++i) {
    if (guest.stats.values[i]) {
      json.member(model::kGuestFieldNames[i], guest.stats.values[i]);
    }
  }
  json.end_object();
  write_view(json, row);
  if (!row.guest) write_unknown(json, {{"view", row.guest.unknown_because}});
  json.end_object();
}

void write_band(JsonWriter& json, const VmBand& band) {
  json.begin_object();
  json.member("band", analysis::vm_band_token(band.kind));
  json.member("name", band.name);
  json.member("known_by", band.known);
  json.member("bytes", band.bytes);
  if (band.process_count > 0) json.member("process_count", band.process_count);
  json.end_object();
}

model::Reading<uint64_t> part_of(const VmRow& row,
                                 uint64_t analysis::RamBands::*bytes) {
  if (row.ram_bands) return model::known((*row.ram_bands).*bytes);
  return model::unknown<uint64_t>(row.ram_bands.unknown_because);
}

void write_sums(JsonWriter& json, const VmRow& row) {
  Unknown unknown;
  json.member("cost_bytes", row.cost.known_bytes());
  json.member("bands_bytes", row.bands_sum.known_bytes());
  write_reading(json, "could_come_back_bytes",
                part_of(row, &analysis::RamBands::held_bytes), unknown);
  write_reading(json, "absent_bytes",
                part_of(row, &analysis::RamBands::absent_bytes), unknown);
  write_reading(json, "never_touched_bytes", row.never_touched_bytes, unknown);
  write_reading(json, "overhead_bytes", row.overhead_bytes, unknown);
  write_reading(json, "helpers_bytes", row.helpers_bytes, unknown);
  json.member("monitor_rss_bytes", row.monitor_rss_bytes);
  if (row.cost.is_unknown()) {
    for (const char* name : {"cost_bytes", "bands_bytes"})
      unknown.emplace_back(name, row.overhead_bytes.unknown_because);
  }
  if (row.cost.is_lower_bound()) {
    json.key("lower_bounds");
    json.begin_array();
    json.string("cost_bytes");
    json.string("bands_bytes");
    json.end_array();
  }
  write_unknown(json, unknown);
}

template <typename T, typename Write>
void write_list(JsonWriter& json, const char* name, const std::vector<T>& list,
                const Write& write) {
  json.key(name);
  json.begin_array();
  for (const T& entry : list)
    write(json, entry);
  json.end_array();
}

void write_vm(JsonWriter& json, const VmRow& row) {
  json.begin_object();
  json.member("pid", row.vm.id.pid);
  json.member("start_ticks", row.vm.id.start_ticks);
  json.member("name", row.vm.name);
  json.member("kind", model::vm_kind_token(row.vm.kind));
  if (!row.vm.uuid.empty()) json.member("uuid", row.vm.uuid);
  json.member("cgroup", row.vm.cgroup_path);
  json.member("kvm", row.vm.holds_kvm);
  json.member("smaps_age_ns", row.detail_age_ns);
  write_sums(json, row);
  write_list(json, "bands", row.bands, write_band);
  write_ram(json, row.vm.ram);
  write_balloon(json, row);
  write_guest(json, row);
  write_list(json, "processes", row.vm.processes, write_vm_process);
  write_list(json, "images", row.vm.images, write_image);
  write_list(json, "findings", row.findings, write_vm_finding);
  json.end_object();
}

void write_total(JsonWriter& json, const VmReport& report) {
  const std::pair<const char*, const model::Amount*> amounts[] = {
      {"cost_bytes", &report.cost},
      {"could_come_back_bytes", &report.held},
      {"configured_bytes", &report.configured}};
  json.key("total");
  json.begin_object();
  bool has_bounds = false;
  Unknown unknown;
  for (const auto& [name, amount] : amounts) {
    json.member(name, amount->known_bytes());
    has_bounds = has_bounds || amount->is_lower_bound();
    if (amount->is_unknown()) unknown.emplace_back(name, "of no VM known");
  }
  if (has_bounds) {
    json.key("lower_bounds");
    json.begin_array();
    for (const auto& [name, amount] : amounts)
      if (amount->is_lower_bound()) json.string(name);
    json.end_array();
  }
  json.member("vm_count", report.rows.size());
  json.member("answering_count", report.answering_count);
  write_unknown(json, unknown);
  json.end_object();
}

}  // namespace

void write_vm_finding(JsonWriter& json, const VmFinding& finding) {
  json.begin_object();
  json.member("finding", analysis::vm_finding_token(finding.kind));
  json.member("title", finding.title);
  json.member("details", finding.details);
  json.end_object();
}

std::string vm_json(const VmReport& report, JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.vm/1", report.realtime_ns, report.read_ns);
  write_total(json, report);
  json.member("unseen_process_count", report.unseen_count);
  write_list(json, "vms", report.rows, write_vm);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
