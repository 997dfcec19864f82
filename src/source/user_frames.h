// Code of programs, each place kept once, and the files it is from.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
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

  // What a place in a file is called, the innermost first: processes come and
  // go with the same files, and finding names in debug information that is
  // packed takes tens of milliseconds. Null: nobody has found out.
  struct Place {
    std::string image;
    uint64_t address = 0;  // in the file
    bool has_line = false;
    bool is_brief = false;  // debug files were not asked
    auto operator<=>(const Place&) const = default;
  };
  const std::vector<uint32_t>* names_at(const Place& place) const;
  void keep_names(const Place& place, std::vector<uint32_t> frames) {
    names_[place] = std::move(frames);
  }

 private:
  std::vector<model::TraceFrame> frames_;
  std::map<std::tuple<uint64_t, std::string, std::string>, uint32_t> known_;
  std::vector<model::TraceImage> images_;
  std::map<Place, std::vector<uint32_t>> names_;
};

}  // namespace tidemark::source
