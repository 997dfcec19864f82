#include "view/json/treemap.h"

#include <optional>
#include <utility>
#include <vector>

#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::TreemapNode;
using base::JsonWriter;

std::string size_name(analysis::TreemapMeasure measure) {
  return std::string(analysis::treemap_measure_token(measure)) + "_bytes";
}

void write_node(JsonWriter& json, const TreemapNode& node) {
  json.begin_object();
  json.member("name", node.name);
  json.member("kind", analysis::treemap_kind_token(node.kind));
  json.member("bytes", node.bytes);
  if (node.count != 1 || node.kind == analysis::TreemapKind::Other) {
    json.member("count", node.count);
  }
  for (analysis::TreemapMeasure measure : analysis::kTreemapMeasures) {
    const std::optional<uint64_t>& bytes =
        node.sizes[static_cast<size_t>(measure)];
    if (bytes) json.member(size_name(measure), *bytes);
  }
  if (!node.id.empty()) json.member("id", node.id);
  if (node.pid) json.member("pid", *node.pid);
  if (node.category) {
    json.member("category", model::category_token(*node.category));
  }
  if (!node.children.empty()) {
    json.key("children");
    json.begin_array();
    for (const TreemapNode& child : node.children)
      write_node(json, child);
    json.end_array();
  }
  json.end_object();
}

}  // namespace

std::string treemap_json(const analysis::Treemap& map,
                         const analysis::TreemapLimits& limits,
                         JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.treemap/1");
  json.key("time");
  if (map.timestamp.empty()) {
    json.null();
  } else {
    json.string(map.timestamp);
  }
  json.member("by", analysis::treemap_measure_token(map.measure));
  json.member("total_bytes", map.root.bytes);
  json.member("process_count", map.process_count);
  json.member("unknown_process_count", map.unknown_process_count);
  json.key("tree");
  write_node(json, limits.depth || limits.top
                       ? analysis::folded_treemap(map.root, limits)
                       : map.root);
  std::vector<std::pair<std::string, std::string>> unknown;
  for (const auto& [measure, why] : map.unknown)
    unknown.emplace_back(size_name(measure), why);
  write_unknown(json, unknown);
  write_notes(json, map.notes);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
