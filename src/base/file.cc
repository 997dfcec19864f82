#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/durable_file.h"

namespace tidemark::base {
namespace {

// Most files of /proc/PID fit; smaps has its own streaming reader.
constexpr size_t kPieceBytes = 8192;

int open_retrying(int directory, const char* name, int flags) {
  int fd = -1;
  do {
    fd = ::openat(directory, name, flags | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

}  // namespace

std::string Directory::join(std::string_view name) const {
  // As openat() and its like take it.
  if (name.starts_with('/')) return std::string(name);
  if (path.ends_with('/')) return path + std::string(name);
  return path + "/" + std::string(name);
}

Result<Directory> open_directory(const std::string& path) {
  Fd fd(open_retrying(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY));
  if (!fd) return fail_errno(path, errno);
  return Directory{std::move(fd), path};
}

Result<Directory> open_directory_at(const Directory& parent,
                                    const std::string& name) {
  Fd fd(open_retrying(parent.fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY));
  if (!fd) return fail_errno(parent.join(name), errno);
  return Directory{std::move(fd), parent.join(name)};
}

Result<Fd> open_file_at(const Directory& directory, const std::string& name) {
  Fd fd(open_retrying(directory.fd.get(), name.c_str(), O_RDONLY));
  if (!fd) return fail_errno(directory.join(name), errno);
  return fd;
}

Status read_file_at(const Directory& directory, const std::string& name,
                    std::string& buffer) {
  Result<Fd> fd = open_file_at(directory, name);
  if (!fd) return fd.error();
  // Through the stack, because a string can only grow by clearing what the read
  // is about to write: a third of the instructions of `ps` went there.
  std::array<char, kPieceBytes> piece;
  buffer.clear();
  while (true) {
    const ssize_t got = ::read(fd->get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(directory.join(name), errno);
    if (got == 0) return Ok{};
    buffer.append(piece.data(), static_cast<size_t>(got));
  }
}

Result<std::string> read_file_at(const Directory& directory,
                                 const std::string& name) {
  std::string contents;
  Status status = read_file_at(directory, name, contents);
  if (!status) return status.error();
  return contents;
}

Result<std::string> read_link_at(const Directory& directory,
                                 const std::string& name) {
  std::array<char, PATH_MAX> target{};
  ssize_t length = ::readlinkat(directory.fd.get(), name.c_str(), target.data(),
                                target.size());
  if (length < 0) return fail_errno(directory.join(name), errno);
  return std::string(target.data(), static_cast<size_t>(length));
}

namespace {

Result<std::vector<std::string>> list_entries(const Directory& directory,
                                              bool only_directories) {
  // A second descriptor, because closedir closes what fdopendir was given and
  // the position of the shared one would be moved.
  Fd again(open_retrying(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY));
  if (!again) return fail_errno(directory.path, errno);
  std::unique_ptr<DIR, CloseDir> dir(::fdopendir(again.get()));
  if (!dir) return fail_errno(directory.path, errno);
  again.release();  // closedir closes it from here on
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    // Kernel file systems tell the type with the name.
    if (only_directories && entry->d_type != DT_DIR) continue;
    names.emplace_back(name);
  }
  if (errno != 0) return fail_errno(directory.path, errno);
  return names;
}

}  // namespace

Result<std::vector<std::string>> list_directory(const Directory& directory) {
  return list_entries(directory, false);
}

Result<std::vector<std::string>> list_directories(const Directory& directory) {
  return list_entries(directory, true);
}

namespace {

// Not every file system can be asked for it, and those that cannot have no
// disk.
void sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) static_cast<void>(::fsync(fd.get()));
}

enum class Durability : uint8_t { None, Disk };

// What a name leads to: a link stays, and its file is the one that is replaced.
// A device or a pipe must never be, whoever we are: root would leave the
// machine with a file in the place of /dev/null.
Result<std::string> replaceable(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  if (error) return path;  // nothing there yet, or as opening it will tell
  if (can_replace_file(path)) return found.string();
  return fail(ErrorKind::Unsupported,
              "cannot write " + path + ": not a regular file");
}

Status replace(const std::string& name, std::string_view bytes,
               Durability durability) {
  const Result<std::string> found = replaceable(name);
  if (!found) return found.error();
  const std::string& path = *found;
  const std::string temporary =
      path + "." + std::to_string(::getpid()) + ".part";
  const auto give_up = [&](int error) {
    static_cast<void>(::unlink(temporary.c_str()));
    return fail_errno("cannot write " + path, error);
  };
  const Fd file(::open(temporary.c_str(),
                       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return give_up(errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return give_up(errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  const bool is_durable = durability == Durability::Disk;
  if (is_durable && ::fsync(file.get()) != 0 && errno != EINVAL) {
    return give_up(errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up(errno);
  if (is_durable) sync_folder_of(path);
  return Ok{};
}

}  // namespace

Status replace_file(const std::string& path, std::string_view bytes) {
  return replace(path, bytes, Durability::None);
}

Status replace_file_durably(const std::string& path, std::string_view bytes) {
  return replace(path, bytes, Durability::Disk);
}

bool can_replace_file(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

bool exists_at(const Directory& directory, const std::string& name) {
  return ::faccessat(directory.fd.get(), name.c_str(), F_OK, 0) == 0;
}

}  // namespace tidemark::base
