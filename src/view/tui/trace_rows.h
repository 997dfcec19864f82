// What of a trace stands in the rows of `top`: groups, and below them stacks as
// they are opened.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/top_trace.h"

namespace tidemark::view::tui {

enum class TraceMeasure : uint8_t {
  Now,
  Peak,    // when the machine was at its peak
  Growth,  // what only rises
};

enum class TraceColumn : uint8_t { Held, Peak, Rate, Name };

struct TraceListing {
  analysis::TraceGroup by = analysis::TraceGroup::Module;
  TraceMeasure measure = TraceMeasure::Now;
  TraceColumn sort = TraceColumn::Held;
  bool is_reversed = false;
};

struct TraceRow {
  analysis::OutlineNode node;
  uint32_t indent = 0;  // columns
  bool is_open = false;
};

// What the rows are sorted by and measured in.
uint64_t measured_pages(const analysis::OutlineNode& node,
                        TraceMeasure measure);
// Pages that came in each second since the reading before; empty: there is none
// before.
std::optional<int64_t> pages_per_second(const analysis::TopTrace& trace,
                                        const analysis::OutlineNode& node);
// "ext4", "kernel itself", "417 osm2pgsql -d x", "do_wp_page", safe to be
// drawn.
std::string row_name(const analysis::OutlineNode& node, bool has_programs);

// In order; nothing of which there is nothing.
std::vector<TraceRow> trace_rows(const analysis::TopTrace& trace,
                                 const TraceListing& listing,
                                 const std::set<std::string>& opened);

// What a row is looked for by.
using NameTest = std::function<bool(const std::string&)>;

// The first node by such a name, wherever it is closed: opens the way to it and
// gives its key. Empty when there is none.
std::string open_to(const analysis::TopTrace& trace,
                    const TraceListing& listing, const NameTest& is_wanted,
                    std::set<std::string>& opened);

// Opens a node and what is below it as far as there is but one way.
void open_way(const analysis::TopTrace& trace, const TraceListing& listing,
              const analysis::OutlineNode& node, std::set<std::string>& opened);

}  // namespace tidemark::view::tui
