#include "view/csv/allocinfo.h"

#include <fmt/format.h>

#include <optional>

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::view {
namespace {

std::string number_field(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : "";
}

}  // namespace

std::string allocinfo_csv_head() {
  return "time,bytes,call_count,grown_bytes,grown_call_count,module,file,line,"
         "function,"
         "site_count,inexact\n";
}

std::string allocinfo_csv_rows(const analysis::AllocinfoReport& report) {
  const std::string time = base::rfc3339(report.realtime_ns);
  std::string out;
  for (const analysis::AllocinfoRow& row : report.rows) {
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{}\n", time, row.bytes, row.calls,
        number_field(row.grown_bytes), number_field(row.grown_calls),
        base::csv_field(row.module), base::csv_field(row.file),
        row.file.empty() ? "" : std::to_string(row.line),
        base::csv_field(row.function), row.site_count, row.is_inexact ? 1 : 0);
  }
  return out;
}

}  // namespace tidemark::view
