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

  // All of it or an error. Closed when the reader of a pipe has gone: not a
  // failure of ours, main ends quietly.
  base::Status write(std::string_view bytes);

  int fd() const { return file_ ? file_.get() : 1; }

 private:
  base::Fd file_;  // empty for standard output
  std::string name_;
};

// What cannot be said on standard error cannot be said at all.
void write_stderr(std::string_view text);

}  // namespace tidemark::cli
