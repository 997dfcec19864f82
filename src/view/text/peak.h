// The text of `peak` and of each step of `replay`.
#pragma once

#include <string>

#include "analysis/peak_report.h"
#include "analysis/watcher_listing.h"
#include "model/process.h"
#include "view/text/style.h"

namespace tidemark::view {

struct PeakTextOptions {
  size_t process_rows = 10;
  bool is_step = false;  // of a replay: composition alone
};

std::string peak_text(const analysis::PeakReport& report,
                      const PeakTextOptions& options, const TextStyle& style);

// memory-watcher's listing of one process, to the blank.
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

// "heap of osm2pgsql +1.10 MiB/s over 40 min, robust slope, r² 0.99, …".
std::string trend_text(const analysis::Trend& trend, const TextStyle& style);

}  // namespace tidemark::view
