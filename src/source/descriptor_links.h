// What /proc/PID/fd tells of descriptors: the link, and where that leads to
// memory what the target is and how it was opened. Many are read by several
// threads: of the 4 microseconds that one takes nearly all are the kernel's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/object.h"
#include "source/file_systems.h"

namespace tidemark::source {

struct FoundDescriptor {
  bool is_there = false;  // else: there is none, or no more
  std::string link;
  // What a path leads to; empty: not asked for, or closed meanwhile.
  std::optional<FileFacts> target;
  // Of pipes and of files with memory.
  model::ObjectRights rights;
};

// One for each number, in their order; `fds` is /proc/PID/fd. Paths are not to
// be followed in a copied tree, where they lead elsewhere.
std::vector<FoundDescriptor> read_descriptors(const base::Directory& fds,
                                              std::span<const uint32_t> numbers,
                                              bool follow_paths);

}  // namespace tidemark::source
