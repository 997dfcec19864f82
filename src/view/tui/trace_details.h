// What is known of the chosen row of a trace beyond its numbers.
#pragma once

#include <string>

#include "analysis/top_trace.h"
#include "view/tui/canvas.h"
#include "view/tui/trace_rows.h"

namespace tidemark::view::tui {

// How many rows draw_trace_details() takes.
inline constexpr int kTraceDetailRows = 9;

// "osm2pgsql 388M, postgres ×2 208M, 3 others 16.0M": who holds it, or of what
// it is where the rows are who.
std::string holders_words(const analysis::TopTrace& trace,
                          const TraceListing& listing,
                          const analysis::OutlineNode& node,
                          std::string_view separator);

void draw_trace_details(Canvas& canvas, const analysis::TopTrace& trace,
                        const TraceListing& listing,
                        const analysis::OutlineNode& node, int at);

}  // namespace tidemark::view::tui
