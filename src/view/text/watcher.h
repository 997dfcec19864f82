// The listings of memory-watcher: KiB with a blank between the thousands.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/watcher_listing.h"
#include "analysis/watcher_machine.h"
#include "model/process.h"

namespace tidemark::view {

// Its listing of one process, to the blank.
struct WatcherHead {
  int32_t pid = 0;
  int64_t process_id = 0;
  std::string name;
  int64_t measurement_id = 0;
  std::string time;
  std::string metric;  // "Pss", "Rss"
};
std::string watcher_text(const WatcherHead& head, const model::Process& process,
                         uint64_t page_size_bytes,
                         const analysis::WatcherListing& listing,
                         size_t row_limit);

// Its listing of the machine: the same contents in the same order, in words of
// our own.
std::string watcher_machine_text(const std::string& time,
                                 const std::string& metric,
                                 const analysis::WatcherMachine& machine,
                                 size_t row_limit);

}  // namespace tidemark::view
