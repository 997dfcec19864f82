#include "cli/trace_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/trace_moment.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/moments.h"
#include "cli/output_file.h"
#include "cli/recording_head.h"
#include "store/recording.h"

namespace tidemark::cli {

using base::ErrorKind;

bool is_recording_name(const std::string& path) {
  return path.ends_with(".tdm");
}

base::Result<std::unique_ptr<store::Recorder>> make_trace_recorder(
    const source::Roots& roots, const TraceRecordingOptions& options) {
  base::Status status = make_room(options.path, options.overwrites,
                                  "tidemark trace -o FILE.tdm ...");
  if (!status) return status.error();
  store::RecorderOptions recorder_options;
  // Each reading is made safe at once where they are a second apart or more.
  constexpr uint64_t kSecond = 1'000'000'000;
  recorder_options.commit_every_ns = options.period_ns >= kSecond ? 0 : kSecond;
  return store::Recorder::create(
      options.path, recording_head(roots, options.targets, options.period_ns),
      recorder_options);
}

void say_recorded(const CommonOptions& common,
                  const store::Recorder& recorder) {
  const uint64_t count = recorder.state().committed_tick_count;
  print_note(
      common,
      fmt::format("recorded {} reading{} to {} ({})", base::grouped(count),
                  count == 1 ? "" : "s", base::visible(common.output_path),
                  base::long_size(recording_bytes(common.output_path))));
}

base::Result<model::Trace> recorded_trace(const store::Recording& recording,
                                          size_t tick_index) {
  base::Result<model::Trace> trace =
      recording.trace_at(recording.ticks()[tick_index].id);
  if (trace && !trace->before) {
    trace->before = model::unknown_before("not in the recording");
  }
  return trace;
}

base::Result<model::Trace> read_recorded_trace(
    const std::string& path, const std::string& at,
    const std::vector<analysis::TraceReportSpec>& specs) {
  const bool is_end = at.empty() || at == "end";
  const bool wants_growth =
      std::ranges::any_of(specs, [](const analysis::TraceReportSpec& spec) {
        return spec.kind == analysis::TraceReportKind::Growth;
      });
  if (wants_growth && !is_end) {
    return base::fail(ErrorKind::Misused,
                      "what only rises is kept of the end alone",
                      "leave out --at, or the report growth");
  }
  base::Result<store::Recording> recording = open_recording(path);
  if (!recording) return recording.error();
  const bool is_peak = at == "peak";
  base::Result<size_t> index =
      find_moment(*recording, is_end || is_peak ? "end" : at);
  if (!index) return index.error();
  base::Result<model::Trace> trace = recorded_trace(*recording, *index);
  if (!trace) return trace;
  return is_peak ? analysis::trace_at_peak(std::move(*trace))
                 : std::move(*trace);
}

}  // namespace tidemark::cli
