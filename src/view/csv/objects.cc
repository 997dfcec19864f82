#include "view/csv/objects.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::view {
namespace {

// An empty field for unknown.
std::string number(const model::Reading<uint64_t>& reading) {
  return reading ? std::to_string(*reading) : "";
}

}  // namespace

std::string objects_csv(const analysis::ObjectReport& report) {
  const std::string time = base::rfc3339(report.realtime_ns);
  std::string out =
      "time,id,kind,rights,parent_id,child_count,map_count,process_count,"
      "fd_count,size_bytes,alloc_bytes,swap_bytes,deleted,found_by_pages,"
      "name\n";
  for (const analysis::ObjectRow& row : report.rows) {
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{:d},{:d},{}\n", time,
        base::csv_field(row.id), model::object_kind_token(row.kind),
        model::rights_letters(row.rights), base::csv_field(row.parent_id),
        row.child_count, row.map_count, row.process_count, row.fd_count,
        number(row.size_bytes), number(row.alloc_bytes), number(row.swap_bytes),
        row.is_deleted, row.is_found_by_pages, base::csv_field(row.name));
  }
  return out;
}

}  // namespace tidemark::view
