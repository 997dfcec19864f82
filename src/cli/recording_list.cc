#include "cli/recording_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using view::ServedRecording;

// A folder that holds more is not one of recordings.
constexpr size_t kMostRecordings = 10'000;
constexpr int kMostDepth = 4;

struct FileState {
  uint64_t bytes = 0;
  uint64_t changed_ns = 0;
};

std::optional<FileState> file_state(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return FileState{
      static_cast<uint64_t>(status.st_size),
      static_cast<uint64_t>(status.st_mtim.tv_sec) * base::kNsPerSecond +
          static_cast<uint64_t>(status.st_mtim.tv_nsec)};
}

// What was written last is not yet in the file itself, but beside it.
void add(const std::string& path, const std::string& name, bool is_live,
         std::vector<ServedRecording>& into) {
  const std::optional<FileState> file = file_state(path);
  if (!file || into.size() >= kMostRecordings) return;
  ServedRecording one;
  one.name = name;
  one.path = path;
  one.is_live = is_live;
  one.bytes = file->bytes;
  one.changed_ns = file->changed_ns;
  if (const std::optional<FileState> log = file_state(path + "-wal")) {
    one.bytes += log->bytes;
    one.changed_ns = std::max(one.changed_ns, log->changed_ns);
  }
  into.push_back(std::move(one));
}

void add_folder(const std::string& folder, std::vector<ServedRecording>& into) {
  std::error_code error;
  fs::recursive_directory_iterator at(
      folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (at.depth() >= kMostDepth) at.disable_recursion_pending();
    const std::string path = at->path().string();
    if (path.ends_with(".tdm")) {
      add(path, path.substr(folder.size() + 1), false, into);
    }
  }
}

}  // namespace

std::string state_of(const ServedRecording& recording) {
  return recording.path + ":" + std::to_string(recording.bytes) + ":" +
         std::to_string(recording.changed_ns);
}

base::Result<RecordingList> RecordingList::of(
    const std::vector<std::string>& places) {
  RecordingList list;
  for (const std::string& word : places) {
    std::error_code error;
    const fs::path real = fs::canonical(word, error);
    if (error) return base::fail_errno(word, error.value());
    Place place;
    place.path = real.string();
    place.name = real.filename().string();
    place.is_folder = fs::is_directory(real, error);
    list.places_.push_back(std::move(place));
  }
  list.look();
  return list;
}

void RecordingList::add_live(std::string path, std::string name) {
  Place place;
  place.path = std::move(path);
  place.name = std::move(name);
  place.is_live = true;
  places_.insert(places_.begin(), std::move(place));
}

bool RecordingList::look() {
  std::vector<ServedRecording> found;
  for (const Place& place : places_) {
    if (place.is_folder) {
      add_folder(place.path, found);
    } else {
      add(place.path, place.name, place.is_live, found);
    }
  }
  // By name, the live one first; two of one name are told apart by their path.
  std::stable_sort(found.begin(), found.end(),
                   [](const ServedRecording& a, const ServedRecording& b) {
                     if (a.is_live != b.is_live) return a.is_live;
                     return a.name < b.name;
                   });
  for (size_t i = 1; i < found.size(); ++i) {
    if (found[i].name == found[i - 1].name) found[i].name = found[i].path;
  }
  std::map<std::string, std::string> before;
  for (const ServedRecording& one : recordings_)
    before[one.name] = state_of(one);
  changed_.clear();
  for (const ServedRecording& one : found) {
    const auto known = before.find(one.name);
    if (known == before.end() || known->second != state_of(one)) {
      changed_.push_back(one.name);
    }
  }
  const bool has_changed =
      !changed_.empty() || found.size() != recordings_.size();
  recordings_ = std::move(found);
  return has_changed;
}

}  // namespace tidemark::cli
