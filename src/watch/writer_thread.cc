#include "watch/writer_thread.h"

#include <utility>

namespace tidemark::watch {
namespace {

// Half a second of a busy disk at 10 Hz, and some.
constexpr size_t kMostSamples = 16;

constexpr const char* kDiskFull = "disk full";

}  // namespace

WriterThread::WriterThread(model::Sink& sink)
    : sink_(sink), thread_([this] { run(); }) {}

WriterThread::~WriterThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

std::unique_ptr<model::Sample> WriterThread::borrow() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!free_.empty()) {
    std::unique_ptr<model::Sample> sample = std::move(free_.back());
    free_.pop_back();
    return sample;
  }
  if (lent_count_ == kMostSamples) return nullptr;
  ++lent_count_;
  return std::make_unique<model::Sample>();
}

void WriterThread::give(std::unique_ptr<model::Sample> sample) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(sample));
  }
  has_work_.notify_one();
}

void WriterThread::give_back(std::unique_ptr<model::Sample> sample) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(sample));
}

std::optional<base::Error> WriterThread::failure() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

bool WriterThread::is_paused() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_paused_;
}

void WriterThread::write(model::Sample& sample) {
  std::vector<model::MissedTick> missed = std::move(sample.missed_before);
  sample.missed_before = lost_;
  sample.missed_before.insert(sample.missed_before.end(), missed.begin(),
                              missed.end());
  base::Status status = sink_.accept(sample);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (status) {
    is_paused_ = false;
    lost_.clear();
    return;
  }
  if (status.error().kind != base::ErrorKind::NoSpace) {
    failure_ = status.error();
    return;
  }
  is_paused_ = true;
  // With what it was to tell of gaps before it.
  lost_ = std::move(sample.missed_before);
  if (lost_.empty() || lost_.back().because != kDiskFull) {
    lost_.push_back({sample.started_monotonic_ns, 0, kDiskFull});
  }
  ++lost_.back().count;
}

void WriterThread::run() {
  while (true) {
    std::unique_ptr<model::Sample> sample;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      has_work_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      sample = std::move(queue_.front());
      queue_.pop_front();
    }
    if (!failure()) write(*sample);
    give_back(std::move(sample));
  }
}

base::Status WriterThread::stop(std::vector<model::MissedTick> missed) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  has_work_.notify_one();
  if (thread_.joinable()) thread_.join();
  missed.insert(missed.begin(), lost_.begin(), lost_.end());
  if (!missed.empty()) sink_.miss(missed);
  base::Status finished = sink_.finish();
  if (failure_) return *failure_;
  return finished;
}

}  // namespace tidemark::watch
