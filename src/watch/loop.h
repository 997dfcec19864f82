// Runs a source on a clock and hands each sample to a sink.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/sample.h"
#include "watch/stop_signals.h"

namespace tidemark::watch {

// Deadlines on a fixed grid: tick n is due at start + n * period, however long
// the ticks before it took, so a long watch does not drift. Ticks whose time
// has passed are skipped and counted, never run in a burst. With a duration the
// last tick is due at its end, on the grid or not.
class Ticker {
 public:
  Ticker(uint64_t start_ns, uint64_t period_ns,
         std::optional<uint64_t> duration_ns = {});

  struct Tick {
    uint64_t due_ns = 0;
    uint64_t missed_count = 0;  // of those right before this one
    uint64_t first_missed_ns = 0;
  };
  // The first tick is due at the start.
  Tick next(uint64_t now_ns);
  // The last tick was handed out.
  bool is_over() const { return is_over_; }

 private:
  uint64_t start_ns_;
  uint64_t period_ns_;
  std::optional<uint64_t> duration_ns_;
  uint64_t next_index_ = 0;
  bool is_over_ = false;
};

// Those right before the tick, each with the time it was due at: a row for
// each, until they are too many to be worth one.
std::vector<model::MissedTick> missed_ticks(const Ticker::Tick& tick,
                                            uint64_t period_ns);

struct LoopOptions {
  uint64_t period_ns = 1'000'000'000;
  std::optional<uint64_t> count;        // ticks; endless without
  std::optional<uint64_t> duration_ns;  // to the last tick
};

// How the loop waits and tells the time; replaced in tests.
struct LoopClock {
  std::function<uint64_t()> now_ns;
  // Waits until the time, unless something has come up before.
  std::function<WaitEnd(uint64_t)> wait_until;
};

enum class LoopEnd {
  Completed,   // count or duration reached
  Stopped,     // by a signal
  TargetGone,  // the source has nothing left to read
  Denied,      // it may not read what it was made for
};

struct LoopResult {
  LoopEnd end = LoopEnd::Completed;
  base::Error gone;  // the source's sentence, for TargetGone
  uint64_t tick_count = 0;
  uint64_t missed_count = 0;
  uint64_t woken_count = 0;  // samples between the ticks, at new highs
};

// A wait that ends in Wake takes a sample at once, marked as one of a new high;
// it counts as no tick and moves none. finish() of the sink is called on every
// way out. A failure of either side ends the loop with that error.
base::Result<LoopResult> run_loop(model::Source& source, model::Sink& sink,
                                  const LoopOptions& options,
                                  const LoopClock& clock);

}  // namespace tidemark::watch
