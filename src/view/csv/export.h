// Moments of a recording as CSV: a header line once, then the rows of each
// moment. Bytes are plain integers, times RFC 3339 in UTC, an unknown is empty,
// addresses are hexadecimal.
#pragma once

#include <string>

#include "model/moment.h"

namespace tidemark::view {

enum class ExportTable {
  Processes,   // a row for each tick and process
  Mappings,    // for each tick, process and mapping
  Categories,  // for each tick and kind of memory, over all processes
  Machine,     // for each tick at which the machine was read
};

std::string export_csv_head(ExportTable table);
std::string export_csv_rows(ExportTable table, const model::Moment& moment);

}  // namespace tidemark::view
