#include "source/user_frames.h"

#include "base/clock.h"

namespace tidemark::source {

uint32_t UserFrames::keep(const model::TraceFrame& frame) {
  auto [at, is_new] =
      known_.try_emplace({frame.address, frame.symbol, frame.module},
                         static_cast<uint32_t>(entries_.size()));
  if (is_new) entries_.push_back({std::nullopt, {frame}});
  return at->second;
}

uint32_t UserFrames::keep(const Place& place) {
  auto [at, is_new] =
      places_.try_emplace(place, static_cast<uint32_t>(entries_.size()));
  if (is_new) entries_.push_back({place, {}});
  return at->second;
}

std::optional<uint32_t> UserFrames::find_file(
    const FileIdentity& identity) const {
  const auto found = known_files_.find(identity);
  if (found == known_files_.end()) return std::nullopt;
  return found->second;
}

uint32_t UserFrames::keep_file(const FileIdentity& identity, std::string path,
                               std::unique_ptr<CodeNames> names) {
  auto [at, is_new] =
      known_files_.try_emplace(identity, static_cast<uint32_t>(files_.size()));
  if (is_new) files_.push_back({std::move(path), std::move(names), {}});
  return at->second;
}

// What frames of the file call it: its name without folders, or all of its path
// where another file has that name already.
std::string UserFrames::keep_image(const std::string& path,
                                   const std::string& build_id) {
  std::string name = path.substr(path.rfind('/') + 1);
  for (const model::TraceImage& image : images_) {
    if (image.path == path && image.build_id == build_id) return image.name;
    if (image.name == name) name = path;
  }
  images_.push_back({name, path, build_id});
  return name;
}

const std::string& UserFrames::image_of(File& file) {
  if (file.image.empty()) {
    file.image = keep_image(file.path, file.names->build_id());
  }
  return file.image;
}

std::vector<model::TraceFrame> UserFrames::name(const Place& place) {
  const uint64_t started_ns = base::thread_cpu_ns();
  File& file = files_[place.file];
  std::vector<model::TraceFrame> frames =
      file.names->names_at(place.address, place.has_line);
  for (model::TraceFrame& frame : frames)
    frame.module = image_of(file);
  naming_ns_ += base::thread_cpu_ns() - started_ns;
  return frames;
}

void UserFrames::learn_names(const std::function<void()>& keep_up) {
  for (; learned_count_ < entries_.size(); ++learned_count_) {
    Entry& entry = entries_[learned_count_];
    if (!entry.place) continue;
    entry.frames = name(*entry.place);
    entry.place.reset();
    keep_up();
  }
}

}  // namespace tidemark::source
