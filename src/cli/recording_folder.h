// A folder that a recorder which never ends writes into: one file after the
// other, each named by when it began, and the oldest go so that all of them
// stay below a size.
//
// Only files of such names are counted and removed; whatever else is put there
// stays. One recorder at a time has the folder, since a second one would take
// the first one's file for an old one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::cli {

class RecordingFolder {
 public:
  // Made when it is not there. Misused when another recorder has it.
  static base::Result<RecordingFolder> take(const std::string& path);

  // Removes the oldest recordings until those that stay have at most `bytes`;
  // the paths of what went.
  base::Result<std::vector<std::string>> shrink(uint64_t bytes) const;

  // tidemark-20261116T163100Z.tdm, or the same with -2 behind it when the clock
  // was set back.
  std::string next_path(uint64_t realtime_ns) const;

 private:
  RecordingFolder(std::string path, base::Fd held)
      : path_(std::move(path)), held_(std::move(held)) {}

  std::string path_;
  base::Fd held_;
};

// Whether the disk below this file has room.
bool has_disk_room(const std::string& path);

// Tells a recording that has reached its own limit from one whose disk is full:
// it is paused although the disk has had room for a while. Not at once, since
// after a full disk the next sample must be tried first.
class LimitWatch {
 public:
  bool is_reached(bool is_paused, bool has_room, uint64_t now_ns);

 private:
  std::optional<uint64_t> since_ns_;
};

}  // namespace tidemark::cli
