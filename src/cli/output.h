// Where results go. Opened before the work starts, so that a bad path fails at
// once and not after an hour.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::cli {

class Output {
 public:
  // "" and "-" are standard output; a file is created or truncated.
  static base::Result<Output> open(const std::string& path);
  // Behind what is in the file, which is created if it is not there.
  static base::Result<Output> open_behind(const std::string& path);
  // For commands whose standard output belongs to somebody else.
  static Output standard_error();

  // All of it or an error. Closed when the reader of a pipe has gone: not a
  // failure of ours, main ends quietly.
  base::Status write(std::string_view bytes);

  int fd() const { return file_ ? file_.get() : standard_fd_; }

 private:
  static base::Result<Output> open_file(const std::string& path, int flags);

  base::Fd file_;  // empty for a standard stream
  int standard_fd_ = 1;
  std::string name_;
};

// From here on a write to a pipe nobody reads fails instead of ending us.
void ignore_broken_pipes();
// Whether we were started that way: a command we run must start as we did.
bool were_broken_pipes_ignored();

// What cannot be said on standard error cannot be said at all.
void write_stderr(std::string_view text);

}  // namespace tidemark::cli
