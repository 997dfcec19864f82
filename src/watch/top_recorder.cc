#include "watch/top_recorder.h"

#include <sys/stat.h>

#include <utility>

namespace tidemark::watch {

base::Result<std::unique_ptr<TopRecorder>> TopRecorder::begin(
    std::string path, const model::RecordingInfo& info) {
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(path, info, {});
  if (!recorder) return recorder.error();
  return std::unique_ptr<TopRecorder>(
      new TopRecorder(std::move(path), std::move(*recorder)));
}

TopRecorder::TopRecorder(std::string path,
                         std::unique_ptr<store::Recorder> recorder)
    : path_(std::move(path)),
      recorder_(std::move(recorder)),
      writer_(*recorder_) {}

// The recorder itself belongs to the thread that writes.
uint64_t TopRecorder::file_bytes() const {
  uint64_t bytes = 0;
  for (const std::string& path : {path_, path_ + "-wal"}) {
    struct stat file {};
    if (::stat(path.c_str(), &file) == 0)
      bytes += static_cast<uint64_t>(file.st_size);
  }
  return bytes;
}

void TopRecorder::note_missed(const Ticker::Tick& tick, uint64_t period_ns) {
  for (model::MissedTick& missed : missed_ticks(tick, period_ns))
    missed_.push_back(std::move(missed));
}

std::unique_ptr<model::Sample> TopRecorder::borrow(uint64_t due_ns) {
  std::unique_ptr<model::Sample> sample = writer_.borrow();
  if (!sample) missed_.push_back({due_ns, 1, "the disk is too slow"});
  return sample;
}

void TopRecorder::give(std::unique_ptr<model::Sample> sample) {
  sample->missed_before = std::exchange(missed_, {});
  writer_.give(std::move(sample));
}

void TopRecorder::give_back(std::unique_ptr<model::Sample> sample) {
  writer_.give_back(std::move(sample));
}

std::string TopRecorder::trouble() {
  if (const std::optional<base::Error> failure = writer_.failure())
    return failure->what;
  return writer_.is_paused() ? "the disk is full: not recording for now" : "";
}

base::Status TopRecorder::end() {
  return writer_.stop(std::exchange(missed_, {}));
}

}  // namespace tidemark::watch
