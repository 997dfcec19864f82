// `trace` on a terminal: the trace view of `top`.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/trace_options.h"
#include "model/trace.h"
#include "source/roots.h"
#include "watch/trace_watch.h"

namespace tidemark::cli {

// Whether there is somebody to look at it: a terminal to draw on, that is
// nobody else's. A command that is started writes there as it likes.
bool wants_screen(const TraceCommandOptions& options);

// Whether the reports were asked for, or are all that is left of what was
// traced.
bool is_report_asked_for(const TraceCommandOptions& options);

// As watch_trace(), to be looked at while it goes on. Without the screen, as
// `hooks` say, where the terminal has no way to place a cursor.
base::Result<watch::TraceOutcome> watch_trace_on_screen(
    const source::Roots& roots, const TraceCommandOptions& options,
    const watch::TraceHooks& hooks);

// What was read already, until q.
base::Status show_trace(const source::Roots& roots,
                        const TraceCommandOptions& options,
                        const std::string& target, const model::Trace& trace);

// As it stood at any moment of a recording.
base::Status show_recorded_trace(const TraceCommandOptions& options);

// To a file of its own in the current folder; where that is, in words, or why
// there is none.
std::string write_trace_report(const model::Trace& trace);

}  // namespace tidemark::cli
