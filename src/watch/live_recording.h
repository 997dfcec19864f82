// A recording that is made while somebody looks at it: by another process, so
// that neither waits for the other, in a folder that goes with us.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/target/guardian.h"

namespace tidemark::watch {

struct LiveRecordingOptions {
  std::string program;                 // this one
  std::vector<std::string> arguments;  // of `record`, without the file
  std::string kept_path;  // where it stays; empty: in a folder that goes
};

class LiveRecording {
 public:
  // Before any thread is started: it forks.
  static base::Result<LiveRecording> start(const LiveRecordingOptions& options);
  LiveRecording(LiveRecording&& other) noexcept;
  LiveRecording& operator=(LiveRecording&&) = delete;
  LiveRecording(const LiveRecording&) = delete;
  LiveRecording& operator=(const LiveRecording&) = delete;
  // Ends the recorder in order and removes the folder.
  ~LiveRecording();

  const std::string& path() const { return path_; }
  pid_t pid() const { return pid_; }
  // Its wait status, once it has ended; its own words went to standard error.
  std::optional<int> ending();

 private:
  LiveRecording() = default;
  std::string path_;
  std::string folder_;  // empty when it stays
  std::optional<source::Guardian> guardian_;
  pid_t pid_ = 0;
  std::optional<int> wait_status_;
};

}  // namespace tidemark::watch
