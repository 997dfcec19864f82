// What of a guest's RAM is what, by what the guest tells and what the host
// holds. Pure arithmetic; every difference that would be negative is unknown,
// with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/reading.h"
#include "model/vm.h"

namespace tidemark::analysis {

// What the samples before have taught of one VM.
struct BalloonMemory {
  // Of the last sample whose statistics and balloon were of one moment.
  std::optional<uint64_t> total_bytes;
  std::optional<uint64_t> balloon_bytes;
  std::optional<bool> deflates_on_oom;  // learned from how both moved
  // Of the last sample, whatever it was.
  std::optional<uint64_t> seen_balloon_bytes;
  std::optional<uint64_t> moved_realtime_s;  // when it was seen to have moved

  void see(uint64_t balloon, uint64_t now_s);
};

// Whether the guest has been asked since its balloon moved. Those without a
// time of their statistics and without an interval are asked on the spot.
bool is_settled(const BalloonMemory& memory, const model::GuestAnswer& guest,
                uint64_t now_s);

// As the guest sees it. used + caches + free + balloon + reserved = configured.
struct GuestView {
  uint64_t used_bytes = 0;
  uint64_t caches_bytes = 0;
  uint64_t free_bytes = 0;
  // Never in the guest's hands: its kernel's image and page structs, firmware.
  uint64_t reserved_bytes = 0;
  // False where nobody tells what the guest was given; reserved is then 0.
  bool is_reserved_known = true;
  uint64_t limit_bytes = 0;  // what it can use: total - balloon
  bool operator==(const GuestView&) const = default;
};

// The same in the host's RAM. Adds up to what is resident.
struct RamBands {
  uint64_t used_bytes = 0;
  uint64_t caches_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t held_bytes = 0;  // free in the guest, held by the host
  // What the guest uses beyond what the host holds: swapped out, or never
  // touched though counted. In none of the bands.
  uint64_t absent_bytes = 0;
  bool operator==(const RamBands&) const = default;

  uint64_t sum() const {
    return used_bytes + caches_bytes + reserved_bytes + held_bytes;
  }
};

struct GuestSplit {
  model::Reading<GuestView> view;
  // Unknown because balloon and statistics are of different moments.
  bool is_unsettled = false;
};

struct GuestFigures {
  uint64_t configured_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t caches_bytes = 0;
  uint64_t balloon_bytes = 0;
  std::optional<bool> deflates_on_oom;
};

// Linux lowers MemTotal by the balloon unless DEFLATE_ON_OOM is negotiated;
// then total already lacks the balloon, which must not be taken off twice.
// Where nobody tells, a total that could not hold the balloon beside it
// decides.
GuestSplit split_guest(const GuestFigures& figures);

// What is not resident of the guest's is taken off where it is most likely to
// be missing: reserved parts may never have been touched, caches are next.
RamBands bands_of_ram(const GuestView& guest, uint64_t resident_bytes);

// Whether the balloon deflates on OOM, by a total that moves against it or does
// not move at all; empty while neither has happened.
std::optional<bool> learn_deflation(const BalloonMemory& before,
                                    uint64_t total_bytes,
                                    uint64_t balloon_bytes);

}  // namespace tidemark::analysis
