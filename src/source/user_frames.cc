#include "source/user_frames.h"

namespace tidemark::source {

uint32_t UserFrames::keep(const model::TraceFrame& frame) {
  auto [at, is_new] =
      known_.try_emplace({frame.address, frame.symbol, frame.module},
                         static_cast<uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(frame);
  return at->second;
}

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

const std::vector<uint32_t>* UserFrames::names_at(const Place& place) const {
  Place best = place;
  best.is_brief = false;
  auto found = names_.find(best);
  if (found == names_.end()) found = names_.find(place);
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace tidemark::source
