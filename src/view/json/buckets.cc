#include "view/json/buckets.h"

#include "view/json/use.h"

namespace tidemark::view {

using analysis::BucketLine;
using analysis::UndigestedObject;

std::string buckets_json(const analysis::BucketReport& report,
                         bool with_undigested,
                         base::JsonWriter::Layout layout) {
  base::JsonWriter json(layout);
  json.begin_object();
  write_head(json, "tidemark.buckets/1", report.realtime_ns, report.read_ns);
  json.member("total_bytes", report.total_bytes);
  json.member("unknown_process_count", report.unknown_process_count);
  json.key("buckets");
  json.begin_array();
  for (const BucketLine& line : report.lines) {
    json.begin_object();
    json.member("name", line.name);
    json.member("kind", bucket_kind_token(line.kind));
    json.member("bytes", line.bytes);
    json.member("object_count", line.object_count);
    json.member("process_count", line.process_count);
    json.end_object();
  }
  json.end_array();
  if (with_undigested) {
    json.key("undigested");
    json.begin_array();
    for (const UndigestedObject& one : report.undigested) {
      json.begin_object();
      json.member("name", one.name);
      json.member("bytes", one.bytes);
      json.member("share_count", one.share_count);
      json.member("process", one.process);
      json.member("pid", one.pid);
      json.member("cgroup", one.cgroup_path);
      json.end_object();
    }
    json.end_array();
  }
  write_notes(json, report.notes);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
