// Follows page allocations in a thread of its own, as watch_trace() does, and
// makes each reading into what `top` shows of it. Who draws takes the newest.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/top_trace.h"
#include "base/result.h"
#include "source/roots.h"
#include "watch/top_supply.h"
#include "watch/trace_watch.h"

namespace tidemark::watch {

class TraceFeed {
 public:
  struct State {
    std::shared_ptr<const analysis::TopTrace> trace;  // null: none was read
    analysis::Tracing tracing = analysis::Tracing::Starting;
    std::string note;  // what went wrong
    bool operator==(const State&) const = default;
  };

  // No command may be among the options. `changed` is called by the thread
  // whenever the state is another. The roots must outlive it.
  static base::Result<std::unique_ptr<TraceFeed>> start(
      const source::Roots& roots, TraceWatchOptions options,
      std::function<void()> changed);
  TraceFeed(const TraceFeed&) = delete;
  TraceFeed& operator=(const TraceFeed&) = delete;
  // Ends the trace; nothing of it is left in the kernel.
  ~TraceFeed();

  State state();
  // Until it goes on, or why it does not.
  base::Status wait_for_start();
  // Soon.
  void stop() const { stop_.raise(); }
  // With the next reading.
  void name_code();
  // Stops it, and gives all there is to tell of it, once.
  base::Result<TraceOutcome> finish();

 private:
  TraceFeed(const source::Roots& roots, TraceWatchOptions options,
            std::function<void()> changed, WakeUp stop);

  void run();
  void take(model::Trace trace,
            const std::optional<model::TraceBefore>& before);
  void name_nameless(model::Trace& trace) const;
  void change(const std::function<void(State&)>& how);

  const source::Roots& roots_;
  TraceWatchOptions options_;
  std::function<void()> changed_;
  WakeUp stop_;

  // Of the thread alone, and of who has joined it.
  analysis::TraceHistoryKeeper keeper_;
  std::shared_ptr<const model::TraceBefore> before_;
  std::optional<base::Result<TraceOutcome>> outcome_;

  std::mutex mutex_;
  std::condition_variable has_changed_;
  State state_;
  std::optional<base::Error> failure_;
  bool is_naming_ = true;  // the first reading is looked at at once

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tidemark::watch
