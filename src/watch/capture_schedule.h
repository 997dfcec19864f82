// Decides when a picture of a growing tree is worth its price.
//
// A picture costs time in proportion to the memory it shows (43 ms for 4 GiB of
// small pages), and only the last one below the peak is ever used. So pictures
// are taken at geometric steps of growth, once more when growth has stopped,
// and never for more than a share of the time that has passed. Pure: time and
// heights come in, decisions go out.
#pragma once

#include <cstdint>
#include <optional>

namespace tidemark::watch {

struct CaptureBudget {
  uint64_t fine_step_permille = 25;    // while pictures are cheap
  uint64_t coarse_step_permille = 62;  // otherwise: 1/1.062 is the floor
  uint64_t share_permille = 80;        // of the time since the start, at most
  uint64_t allowance_ns = 30'000'000;  // for commands that end at once
  uint64_t settle_ns = 1'000'000;  // how soon to look whether it still grows
};

class CaptureSchedule {
 public:
  CaptureSchedule(uint64_t start_ns, CaptureBudget budget);

  // The height passed the mark. True: take a picture now. Otherwise it is
  // remembered, and due as soon as the budget allows.
  bool crossed(uint64_t now_ns, uint64_t height_bytes);

  // Somebody looked at the height, at the time asked for or by the way. True:
  // growth has stopped, or a picture has been owed; take it.
  bool looked(uint64_t now_ns, uint64_t height_bytes);

  // A picture was taken of this height.
  void captured(uint64_t started_ns, uint64_t ended_ns, uint64_t height_bytes);

  // When to look next; empty when there is no hurry.
  std::optional<uint64_t> next_look_ns() const { return next_look_ns_; }

  // The step to the next mark.
  uint64_t step_permille(uint64_t now_ns) const;

  uint64_t captured_bytes() const { return captured_bytes_; }

 private:
  bool is_affordable(uint64_t now_ns, uint64_t height_bytes) const;
  bool is_worth_it(uint64_t height_bytes) const;

  uint64_t start_ns_;
  CaptureBudget budget_;
  uint64_t spent_ns_ = 0;
  uint64_t last_cost_ns_ = 0;
  uint64_t last_height_bytes_ = 0;  // of the last picture, not the highest
  uint64_t captured_bytes_ = 0;     // the highest pictured
  uint64_t looked_bytes_ = 0;
  std::optional<uint64_t> next_look_ns_;
};

}  // namespace tidemark::watch
