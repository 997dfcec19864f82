// Moments and processes of a recording as users name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/peak_report.h"
#include "base/result.h"
#include "store/recording.h"

namespace tidemark::cli {

// The tick at or before a moment, as an index into ticks(): a time of day in
// RFC 3339, a time since the start ("00:41:12", "90s"), "tick:17", "start",
// "end". NotFound, with the span, for one before the recording.
base::Result<size_t> find_moment(const store::Recording& recording,
                                 const std::string& word);

// The same, and "peak": the highest PSS.
base::Result<size_t> find_moment_or_peak(const store::Recording& recording,
                                         const std::string& word);

// Processes of a pid. A pid that was used more than once is refused with a list
// of its bearers, which `process_id` ("--process ID") tells apart.
base::Result<store::ProcessSet> choose_processes(
    const store::Recording& recording, const std::string& pid,
    const std::string& process_id);

// Refuses an empty recording: there is no moment to show.
base::Result<store::Recording> open_recording(const std::string& path);

// The same for the report of one moment, of which only what that needs is read
// where the word tells the tick.
base::Result<store::Recording> open_recording_at(const std::string& path,
                                                 const std::string& word);

}  // namespace tidemark::cli
