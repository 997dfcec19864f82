// Takes samples off the hands of the thread that reads on time. A disk can
// make a commit last half a second; the ticks must not notice.
//
// Samples are lent out and come back, so that their memory is used again and
// bounded: when all are waiting to be written, a tick is missed and said so.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "model/sample.h"

namespace tidemark::watch {

class WriterThread {
 public:
  // The sink is used by the thread alone until stop(). A sink that says NoSpace
  // is given the next sample anyway: what was lost is a gap.
  explicit WriterThread(model::Sink& sink);
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  ~WriterThread();

  // Null when all samples are on their way to the disk.
  std::unique_ptr<model::Sample> borrow();
  void give(std::unique_ptr<model::Sample> sample);
  void give_back(std::unique_ptr<model::Sample> sample);  // unused

  // Waits until all is written, tells the sink of `missed`, the ticks since the
  // last sample, finishes it and ends the thread.
  base::Status stop(std::vector<model::MissedTick> missed = {});

  // A failure that ends the recording; empty while all is well.
  std::optional<base::Error> failure();
  // The disk is full, and nothing is stored until that ends.
  bool is_paused();

 private:
  void run();
  void write(model::Sample& sample);

  model::Sink& sink_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::unique_ptr<model::Sample>> queue_;
  std::vector<std::unique_ptr<model::Sample>> free_;
  size_t lent_count_ = 0;
  bool is_stopping_ = false;
  bool is_paused_ = false;
  std::optional<base::Error> failure_;
  std::vector<model::MissedTick> lost_;  // since the last that was written
  std::thread thread_;
};

}  // namespace tidemark::watch
