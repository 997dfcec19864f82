// A trace on its way into a recording: alone, reading by reading, or along with
// the processes that are recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/sample.h"
#include "model/trace.h"
#include "source/roots.h"
#include "watch/loop.h"
#include "watch/stop_signals.h"
#include "watch/trace_means.h"
#include "watch/writer_thread.h"

namespace tidemark::watch {

// Alone: a sample for each reading, with nothing else in it. Written by a
// thread of its own, so that rings are emptied while the disk is slow.
class TraceRecording {
 public:
  // Readings are due each period from the start on.
  TraceRecording(model::Sink& sink, uint64_t period_ns, uint64_t start_ns);

  uint64_t due_ns() const { return due_ns_; }
  // The reading that is due. A disk that is full or slow costs readings, and
  // the file says so; another failure is one of the trace.
  base::Status take(
      const std::function<base::Result<model::Trace>()>& read_trace);
  // The one after which nothing changes; then the sink is finished.
  base::Status finish(const model::Trace& last);
  // The same when there is none.
  base::Status abandon();
  bool is_paused() { return writer_.is_paused(); }

 private:
  void plan_next();

  WriterThread writer_;
  Ticker ticker_;
  uint64_t period_ns_;
  uint64_t due_ns_ = 0;
  std::vector<model::MissedTick> missed_;
};

// Along with others: adds what is known of pages to samples somebody else
// takes.
class AttachedTrace {
 public:
  // The roots must outlive it.
  AttachedTrace(const source::Roots& roots, ChosenTrace chosen)
      : roots_(roots), chosen_(std::move(chosen)) {}

  void go() { chosen_.go(); }
  base::Status add_to(model::Sample& sample);
  // Nothing is counted from here on.
  base::Status add_last_to(model::Sample& sample);
  // Waits as `wait` does, and takes what comes in meanwhile.
  WaitEnd wait_until(uint64_t monotonic_ns,
                     const std::function<WaitEnd(uint64_t)>& wait);

 private:
  const source::Roots& roots_;
  ChosenTrace chosen_;
};

}  // namespace tidemark::watch
