// Paths of cached files as programs name them: the mount that the file system
// of a file is seen through, and what the kernel calls memory without a mount.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/page_census.h"
#include "parse/machine_files.h"
#include "source/roots.h"

namespace tidemark::source {

class FileNames {
 public:
  // Reads our own mounts; without them paths begin at their file system.
  explicit FileNames(const Roots& roots);
  std::string name(const model::CachedFile& file) const;

 private:
  std::map<std::pair<uint32_t, uint32_t>, std::vector<parse::Mount>> mounts_;
};

}  // namespace tidemark::source
