// `trace` and recordings: those it makes, and reports on those that were made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/trace_report.h"
#include "base/result.h"
#include "cli/command.h"
#include "model/trace.h"
#include "source/roots.h"
#include "store/recorder.h"
#include "store/recording.h"

namespace tidemark::cli {

// Whether the name is that of a recording: then the trace goes there, and the
// report to standard output.
bool is_recording_name(const std::string& path);

struct TraceRecordingOptions {
  std::string path;
  std::string targets;  // in words
  uint64_t period_ns = 1'000'000'000;
  bool overwrites = false;
};
base::Result<std::unique_ptr<store::Recorder>> make_trace_recorder(
    const source::Roots& roots, const TraceRecordingOptions& options);

// The last line of whoever made it.
void say_recorded(const CommonOptions& common, const store::Recorder& recorder);

// As it stood at one of the recording's ticks.
base::Result<model::Trace> recorded_trace(const store::Recording& recording,
                                          size_t tick_index);

// As it stood at a moment as find_moment() takes it, at the machine's "peak"
// or, for no word, at the end. Misused for reports that the file cannot give
// of that moment.
base::Result<model::Trace> read_recorded_trace(
    const std::string& path, const std::string& at,
    const std::vector<analysis::TraceReportSpec>& specs);

}  // namespace tidemark::cli
