#include "cli/recording_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "cli/output_file.h"
#include "cli/recording_head.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tidemark-";
constexpr std::string_view kSuffix = ".tdm";

struct OldRecording {
  std::string path;
  int64_t changed_ns = 0;
  uint64_t bytes = 0;  // with its log
};

// As next_path writes them, and no other.
bool is_our_name(std::string_view name) {
  constexpr std::string_view kLetters = "0123456789TZ-";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(kSuffix.size(), name.size()));
  return !name.empty() &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

base::Result<std::vector<OldRecording>> recordings_in(const std::string& path) {
  std::vector<OldRecording> found;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!is_our_name(entry->path().filename().string())) continue;
    OldRecording one;
    one.path = entry->path().string();
    struct stat info {};
    if (::lstat(one.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
      continue;
    }
    one.changed_ns =
        info.st_mtim.tv_sec * static_cast<int64_t>(base::kNsPerSecond) +
        info.st_mtim.tv_nsec;
    one.bytes = recording_bytes(one.path);
    found.push_back(std::move(one));
  }
  if (error) return base::fail_errno(path, error.value());
  return found;
}

// 20261116T163100Z: sorts by time, and is a file name everywhere.
std::string compact_time(uint64_t realtime_ns) {
  std::string compact;
  for (char letter : base::rfc3339(realtime_ns)) {
    if (letter == '.') break;
    if (letter != '-' && letter != ':' && letter != 'Z') compact += letter;
  }
  return compact + 'Z';
}

}  // namespace

base::Result<RecordingFolder> RecordingFolder::take(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return base::fail_errno(path, error.value());
  base::Fd held(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held) return base::fail_errno(path, errno);
  if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return base::fail_errno(path, errno);
    return base::fail(base::ErrorKind::Misused,
                      path + ": another recorder writes there",
                      "give another folder, or end the other one");
  }
  return RecordingFolder(path, std::move(held));
}

base::Result<std::vector<std::string>> RecordingFolder::shrink(
    uint64_t bytes) const {
  base::Result<std::vector<OldRecording>> found = recordings_in(path_);
  if (!found) return found.error();
  std::ranges::sort(*found, [](const OldRecording& a, const OldRecording& b) {
    return std::pair(a.changed_ns, a.path) < std::pair(b.changed_ns, b.path);
  });
  uint64_t sum = 0;
  for (const OldRecording& one : *found)
    sum += one.bytes;
  std::vector<std::string> gone;
  for (const OldRecording& one : *found) {
    if (sum <= bytes) break;
    // Also what it has in its log.
    base::Status removed = make_room(one.path, true, "");
    if (!removed) return removed.error();
    sum -= one.bytes;
    gone.push_back(one.path);
  }
  return gone;
}

bool has_disk_room(const std::string& path) {
  constexpr uint64_t kSomeBytes = uint64_t{4} << 20;
  struct statvfs info {};
  return ::statvfs(path.c_str(), &info) == 0 &&
         info.f_bavail * info.f_frsize > kSomeBytes;
}

bool LimitWatch::is_reached(bool is_paused, bool has_room, uint64_t now_ns) {
  constexpr uint64_t kWhileNs = 10'000'000'000;
  if (!is_paused || !has_room) {
    since_ns_.reset();
    return false;
  }
  if (!since_ns_) since_ns_ = now_ns;
  return now_ns - *since_ns_ >= kWhileNs;
}

std::string RecordingFolder::next_path(uint64_t realtime_ns) const {
  const std::string start =
      path_ + "/" + std::string(kPrefix) + compact_time(realtime_ns);
  std::string path = start + std::string(kSuffix);
  std::error_code error;
  for (int number = 2; fs::exists(path, error); ++number) {
    path = start + "-" + std::to_string(number) + std::string(kSuffix);
  }
  return path;
}

}  // namespace tidemark::cli
