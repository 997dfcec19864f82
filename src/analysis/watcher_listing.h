// How memory-watcher groups the mappings of a process, for its listing: by name
// and by address alone, so only the main thread's stack is a stack, and what
// has no name behind a library is that library's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/mapping.h"

namespace tidemark::analysis {

struct WatcherListing {
  uint64_t stack_bytes = 0;
  uint64_t heap_bytes = 0;
  uint64_t anonymous_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> named;  // largest first
  uint64_t sum_bytes = 0;
};

// Whether all of them have it: those that were only scanned lack PSS.
bool all_have(const std::vector<model::Mapping>& mappings,
              model::SmapsField field);

WatcherListing watcher_listing(const std::vector<model::Mapping>& mappings,
                               model::SmapsField field);

}  // namespace tidemark::analysis
