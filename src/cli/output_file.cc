#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/fd.h"

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

PendingFile::PendingFile(std::string path, std::string temporary_path)
    : path_(std::move(path)), temporary_path_(std::move(temporary_path)) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::move(other.temporary_path_)),
      is_pending_(std::exchange(other.is_pending_, false)) {}

PendingFile::~PendingFile() {
  if (is_pending_) static_cast<void>(remove_with_log(temporary_path_));
}

base::Result<PendingFile> PendingFile::reserve(const std::string& path) {
  // The number of the process, so that two at once do not write into one.
  const std::string temporary =
      path + "." + std::to_string(::getpid()) + ".part";
  base::Status status = remove_with_log(temporary);
  if (!status) return status.error();
  const base::Fd probe(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!probe) return base::fail_errno("cannot write " + path, errno);
  if (::unlink(temporary.c_str()) != 0) {
    return base::fail_errno("cannot write " + path, errno);
  }
  return PendingFile(path, temporary);
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
