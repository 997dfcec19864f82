// Runs a recording: samples on a clock and at new highs, written by a thread of
// its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/sample.h"
#include "watch/loop.h"
#include "watch/record_source.h"

namespace tidemark::watch {

struct RecordProgress {
  uint64_t elapsed_ns = 0;
  uint64_t sample_count = 0;
  uint64_t missed_count = 0;
  uint64_t cpu_ns = 0;   // of our own, since the start
  uint64_t read_ns = 0;  // that reading took, waiting included
  uint64_t peak_pss_bytes = 0;
  bool is_paused = false;
};

struct RecordHooks {
  std::function<uint64_t()> now_ns;
  std::function<WaitEnd(uint64_t)> wait_until;
  std::function<void(const RecordProgress&)> progress;
  // What the sample says of how it was read.
  std::function<void(const model::Sample&)> read;
  // What else is recorded on the same clock: adds it to each sample.
  std::function<base::Status(model::Sample&)> add;
  // The same once more when all is over: what it adds is final. Without it
  // there is no sample of the end.
  std::function<base::Status(model::Sample&)> add_last;
  // A sample was taken and took that long.
  std::function<void(uint64_t)> sampled;
};

struct RecordResult {
  LoopEnd end = LoopEnd::Completed;
  RecordProgress last;
};

// finish() of the sink is called on every way out.
base::Result<RecordResult> record(RecordSource& source, model::Sink& sink,
                                  const LoopOptions& options,
                                  const RecordHooks& hooks);

}  // namespace tidemark::watch
