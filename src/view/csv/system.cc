#include "view/csv/system.h"

#include <fmt/format.h>

#include "base/clock.h"

namespace tidemark::view {

std::string system_csv_head() {
  std::string line = "time,total_bytes";
  for (size_t i = 0; i < analysis::kSystemColumnCount; ++i) {
    line += fmt::format(",{}_bytes", analysis::system_column_name(
                                         static_cast<analysis::SystemColumn>(i))
                                         .token);
  }
  return line + ",other_bytes,other_change_bytes\n";
}

std::string system_csv_row(const analysis::SystemReport& report) {
  std::string line = fmt::format("{},{}", base::rfc3339(report.realtime_ns),
                                 report.total_bytes);
  for (const analysis::SystemValue& value : report.columns) {
    line += value.bytes ? fmt::format(",{}", *value.bytes) : ",";
  }
  return line +
         fmt::format(",{},{}\n", report.other_bytes, report.other_change_bytes);
}

}  // namespace tidemark::view
