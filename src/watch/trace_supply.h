// A trace for `top` that shows nothing else: one that goes on, or one that was
// read from a file.
#pragma once

#include <memory>
#include <string>

#include "analysis/top_snapshot.h"
#include "base/result.h"
#include "model/trace.h"
#include "source/roots.h"
#include "watch/own_cost.h"
#include "watch/top_supply.h"
#include "watch/trace_feed.h"

namespace tidemark::watch {

class TraceSupply : public TopSupply {
 public:
  // Goes on when it comes back. `target` is in words; the roots must outlive
  // it.
  static base::Result<std::unique_ptr<TraceSupply>> start(
      const source::Roots& roots, std::string target,
      TraceWatchOptions options);
  // What was read already.
  static base::Result<std::unique_ptr<TraceSupply>> of(
      const source::Roots& roots, std::string target, model::Trace trace);

  int fd() const override { return wake_->fd(); }
  Snapshot take() override;
  void want_maps(std::optional<model::ProcessId> /*process*/) override {}
  bool is_over() override;
  void start_or_stop_trace() override;
  void name_code() override;

  // Ends a trace that goes on; all there is to tell of it.
  base::Result<TraceOutcome> finish() { return feed_->finish(); }

 private:
  TraceSupply(const source::Roots& roots, std::string target, WakeUp wake);

  const source::Roots& roots_;
  std::string target_;
  // In a place of its own: the thread of the feed raises it.
  std::unique_ptr<WakeUp> wake_;
  OwnCost cost_;
  std::shared_ptr<const analysis::TopTrace> still_;  // shared with snapshots
  bool was_stopped_ = false;
  std::string note_;
  std::unique_ptr<TraceFeed> feed_;  // last: its thread uses the above
};

}  // namespace tidemark::watch
