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
  uint64_t least_step_permille = 25;
  uint64_t most_step_permille = 250;
  uint64_t share_permille = 80;        // of the time since the start, at most
  uint64_t allowance_ns = 60'000'000;  // however short the time
  uint64_t credit_ns = 30'000'000;     // beyond it, where growth has stopped
  uint64_t settle_ns = 1'000'000;      // how soon to look if it still grows
};

enum class Picture { None, Quick, Full };

class CaptureSchedule {
 public:
  CaptureSchedule(uint64_t start_ns, CaptureBudget budget);

  // Whether quick pictures can be had now. Without them a full one is taken
  // where a quick one would do, if it can be paid for.
  void set_has_quick(bool has_quick) { has_quick_ = has_quick; }

  // The height passed the mark. None: it cannot be paid for, and is owed.
  Picture crossed(uint64_t now_ns, uint64_t height_bytes);

  // Somebody looked at the height, at the time asked for or by the way. A
  // picture is due when growth has stopped, or when one is owed.
  Picture looked(uint64_t now_ns, uint64_t height_bytes);

  void captured(Picture picture, uint64_t cost_ns, uint64_t now_ns,
                uint64_t height_bytes);

  // When to look next; empty when there is no hurry.
  std::optional<uint64_t> next_look_ns() const { return next_look_ns_; }

  // The step to the next mark: as fine as the budget allows if the height were
  // to double from here.
  uint64_t step_permille(uint64_t now_ns) const;

  uint64_t captured_bytes() const { return captured_bytes_; }

 private:
  // What the last picture of a kind tells about the next one's cost.
  struct Price {
    uint64_t cost_ns = 0;
    uint64_t height_bytes = 0;
    uint64_t bytes_per_ns = 1;  // what each byte of growth adds
    uint64_t expected_ns(uint64_t height_bytes) const;
  };
  Picture affordable(uint64_t left_ns, uint64_t height_bytes,
                     uint64_t reserve) const;
  uint64_t unspent_ns(uint64_t now_ns, uint64_t credit_ns = 0) const;
  bool is_worth_it(uint64_t height_bytes) const;

  uint64_t start_ns_;
  CaptureBudget budget_;
  uint64_t spent_ns_ = 0;
  // Measured: 75 ms and 8 ms for 4 GiB of small pages. Not in proportion to the
  // last cost: most of a small picture is opening files.
  Price full_{0, 0, 57};
  Price quick_{0, 0, 500};
  bool has_quick_ = false;
  uint64_t captured_bytes_ = 0;  // the highest pictured
  uint64_t looked_bytes_ = 0;
  std::optional<uint64_t> next_look_ns_;
};

}  // namespace tidemark::watch
