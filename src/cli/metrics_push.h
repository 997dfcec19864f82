// Sends series to a receiver, each reading once: what is read goes to a queue
// on disk, and from there to the receiver, by two threads, so that a receiver
// that is slow or gone costs no reading.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/http_push.h"
#include "base/result.h"
#include "cli/metrics_options.h"
#include "store/push_queue.h"
#include "watch/metrics_sampler.h"
#include "watch/periodic_thread.h"

namespace tidemark::cli {

class MetricsPush {
 public:
  // Misused for a URL that is none; the queue's own errors. `options` and
  // `sampler` must outlive it.
  static base::Result<std::unique_ptr<MetricsPush>> make(
      const MetricsCommandOptions& options, watch::MetricsSampler& sampler);
  MetricsPush(const MetricsPush&) = delete;
  MetricsPush& operator=(const MetricsPush&) = delete;
  ~MetricsPush();  // what is not sent stays in the queue

  void start();
  // Reads once and sends all there is. Fails where that is not possible; the
  // queue keeps it then.
  base::Status push_once();

 private:
  struct Counts {
    uint64_t sent = 0;      // batches, as those below
    uint64_t refused = 0;   // by the receiver, for good
    uint64_t unstored = 0;  // no room, in the queue or on the disk
    uint64_t failed_tries = 0;
  };
  enum class Sent { Taken, Refused, Later };

  MetricsPush(const MetricsCommandOptions& options,
              watch::MetricsSampler& sampler, base::PushTarget target,
              store::PushQueue queue);
  void add_own(std::vector<model::MetricFamily>& families);
  base::Status store_reading();
  std::optional<store::QueuedBatch> next_batch();
  base::Status settle(int64_t id, Sent sent);
  void send_until_end();
  Sent send(const std::string& batch, base::Error& why);
  void say_once(const base::Error& error);
  bool pause(uint64_t ns);  // false at the end

  const MetricsCommandOptions& options_;
  watch::MetricsSampler& sampler_;
  base::PushTarget target_;
  std::vector<model::MetricLabel> labels_;
  std::string token_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  store::PushQueue queue_;
  Counts counts_;
  std::string last_complaint_;
  bool is_ending_ = false;
  std::unique_ptr<watch::PeriodicThread> reader_;
  std::thread sender_;
};

}  // namespace tidemark::cli
