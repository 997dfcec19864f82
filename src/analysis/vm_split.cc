#include "analysis/vm_split.h"

#include <algorithm>
#include <utility>

namespace tidemark::analysis {
namespace {

constexpr uint64_t kMovedBytes = uint64_t{1} << 20;

uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

// Takes off what there is of it, and returns what is left to take.
uint64_t take_off(uint64_t& band, uint64_t bytes) {
  const uint64_t taken = std::min(band, bytes);
  band -= taken;
  return bytes - taken;
}

bool fits_beside(const GuestFigures& figures) {
  return figures.total_bytes <= figures.configured_bytes &&
         figures.balloon_bytes <=
             figures.configured_bytes - figures.total_bytes;
}

// Whether total holds the balloon too. A guest never has more than it was
// given, so where there is no room for the balloon beside total it must.
std::optional<bool> total_holds_balloon(const GuestFigures& figures) {
  if (figures.balloon_bytes == 0) return true;
  if (figures.deflates_on_oom) return figures.deflates_on_oom;
  if (!fits_beside(figures)) return true;
  return std::nullopt;
}

GuestSplit unknown_split(std::string because) {
  return {model::unknown<GuestView>(std::move(because)), false};
}

GuestSplit unsettled_split(const std::string& because) {
  return {model::unknown<GuestView>("unsettled: " + because), true};
}

}  // namespace

void BalloonMemory::see(uint64_t balloon, uint64_t now_s) {
  if (seen_balloon_bytes && *seen_balloon_bytes != balloon) {
    moved_realtime_s = now_s;
  }
  seen_balloon_bytes = balloon;
}

bool is_settled(const BalloonMemory& memory, const model::GuestAnswer& guest,
                uint64_t now_s) {
  if (!memory.moved_realtime_s) return true;
  if (guest.updated_realtime_s) {
    return *guest.updated_realtime_s > *memory.moved_realtime_s;
  }
  if (!guest.polling_interval_s) return true;
  return now_s - std::min(now_s, *memory.moved_realtime_s) >
         *guest.polling_interval_s;
}

GuestSplit split_guest(const GuestFigures& figures) {
  const std::optional<bool> holds = total_holds_balloon(figures);
  if (!holds) {
    return unknown_split(
        "it is not known whether the guest's total has the balloon in it; a "
        "watch learns that when the balloon moves");
  }
  if (!*holds && !fits_beside(figures)) {
    return unsettled_split(
        "the balloon does not fit beside the guest's total, which has not "
        "followed it yet");
  }
  const uint64_t total =
      figures.total_bytes + (*holds ? 0 : figures.balloon_bytes);
  if (total > figures.configured_bytes) {
    return unknown_split("the guest tells of more RAM than it has been given");
  }
  if (figures.balloon_bytes > total) {
    return unsettled_split(
        "the balloon is larger than what the guest tells of");
  }
  GuestView view;
  view.limit_bytes = total - figures.balloon_bytes;
  view.reserved_bytes = figures.configured_bytes - total;
  view.free_bytes = figures.free_bytes;
  view.caches_bytes = figures.caches_bytes;
  // Free and caches were counted when the guest was asked, the balloon now.
  if (figures.free_bytes > view.limit_bytes ||
      figures.caches_bytes > view.limit_bytes - figures.free_bytes) {
    return unsettled_split(
        "free memory and caches exceed what the balloon leaves; "
        "the guest was asked before the balloon moved");
  }
  view.used_bytes =
      view.limit_bytes - figures.free_bytes - figures.caches_bytes;
  return {model::known(view), false};
}

RamBands bands_of_ram(const GuestView& guest, uint64_t resident_bytes) {
  RamBands bands;
  bands.used_bytes = guest.used_bytes;
  bands.caches_bytes = guest.caches_bytes;
  bands.reserved_bytes = guest.reserved_bytes;
  const uint64_t claimed = bands.sum();
  if (claimed <= resident_bytes) {
    bands.held_bytes = resident_bytes - claimed;
    return bands;
  }
  bands.absent_bytes = claimed - resident_bytes;
  uint64_t left = take_off(bands.reserved_bytes, bands.absent_bytes);
  left = take_off(bands.caches_bytes, left);
  take_off(bands.used_bytes, left);
  return bands;
}

std::optional<bool> learn_deflation(const BalloonMemory& before,
                                    uint64_t total_bytes,
                                    uint64_t balloon_bytes) {
  if (!before.total_bytes || !before.balloon_bytes) {
    return before.deflates_on_oom;
  }
  const uint64_t moved = distance(*before.balloon_bytes, balloon_bytes);
  if (moved < kMovedBytes) return before.deflates_on_oom;
  if (distance(*before.total_bytes, total_bytes) < moved / 4) return true;
  // Total and balloon together stay what they were.
  if (distance(*before.total_bytes + *before.balloon_bytes,
               total_bytes + balloon_bytes) < moved / 4) {
    return false;
  }
  return before.deflates_on_oom;
}

}  // namespace tidemark::analysis
