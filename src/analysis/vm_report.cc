#include "analysis/vm_report.h"

#include <algorithm>
#include <array>

#include "analysis/vm_findings.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "model/smaps_fields.h"

namespace tidemark::analysis {
namespace {

using model::GuestField;
using model::Reading;
using model::Vm;
using model::VmProcess;
using model::VmRole;

// Statistics are asked for now and then; one round may be lost without anything
// being wrong.
uint64_t oldest_fresh_s(const model::GuestAnswer& guest) {
  constexpr uint64_t kSlackSeconds = 5;
  const uint64_t interval = guest.polling_interval_s.value_or(0);
  return base::saturating_sum(base::saturating_sum(interval, interval),
                              kSlackSeconds);
}

void set_age(const model::VmScan& scan, VmRow& row) {
  row.detail_age_ns =
      scan.started_monotonic_ns -
      std::min(scan.started_monotonic_ns, row.vm.detail_monotonic_ns);
  const std::optional<uint64_t>& updated = row.vm.guest.updated_realtime_s;
  if (!updated || *updated == 0) return;
  const uint64_t now = scan.started_realtime_ns / base::kNsPerSecond;
  row.statistics_age_s = now - std::min(now, *updated);
  row.is_stale = *row.statistics_age_s > oldest_fresh_s(row.vm.guest);
}

// Why the guest's figures cannot be put beside the host's; empty when they can.
std::string obstacle(const VmRow& row) {
  const model::GuestAnswer& guest = row.vm.guest;
  if (guest.state != model::GuestState::Told) {
    return guest.because.empty() ? "the guest does not tell" : guest.because;
  }
  if (row.is_stale) {
    return "the guest's statistics are " +
           std::to_string(*row.statistics_age_s) + " s old";
  }
  if (!guest.balloon_bytes) return "the size of the balloon is not known";
  for (GuestField field :
       {GuestField::Total, GuestField::Free, GuestField::Caches}) {
    if (guest.stats[field]) continue;
    return "the guest does not tell " +
           std::string(model::kGuestFieldNames[static_cast<size_t>(field)]);
  }
  return "";
}

void learn(VmRow& row, BalloonMemory& memory, uint64_t total,
           uint64_t balloon) {
  memory.deflates_on_oom = learn_deflation(memory, total, balloon);
  row.deflates_on_oom = row.vm.guest.deflates_on_oom;
  if (!row.deflates_on_oom && memory.deflates_on_oom) {
    row.deflates_on_oom = memory.deflates_on_oom;
    row.deflation_is_learned = true;
  }
}

// Where nobody tells what it was given, it is taken for what its Linux has: all
// but the reserved part is known then.
GuestSplit split_told(VmRow& row, BalloonMemory& memory,
                      std::optional<uint64_t> configured) {
  const model::GuestStats& stats = row.vm.guest.stats;
  const uint64_t total = *stats[GuestField::Total];
  const uint64_t balloon = *row.vm.guest.balloon_bytes;
  learn(row, memory, total, balloon);
  memory.total_bytes = total;
  memory.balloon_bytes = balloon;
  const uint64_t beside = row.deflates_on_oom.value_or(false) ? 0 : balloon;
  GuestSplit split =
      split_guest({configured.value_or(base::saturating_sum(total, beside)),
                   total, *stats[GuestField::Free], *stats[GuestField::Caches],
                   balloon, row.deflates_on_oom});
  if (split.view) split.view.value->is_reserved_known = configured.has_value();
  return split;
}

std::string unsettled_words(const VmRow& row, const BalloonMemory& memory,
                            uint64_t now_s) {
  if (row.vm.guest.balloon_is_moving) {
    return "unsettled: the balloon moved while the guest was asked";
  }
  if (is_settled(memory, row.vm.guest, now_s)) return "";
  return "unsettled: the balloon has moved since the guest was asked";
}

void set_guest(VmRow& row, BalloonMemory& memory, uint64_t now_s) {
  if (row.vm.guest.balloon_bytes) {
    memory.see(*row.vm.guest.balloon_bytes, now_s);
  }
  std::string because = obstacle(row);
  if (because.empty()) {
    because = unsettled_words(row, memory, now_s);
    row.is_unsettled = !because.empty();
  }
  if (!because.empty()) {
    row.guest = model::unknown<GuestView>(std::move(because));
    return;
  }
  GuestSplit split = split_told(row, memory, configured_bytes(row.vm));
  row.guest = std::move(split.view);
  row.is_unsettled = split.is_unsettled;
}

void split_ram(VmRow& row) {
  const Reading<uint64_t>& resident = row.vm.ram.resident_bytes;
  if (!resident) {
    row.ram_bands = model::unknown<RamBands>(resident.unknown_because);
  } else if (!row.guest) {
    row.ram_bands = model::unknown<RamBands>(row.guest.unknown_because);
  } else if (!row.guest->is_reserved_known) {
    row.ram_bands = model::unknown<RamBands>(
        "what the guest was given is not known, so what it has free and what "
        "is reserved cannot be told apart");
  } else {
    row.ram_bands = model::known(bands_of_ram(*row.guest, *resident));
  }
}

void set_never_touched(VmRow& row) {
  const std::optional<uint64_t> configured = configured_bytes(row.vm);
  const Reading<uint64_t>& resident = row.vm.ram.resident_bytes;
  if (!resident || !configured) {
    row.never_touched_bytes = model::unknown<uint64_t>(
        resident ? row.vm.ram.configured_bytes.unknown_because
                 : resident.unknown_because);
    return;
  }
  const uint64_t given = base::saturating_sum(
      base::saturating_sum(*resident, row.vm.guest.balloon_bytes.value_or(0)),
      row.vm.ram.swapped_bytes.value.value_or(0));
  row.never_touched_bytes =
      model::known(*configured - std::min(*configured, given));
}

void add_band(VmRow& row, VmBandKind kind, std::string name, std::string known,
              uint64_t bytes) {
  row.bands.push_back({kind, std::move(name), std::move(known), bytes, 0});
}

// PSS, so that what several VMs share (the program, its libraries) is not
// counted for each of them.
std::optional<uint64_t> own_bytes(const VmProcess& process) {
  if (!process.own) return std::nullopt;
  return model::in_ram_bytes(*process.own);
}

void add_told_bands(VmRow& row, const RamBands& bands) {
  add_band(row, VmBandKind::GuestUsed, "guest used",
           "total - balloon - free - caches", bands.used_bytes);
  add_band(row, VmBandKind::GuestCaches, "guest caches", "guest: disk caches",
           bands.caches_bytes);
}

// Where guest RAM was not found it is somewhere in what the monitor maps, and
// so is what the guest tells of it; 0 when it does not tell, or more than that.
uint64_t told_in_monitor(const VmRow& row) {
  const bool is_found = row.vm.ram.means != model::RamMeans::None;
  if (is_found || !row.guest || row.vm.processes.empty()) return 0;
  const uint64_t told =
      base::saturating_sum(row.guest->used_bytes, row.guest->caches_bytes);
  const std::optional<uint64_t> own = own_bytes(row.vm.processes.front());
  return own && told <= *own ? told : 0;
}

void add_guest_bands(VmRow& row) {
  if (told_in_monitor(row) > 0) {
    RamBands told;
    told.used_bytes = row.guest->used_bytes;
    told.caches_bytes = row.guest->caches_bytes;
    add_told_bands(row, told);
  }
  if (!row.vm.ram.resident_bytes) return;
  const uint64_t resident = *row.vm.ram.resident_bytes;
  if (!row.guest) {
    add_band(
        row, VmBandKind::GuestUnsplit, "guest RAM",
        std::string(model::resident_means_token(row.vm.ram.resident_means)),
        resident);
    return;
  }
  if (!row.ram_bands) {
    const RamBands bands = bands_of_ram(*row.guest, resident);
    add_told_bands(row, bands);
    add_band(row, VmBandKind::GuestUnsplit, "free or reserved in guest",
             "resident - used - caches", bands.held_bytes);
    return;
  }
  const RamBands& bands = *row.ram_bands;
  add_told_bands(row, bands);
  add_band(row, VmBandKind::GuestReserved, "guest reserved",
           "configured - guest total", bands.reserved_bytes);
  add_band(row, VmBandKind::GuestHeld, "free in guest, held by host",
           "resident - the three before", bands.held_bytes);
}

VmBand& helper_band(VmRow& row, const std::string& name,
                    std::string_view known) {
  const auto found = std::ranges::find_if(row.bands, [&](const VmBand& band) {
    return band.kind == VmBandKind::Helper && band.name == name;
  });
  if (found != row.bands.end()) return *found;
  add_band(row, VmBandKind::Helper, name, std::string(known), 0);
  return row.bands.back();
}

void add_monitor_band(VmRow& row, uint64_t bytes) {
  const std::string kind(model::vm_kind_name(row.vm.kind));
  const uint64_t told = told_in_monitor(row);
  if (row.vm.ram.means != model::RamMeans::None) {
    add_band(row, VmBandKind::Monitor, kind + " itself",
             "PSS without guest RAM", bytes);
  } else if (told > 0) {
    add_band(row, VmBandKind::Untold, kind + " and other guest RAM",
             "PSS - used - caches", bytes - told);
  } else {
    add_band(row, VmBandKind::Untold, kind + " with guest RAM", "PSS", bytes);
  }
  row.bands.back().process_count = 1;
}

void add_process_bands(VmRow& row) {
  const bool is_told = row.vm.ram.means != model::RamMeans::None;
  const std::string known = is_told ? "PSS without guest RAM" : "PSS";
  for (const VmProcess& process : row.vm.processes) {
    const std::optional<uint64_t> bytes = own_bytes(process);
    if (!bytes) continue;
    if (process.role == VmRole::Monitor) {
      add_monitor_band(row, *bytes);
      continue;
    }
    VmBand& band = helper_band(row, process.name, known);
    band.bytes += *bytes;
    ++band.process_count;
  }
}

void set_sums(VmRow& row) {
  const Vm& vm = row.vm;
  model::Amount overhead;
  model::Amount helpers;
  std::string because;
  for (const VmProcess& process : vm.processes) {
    const std::optional<uint64_t> bytes = own_bytes(process);
    if (!bytes) because = process.own.unknown_because;
    overhead.add(bytes);
    if (process.role != VmRole::Monitor) helpers.add(bytes);
  }
  row.bands_sum = overhead;
  // Where RAM was not found it is among what the monitor maps.
  const bool is_told = vm.ram.means != model::RamMeans::None;
  if (is_told) row.bands_sum.add(vm.ram.resident_bytes.value);
  row.cost = row.bands_sum;
  const uint64_t saved = vm.ram.ksm_saved_bytes.value.value_or(0);
  row.cost.bytes -= std::min(row.cost.bytes, saved);
  row.helpers_bytes = because.empty() ? model::known(helpers.bytes)
                                      : model::unknown<uint64_t>(because);
  if (!because.empty() || !is_told) {
    row.overhead_bytes = model::unknown<uint64_t>(
        because.empty() ? vm.ram.resident_bytes.unknown_because : because);
  } else {
    row.overhead_bytes = model::known(overhead.bytes);
  }
}

VmRow row_of(const model::VmScan& scan, Vm vm, VmHistory& history) {
  VmRow row;
  row.vm = std::move(vm);
  set_age(scan, row);
  set_guest(row, history.of(row.vm.id),
            scan.started_realtime_ns / base::kNsPerSecond);
  split_ram(row);
  set_never_touched(row);
  add_guest_bands(row);
  add_process_bands(row);
  set_sums(row);
  if (!row.vm.processes.empty()) {
    row.monitor_rss_bytes = row.vm.processes.front().rss_bytes;
  }
  row.findings = find_in_vm(row);
  return row;
}

}  // namespace

std::string_view vm_band_token(VmBandKind kind) {
  constexpr std::array<std::string_view, 8> kTokens = {
      "guest_used", "guest_caches", "guest_reserved", "guest_held",
      "guest_ram",  "monitor",      "helper",         "untold"};
  return kTokens[static_cast<size_t>(kind)];
}

std::optional<uint64_t> configured_bytes(const Vm& vm) {
  if (vm.guest.configured_bytes) return vm.guest.configured_bytes;
  return vm.ram.configured_bytes.value;
}

BalloonMemory& VmHistory::of(const model::ProcessId& id) {
  const auto found = std::ranges::find(
      memories_, id, &std::pair<model::ProcessId, BalloonMemory>::first);
  if (found != memories_.end()) return found->second;
  memories_.emplace_back(id, BalloonMemory{});
  return memories_.back().second;
}

VmReport make_vm_report(model::VmScan scan, VmHistory& history) {
  VmReport report;
  report.realtime_ns = scan.started_realtime_ns;
  report.read_ns = scan.ended_monotonic_ns - scan.started_monotonic_ns;
  report.unseen_count = scan.unseen_count;
  for (Vm& vm : scan.vms) {
    VmRow row = row_of(scan, std::move(vm), history);
    report.cost.add(row.cost);
    report.configured.add(configured_bytes(row.vm));
    std::optional<uint64_t> held;
    if (row.ram_bands) held = row.ram_bands->held_bytes;
    report.held.add(held);
    // Of what it told long ago nothing is used.
    if (row.vm.guest.state == model::GuestState::Told && !row.is_stale) {
      ++report.answering_count;
    }
    report.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(report.rows, std::greater<>(),
                           [](const VmRow& row) { return row.cost.bytes; });
  return report;
}

}  // namespace tidemark::analysis
