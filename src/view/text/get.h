// `get` as text: a report for one reading, a line per tick for a watch.
#pragma once

#include <string>

#include "analysis/get_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct GetTextOptions {
  bool verbose = false;    // -v: each process and each category
  bool with_peak = true;   // the high-water mark of RSS
  bool only_peak = false;  // and nothing else
};

std::string get_text(const analysis::GetReport& report,
                     const GetTextOptions& options, const TextStyle& style);

// The head of a watch and one line of it.
std::string get_watch_head(const TextStyle& style);
std::string get_watch_line(const analysis::GetReport& report,
                           const GetTextOptions& options,
                           const TextStyle& style);

// What a watch ends with: the highest of its readings.
std::string get_peak_text(const analysis::GetReport& peak,
                          const analysis::PeakReadings& readings,
                          const GetTextOptions& options,
                          const TextStyle& style);

// Only the number, in bytes: "3865470976". "?" when it is unknown. With
// `peak_rss` the high-water mark of one process instead.
std::string get_bytes_line(const analysis::GetReport& report,
                           bool peak_rss = false);

// As Tezos memstat prints it: "Total: 1234 kB", with -v a line per process
// before it. kB are 1024 bytes, as everywhere in /proc.
std::string get_memstat_text(const analysis::GetReport& report, bool verbose,
                             bool in_bytes);

}  // namespace tidemark::view
