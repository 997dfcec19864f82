// What `trace` says on standard error while it goes on.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/units.h"
#include "cli/command.h"
#include "cli/output.h"
#include "watch/trace_watch.h"

namespace tidemark::cli {

// The line on the terminal while it traces.
class TraceLine {
 public:
  explicit TraceLine(const CommonOptions& common)
      : is_quiet_(common.quiet),
        is_terminal_(!common.quiet && ::isatty(STDERR_FILENO) != 0) {}
  TraceLine(const TraceLine&) = delete;
  TraceLine& operator=(const TraceLine&) = delete;
  ~TraceLine() { wipe(); }

  // Whoever started us from a script waits for this line.
  void begin() const {
    if (is_quiet_ || is_terminal_) return;
    write_stderr("tidemark: tracing; SIGINT or SIGTERM brings the report\n");
  }
  void show(const watch::TraceProgress& progress) {
    if (progress.is_paused != was_paused_) say_pause(progress);
    if (!is_terminal_) return;
    is_shown_ = true;
    write_stderr(
        fmt::format("\r\x1b[Ktidemark: tracing  {}  {} held  {} at the peak  "
                    "Ctrl-C for the report",
                    base::clock_duration(progress.elapsed_ns),
                    base::long_size(progress.height.bytes),
                    base::long_size(progress.height.peak_bytes)));
  }
  void wipe() {
    if (std::exchange(is_shown_, false)) write_stderr("\r\x1b[K");
  }

 private:
  void say_pause(const watch::TraceProgress& progress) {
    was_paused_ = progress.is_paused;
    wipe();
    if (is_quiet_) return;
    write_stderr(fmt::format(
        "tidemark: {} at {}\n",
        was_paused_ ? "disk full; nothing is recorded" : "recording goes on",
        base::clock_duration(progress.elapsed_ns)));
  }

  bool is_quiet_;
  bool is_terminal_;
  bool is_shown_ = false;
  bool was_paused_ = false;
};

}  // namespace tidemark::cli
