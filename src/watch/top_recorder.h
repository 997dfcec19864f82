// The recording that `top` makes beside what it shows. A thread of its own
// writes it, as `record` does: a slow disk must not delay what is shown, and
// what could not be written is a gap that says why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/recording.h"
#include "model/sample.h"
#include "store/recorder.h"
#include "watch/loop.h"
#include "watch/writer_thread.h"

namespace tidemark::watch {

class TopRecorder {
 public:
  // Misused when the file exists.
  static base::Result<std::unique_ptr<TopRecorder>> begin(
      std::string path, const model::RecordingInfo& info);

  const std::string& path() const { return path_; }
  // Of the file with its log.
  uint64_t file_bytes() const;
  // Ticks that were skipped right before this one.
  void note_missed(const Ticker::Tick& tick, uint64_t period_ns);
  // A sample to read into. Null: all wait for the disk, and the tick that is
  // due then is missed.
  std::unique_ptr<model::Sample> borrow(uint64_t due_ns);
  void give(std::unique_ptr<model::Sample> sample);
  void give_back(std::unique_ptr<model::Sample> sample);  // unread
  // Why nothing more is written; empty while all is well.
  std::string trouble();
  base::Status end();

 private:
  TopRecorder(std::string path, std::unique_ptr<store::Recorder> recorder);

  std::string path_;
  std::unique_ptr<store::Recorder> recorder_;
  std::vector<model::MissedTick> missed_;  // since the last sample
  WriterThread writer_;                    // last: it uses the recorder
};

}  // namespace tidemark::watch
