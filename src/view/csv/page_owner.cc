#include "view/csv/page_owner.h"

#include <fmt/format.h>

#include <optional>

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::view {
namespace {

using analysis::PageOwnerRow;

template <typename T>
std::string number_field(const std::optional<T>& number) {
  return number ? std::to_string(*number) : "";
}

std::string stack_field(const PageOwnerRow& row) {
  std::string stack;
  for (const std::string& frame : row.frames)
    stack += (stack.empty() ? "" : ";") + frame;
  return base::csv_field(stack);
}

}  // namespace

std::string page_owner_csv(const analysis::PageOwnerReport& report) {
  const std::string time = base::rfc3339(report.realtime_ns);
  std::string out =
      "time,bytes,pages,block_count,pid,tgid,name,allocator,oldest_ns,newest_"
      "ns,"
      "stack\n";
  for (const PageOwnerRow& row : report.rows) {
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", time,
                    row.pages * report.page_size_bytes, row.pages, row.blocks,
                    number_field(row.pid), number_field(row.tgid),
                    row.name ? base::csv_field(*row.name) : "",
                    row.allocator ? page_allocator_token(*row.allocator) : "",
                    number_field(row.oldest_ns), number_field(row.newest_ns),
                    stack_field(row));
  }
  return out;
}

}  // namespace tidemark::view
