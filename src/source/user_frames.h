// Code of programs, each place kept once, and the files it is from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/trace.h"

namespace tidemark::source {

class UserFrames {
 public:
  uint32_t keep(const model::TraceFrame& frame);
  const model::TraceFrame& at(uint32_t index) const { return frames_[index]; }

  // What frames of the file call it: its name without folders, or all of its
  // path where another file has that name already.
  std::string keep_image(const std::string& path, const std::string& build_id);
  const std::vector<model::TraceImage>& images() const { return images_; }

 private:
  std::vector<model::TraceFrame> frames_;
  std::map<std::tuple<uint64_t, std::string, std::string>, uint32_t> known_;
  std::vector<model::TraceImage> images_;
};

}  // namespace tidemark::source
