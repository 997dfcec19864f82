// Runs a program and takes what it prints, within limits of time and length.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark::base {

struct ChildLimits {
  std::chrono::milliseconds time{60'000};
  size_t output_bytes = 256 << 20;
  int stop_fd = -1;  // that is ready, or whose other end was closed, ends it
  bool shows_errors = false;  // as they come, on our own standard error
};

struct ChildOutput {
  int wait_status = 0;
  std::string output;
  std::string errors;  // the first 64 KiB of them, where they are not shown
};

// Blocks until it has ended; the program is a path, standard input is empty.
// System when it could not be started; Gone when it took too long, printed too
// much or was not wanted any more, and was killed for it.
Result<ChildOutput> run_child(const std::string& program,
                              const std::vector<std::string>& arguments,
                              const ChildLimits& limits);

}  // namespace tidemark::base
