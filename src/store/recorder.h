// Writes a recording: takes whole samples, stores what has changed.
//
// The file is in WAL mode, so a kill at any moment costs at most the open
// transaction, which is committed at least every second of samples. Nothing
// here knows a clock or a thread: time is the samples'.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/recording.h"
#include "model/sample.h"

namespace tidemark::store {

struct RecorderOptions {
  uint64_t commit_every_ns = 1'000'000'000;
  // Of the file and its log. The oldest detail is thinned out before it is
  // reached; a sample that does not fit even so is NoSpace.
  std::optional<uint64_t> most_bytes;
};

struct RecorderState {
  uint64_t tick_count = 0;
  uint64_t committed_tick_count = 0;
  uint64_t file_bytes = 0;  // with its log, at the last commit
  uint64_t thinned_tick_count = 0;
};

class Recorder : public model::Sink {
 public:
  // Misused when the file exists: a recording is never written over.
  static base::Result<std::unique_ptr<Recorder>> create(
      const std::string& path, const model::RecordingInfo& info,
      const RecorderOptions& options);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override;

  // NoSpace when the disk is full: what was not committed is given up, the file
  // is valid, and the next sample is tried anew, as the first after a gap.
  base::Status accept(const model::Sample& sample) override;
  // Written by finish(), as before a tick that never comes.
  void miss(const std::vector<model::MissedTick>& missed) override;
  // Commits and closes; the result is one plain file without a log.
  base::Status finish() override;
  // Makes what was accepted so far safe.
  base::Status commit();

  RecorderState state() const;

 private:
  class Writer;
  explicit Recorder(std::unique_ptr<Writer> writer);
  std::unique_ptr<Writer> writer_;
};

}  // namespace tidemark::store
