// Starts a command so that nothing of it is missed: its process is forked and
// waits, is put where it belongs, and only then becomes the command.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::source {

struct CommandSpec {
  std::vector<std::string> arguments;  // the first is looked up in PATH
  std::string output_path;             // standard output; empty: inherited
  std::string error_path;
  bool output_to_error = false;      // standard output goes where errors go
  sigset_t signal_mask{};            // what it starts with
  bool ignores_broken_pipe = false;  // as we were started
};

struct Ending {
  int32_t wait_status = 0;
  uint64_t max_rss_bytes = 0;  // of one process; includes ours before exec
};

class Command {
 public:
  static base::Result<Command> prepare(const CommandSpec& spec);
  Command(Command&& other) noexcept;
  Command& operator=(Command&&) = delete;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  // One that was never released ends without having run.
  ~Command();

  pid_t pid() const { return pid_; }
  // Readable once it has ended.
  int end_fd() const { return pidfd_.get(); }

  // Lets it exec. NotFound when there is no such program, Denied when it may
  // not be executed, System for the rest.
  base::Status release();

  // Its ending, once; empty while it runs.
  std::optional<Ending> ending();

 private:
  Command() = default;
  pid_t pid_ = 0;
  base::Fd pidfd_;
  base::Fd gate_;    // closing it without a word makes the process give up
  base::Fd report_;  // errno of a failed exec; nothing when it worked
  std::string name_;
  bool is_released_ = false;
  bool is_reaped_ = false;
};

}  // namespace tidemark::source
