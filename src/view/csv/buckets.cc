#include "view/csv/buckets.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::view {

std::string buckets_csv(const analysis::BucketReport& report) {
  const std::string time = base::rfc3339(report.realtime_ns);
  std::string out = "time,name,kind,bytes,object_count,process_count\n";
  for (const analysis::BucketLine& line : report.lines) {
    out += fmt::format("{},{},{},{},{},{}\n", time, base::csv_field(line.name),
                       bucket_kind_token(line.kind), line.bytes,
                       line.object_count, line.process_count);
  }
  return out;
}

std::string undigested_csv(const analysis::BucketReport& report) {
  const std::string time = base::rfc3339(report.realtime_ns);
  std::string out = "time,name,bytes,share_count,pid,process,cgroup\n";
  for (const analysis::UndigestedObject& one : report.undigested) {
    out += fmt::format("{},{},{},{},{},{},{}\n", time,
                       base::csv_field(one.name), one.bytes, one.share_count,
                       one.pid, base::csv_field(one.process),
                       base::csv_field(one.cgroup_path));
  }
  return out;
}

}  // namespace tidemark::view
