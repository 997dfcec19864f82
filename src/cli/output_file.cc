#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

base::Status remove_with_log(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const std::string old = path + suffix;
    if (::unlink(old.c_str()) != 0 && errno != ENOENT) {
      return base::fail_errno(old, errno);
    }
  }
  return base::Ok{};
}

bool is_alive(int32_t pid) {
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

// The process that a file beside `name` is of: NAME.PID.part, and its logs.
std::optional<int32_t> owner_of(std::string_view file, std::string_view name) {
  if (!file.starts_with(name)) return std::nullopt;
  file.remove_prefix(name.size());
  for (std::string_view suffix : {"-wal", "-shm", "-journal"}) {
    if (file.ends_with(suffix)) file.remove_suffix(suffix.size());
  }
  constexpr std::string_view kEnd = ".part";
  if (!file.starts_with('.') || !file.ends_with(kEnd)) return std::nullopt;
  file.remove_prefix(1);
  if (file.size() <= kEnd.size()) return std::nullopt;
  file.remove_suffix(kEnd.size());
  const std::optional<int32_t> pid = base::parse_pid(file);
  // As we write it, and in no other way.
  if (!pid || std::to_string(*pid) != file) return std::nullopt;
  return pid;
}

// What others that were to write the same left when they were killed: our own
// user's plain files only, of processes that are no more.
void remove_leftovers(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string();
  std::error_code error;
  std::filesystem::directory_iterator entry(
      whole.has_parent_path() ? whole.parent_path() : ".", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::optional<int32_t> pid =
        owner_of(entry->path().filename().string(), name);
    if (!pid || is_alive(*pid)) continue;
    struct stat info {};
    const std::string left = entry->path().string();
    if (::lstat(left.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_uid != ::geteuid()) {
      continue;
    }
    ::unlink(left.c_str());
  }
}

}  // namespace

base::Status check_room(const std::string& path, bool overwrites,
                        const std::string& example) {
  if (path.empty() || path == "-") {
    return base::fail(ErrorKind::Misused, "no file to write to was named",
                      example);
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return base::Ok{};
  if (!S_ISREG(info.st_mode)) {
    return base::fail(ErrorKind::Misused, path + ": not a regular file");
  }
  if (info.st_size != 0 && !overwrites) {
    return base::fail(ErrorKind::Misused, path + ": it exists already",
                      "give another name, or --overwrite");
  }
  return base::Ok{};
}

base::Status make_room(const std::string& path, bool overwrites,
                       const std::string& example) {
  base::Status status = check_room(path, overwrites, example);
  if (status) status = remove_with_log(path);
  return status;
}

base::Status check_apart(const std::string& input, const std::string& output) {
  struct stat from {};
  struct stat to {};
  if (::stat(input.c_str(), &from) != 0 || ::stat(output.c_str(), &to) != 0) {
    return base::Ok{};
  }
  if (from.st_dev != to.st_dev || from.st_ino != to.st_ino) return base::Ok{};
  return base::fail(ErrorKind::Misused,
                    output + ": cannot write over what is read");
}

PendingFile::PendingFile(std::string path, std::string temporary_path,
                         std::unique_ptr<SignalSweep> sweep)
    : path_(std::move(path)),
      temporary_path_(std::move(temporary_path)),
      sweep_(std::move(sweep)) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::move(other.temporary_path_)),
      is_pending_(std::exchange(other.is_pending_, false)),
      sweep_(std::move(other.sweep_)) {}

PendingFile::~PendingFile() {
  if (is_pending_) static_cast<void>(remove_with_log(temporary_path_));
}

base::Result<PendingFile> PendingFile::reserve(const std::string& path) {
  // The number of the process, so that two at once do not write into one.
  const std::string temporary =
      path + "." + std::to_string(::getpid()) + ".part";
  remove_leftovers(path);
  base::Status status = remove_with_log(temporary);
  if (!status) return status.error();
  base::Result<std::unique_ptr<SignalSweep>> sweep = SignalSweep::start(
      [temporary] { static_cast<void>(remove_with_log(temporary)); });
  if (!sweep) return sweep.error();
  const base::Fd probe(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!probe) return base::fail_errno("cannot write " + path, errno);
  if (::unlink(temporary.c_str()) != 0) {
    return base::fail_errno("cannot write " + path, errno);
  }
  return PendingFile(path, temporary, std::move(*sweep));
}

base::Status PendingFile::keep() {
  // The log of a file that stood there is none of the new one's.
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    ::unlink((path_ + suffix).c_str());
  }
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return base::fail_errno("cannot write " + path_, errno);
  }
  is_pending_ = false;
  return base::Ok{};
}

}  // namespace tidemark::cli
