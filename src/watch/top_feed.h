// Reads for `top` in a thread of its own, so that a key is answered whatever
// reading costs. Each reading becomes a snapshot that never changes; who draws
// takes the newest.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/top_snapshot.h"
#include "base/result.h"
#include "model/recording.h"
#include "source/roots.h"
#include "watch/loop.h"
#include "watch/own_cost.h"
#include "watch/record_source.h"
#include "watch/top_digest.h"
#include "watch/top_recorder.h"
#include "watch/top_slow_reader.h"
#include "watch/top_supply.h"
#include "watch/trace_feed.h"

namespace tidemark::watch {

struct TopFeedOptions {
  std::string target;  // in words
  RecordSelection selection;
  BudgetOptions budget;
  std::vector<analysis::UserLabel> users;
  model::RecordingInfo recording_info;  // of recordings that are begun
  TraceWatchOptions trace;              // of one that is begun
};

class TopFeed : public TopSupply {
 public:
  // The roots must outlive it.
  static base::Result<std::unique_ptr<TopFeed>> start(
      const source::Roots& roots, TopFeedOptions options);
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;
  ~TopFeed() override;

  int fd() const override { return wake_.fd(); }
  Snapshot take() override;
  // Read again now and then.
  void want_maps(std::optional<model::ProcessId> process) override;
  void want(const analysis::TopNeeds& needs) override;
  // Begins a recording of what is read from now on; empty: ends it.
  void record_to(std::string path);
  void start_or_stop_trace() override;
  void name_code() override;

 private:
  TopFeed(const source::Roots& roots, TopFeedOptions options, WakeUp wake);

  struct Wishes {
    std::optional<model::ProcessId> maps;
    std::string record_path;
    analysis::TopTimelineOf timeline_of;
    uint64_t news = 0;  // of the slow reader
    bool is_tracing = false;
    uint64_t naming_count = 0;  // how often names were asked for
    bool is_stopping = false;
    bool operator==(const Wishes&) const = default;
  };

  void run();
  // Until then, or until something else is wished for.
  Wishes wait_until(uint64_t monotonic_ns, const Wishes& known);
  void tick(const Ticker::Tick& tick, const Wishes& wishes);
  base::Status collect(const Ticker::Tick& tick);
  void serve_maps(const Wishes& wishes);
  void serve_recording(const Wishes& wishes);
  void serve_trace(const Wishes& wishes);
  void add_trace(analysis::TopSnapshot& snapshot);
  void read_kernel();
  void publish();

  const source::Roots& roots_;
  TopFeedOptions options_;
  WakeUp wake_;

  // Of the thread alone.
  RecordSource source_;
  TopDigest digest_;
  model::Sample sample_;
  analysis::TopSnapshot current_;
  std::unique_ptr<TopRecorder> recorder_;
  std::string recorded_path_;
  std::optional<model::ProcessId> maps_of_;
  uint64_t maps_read_ns_ = 0;
  uint64_t kernel_read_ns_ = 0;
  OwnCost cost_;
  std::unique_ptr<TraceFeed> trace_;
  // The last of one that has ended; shared with snapshots.
  std::shared_ptr<const analysis::TopTrace> ended_trace_;
  uint64_t named_count_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  Wishes wishes_;
  Snapshot newest_;

  std::thread thread_;                   // it uses all of the above
  std::unique_ptr<TopSlowReader> slow_;  // last: it tells this thread
};

}  // namespace tidemark::watch
