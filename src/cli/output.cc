#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace tidemark::cli {
namespace {

// Of the process, like the disposition it remembers.
void (*inherited_broken_pipe)(int) = SIG_DFL;

base::Status write_all(int fd, std::string_view bytes,
                       const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::fail_errno("cannot write " + name, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return base::Ok{};
}

// One that was recorded cannot be made again, and mostly it is the input that
// was named twice.
bool is_database(const std::string& path) {
  constexpr std::string_view kBegin = "SQLite format 3";
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return false;
  std::array<char, kBegin.size()> begin{};
  const ssize_t got = ::pread(file.get(), begin.data(), begin.size(), 0);
  return got == static_cast<ssize_t>(begin.size()) &&
         std::string_view(begin.data(), begin.size()) == kBegin;
}

}  // namespace

base::Result<Output> Output::open(const std::string& path) {
  Output output;
  if (path.empty() || path == "-") {
    output.name_ = "standard output";
    // main puts a read-only descriptor in the place of a closed one.
    if ((::fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
      return base::fail_errno("cannot write standard output", EBADF);
    }
    return output;
  }
  return open_file(path, O_TRUNC);
}

base::Result<Output> Output::open_behind(const std::string& path) {
  return open_file(path, O_APPEND);
}

base::Result<Output> Output::open_file(const std::string& path, int flags) {
  if (is_database(path)) {
    return base::fail(base::ErrorKind::Misused,
                      path + " is a recording and is not written over",
                      "name another file, or remove it first");
  }
  Output output;
  output.name_ = path;
  output.file_ = base::Fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666));
  if (!output.file_) return base::fail_errno("cannot write " + path, errno);
  return output;
}

Output Output::standard_error() {
  Output output;
  output.standard_fd_ = STDERR_FILENO;
  output.name_ = "standard error";
  return output;
}

base::Status Output::write(std::string_view bytes) {
  return write_all(fd(), bytes, name_);
}

void ignore_broken_pipes() {
  inherited_broken_pipe = std::signal(SIGPIPE, SIG_IGN);
}

bool were_broken_pipes_ignored() {
  return inherited_broken_pipe == SIG_IGN;
}

void write_stderr(std::string_view text) {
  // Nowhere is left to report a failure of this.
  static_cast<void>(write_all(STDERR_FILENO, text, "standard error"));
}

}  // namespace tidemark::cli
