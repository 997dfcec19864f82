#include "analysis/vm_findings.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace tidemark::analysis {
namespace {

using base::long_size;
using model::GuestField;
using model::GuestState;

constexpr uint64_t kMib = uint64_t{1} << 20;

std::string told_ago(const VmRow& row) {
  return std::to_string(row.statistics_age_s.value_or(0)) + " s ago";
}

// What would switch them on depends on who asks the guest.
std::string how_to_switch_on(const model::GuestAnswer& guest) {
  if (guest.source == "QMP") {
    return "QEMU asks its guest only when a polling interval is set; --poll "
           "sets one while we read.";
  }
  return guest.because + ".";
}

// A driver tells its figures once when it is loaded, asked or not.
void add_off(const VmRow& row, std::vector<VmFinding>& findings) {
  const bool is_told = row.vm.guest.state == GuestState::Told;
  findings.push_back({VmFindingKind::StatisticsOff,
                      is_told
                          ? "The guest's statistics are off; they were told " +
                                told_ago(row) + "."
                          : "The guest's statistics are off.",
                      how_to_switch_on(row.vm.guest)});
}

void add_statistics(const VmRow& row, std::vector<VmFinding>& findings) {
  const model::GuestAnswer& guest = row.vm.guest;
  switch (guest.state) {
    case GuestState::Off:
      return add_off(row, findings);
    case GuestState::Told:
      if (guest.polling_interval_s == 0U) return add_off(row, findings);
      if (!row.is_stale) return;
      findings.push_back(
          {VmFindingKind::StatisticsStale,
           "The guest's statistics were told " + told_ago(row) + ".",
           guest.source == "libvirt"
               ? "libvirt asks its guest as often as `virsh dommemstat "
                 "--period` has set; without it never again."
               : "The guest was asked since and has not answered."});
      return;
    case GuestState::Silent:
      findings.push_back(
          {VmFindingKind::GuestSilent, "The guest does not answer.",
           "A balloon driver in the guest would tell what it does with its "
           "memory."});
      return;
    case GuestState::Busy:
      findings.push_back(
          {VmFindingKind::MonitorBusy, "The monitor is taken.",
           "It speaks to one client at a time; a second -qmp socket would be "
           "free for questions."});
      return;
    default:
      return;
  }
}

void add_unsettled(const VmRow& row, std::vector<VmFinding>& findings) {
  if (!row.is_unsettled) return;
  findings.push_back({VmFindingKind::Unsettled, "The balloon is moving.",
                      "Statistics and balloon are not of one moment; the next "
                      "reading will tell."});
}

void add_held(const VmRow& row, std::vector<VmFinding>& findings) {
  if (!row.ram_bands) return;
  const uint64_t held = row.ram_bands->held_bytes;
  const uint64_t configured =
      row.guest->limit_bytes + row.guest->reserved_bytes;
  if (held < 64 * kMib || held < configured / 10) return;
  const std::optional<bool>& reporting = row.vm.guest.reports_free_pages;
  std::string details =
      "Whether free page reporting is on is not known; with it a guest hands "
      "such pages back by itself.";
  if (reporting) {
    details = *reporting
                  ? "Free page reporting is on: what stays is in pieces "
                    "smaller than the guest reports, or was freed just now."
                  : "Free page reporting is off for this VM. With it the "
                    "guest would hand such pages back by itself.";
  }
  findings.push_back(
      {VmFindingKind::HeldPages,
       long_size(held) + " is free in the guest but held by the host.",
       std::move(details)});
}

// The same blocks may be in both; that they are cannot be seen from here.
void add_cached_twice(const VmRow& row, std::vector<VmFinding>& findings) {
  constexpr uint64_t kLeastBytes = 64 * kMib;
  const uint64_t guest = row.vm.guest.stats[GuestField::Caches].value_or(0);
  if (row.vm.images.empty() || guest < kLeastBytes) return;
  const model::VmImage& image = row.vm.images.front();
  const uint64_t host = image.cached_bytes.value.value_or(0);
  if (host < kLeastBytes) return;
  findings.push_back(
      {VmFindingKind::CachedTwice, "The disk is cached twice.",
       long_size(host) + " of " + std::string(base::base_name(image.path)) +
           " is in the host's page cache and " + long_size(guest) +
           " in the guest's; a disk opened past the host's cache "
           "(cache=none) is there once."});
}

void add_swapped(const VmRow& row, std::vector<VmFinding>& findings) {
  const uint64_t swapped = row.vm.ram.swapped_bytes.value.value_or(0);
  if (swapped < kMib) return;
  std::string details = "The guest waits for the host's disk to use it.";
  if (row.guest && row.guest->free_bytes > 0) {
    details += " It has " + long_size(row.guest->free_bytes) +
               " free at the same time: some of what was swapped out may be "
               "nothing.";
  }
  findings.push_back(
      {VmFindingKind::Swapped,
       long_size(swapped) + " of guest RAM is swapped out by the host.",
       std::move(details)});
}

void add_kills(const VmRow& row, std::vector<VmFinding>& findings) {
  const uint64_t kills = row.vm.guest.stats[GuestField::OomKills].value_or(0);
  if (kills == 0) return;
  findings.push_back(
      {VmFindingKind::OomKills,
       "The guest has killed " + base::counted(kills, "process", "processes") +
           " for want of memory.",
       row.guest ? "It may use " + long_size(row.guest->limit_bytes) + "."
                 : "Since it has started."});
}

void add_pages(const VmRow& row, std::vector<VmFinding>& findings) {
  const model::GuestRam& ram = row.vm.ram;
  if (ram.ksm_saved_bytes.value.value_or(0) >= kMib) {
    findings.push_back(
        {VmFindingKind::Merged,
         long_size(*ram.ksm_saved_bytes) + " is saved by merged pages.",
         "Its RSS counts them as if each were there."});
  }
  if (ram.hugetlb_bytes.value.value_or(0) > 0) {
    findings.push_back(
        {VmFindingKind::HugePages,
         long_size(*ram.hugetlb_bytes) + " of guest RAM is huge pages.",
         "They are in no RSS, and never swapped out."});
  }
}

// A little is always missing: part of what a guest reserves is never touched.
void add_absent(const VmRow& row, std::vector<VmFinding>& findings) {
  if (!row.ram_bands) return;
  const uint64_t absent = row.ram_bands->absent_bytes;
  const uint64_t swapped = row.vm.ram.swapped_bytes.value.value_or(0);
  if (absent < 16 * kMib || absent <= swapped + 16 * kMib) return;
  findings.push_back(
      {VmFindingKind::Absent,
       long_size(absent) + " that the guest counts as its own is not in RAM.",
       "Reserved and never touched, swapped out, or told at another moment; "
       "the bands of the guest are smaller by that."});
}

}  // namespace

std::string_view vm_finding_token(VmFindingKind kind) {
  constexpr std::array<std::string_view, 12> kTokens = {
      "statistics_off", "statistics_stale", "guest_silent", "monitor_busy",
      "unsettled",      "held_pages",       "swapped",      "oom_kills",
      "merged",         "huge_pages",       "absent",       "cached_twice"};
  return kTokens[static_cast<size_t>(kind)];
}

std::vector<VmFinding> find_in_vm(const VmRow& row) {
  std::vector<VmFinding> findings;
  add_held(row, findings);
  add_cached_twice(row, findings);
  add_swapped(row, findings);
  add_kills(row, findings);
  add_statistics(row, findings);
  add_unsettled(row, findings);
  add_absent(row, findings);
  add_pages(row, findings);
  return findings;
}

}  // namespace tidemark::analysis
