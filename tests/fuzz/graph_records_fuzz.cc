// Captures of a machine and the boxes made of them: read or refused with a
// sentence; what is drawn adds up.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/treemap.h"
#include "parse/graph_records.h"
#include "view/json/treemap.h"
#include "view/text/treemap.h"

namespace {

using tidemark::analysis::TreemapNode;

void check_sums(const TreemapNode& node) {
  uint64_t sum = 0;
  for (const TreemapNode& child : node.children) {
    sum += child.bytes;
    check_sums(child);
  }
  if (!node.children.empty() && sum != node.bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  tidemark::base::Result<tidemark::model::GraphRecords> graph =
      tidemark::parse::parse_graph_records(text);
  if (!graph) {
    if (graph.error().what.empty()) std::abort();
    return 0;
  }
  for (tidemark::analysis::TreemapMeasure measure :
       {tidemark::analysis::TreemapMeasure::Pss,
        tidemark::analysis::TreemapMeasure::Private,
        tidemark::analysis::TreemapMeasure::Swap}) {
    tidemark::base::Result<tidemark::analysis::Treemap> map =
        tidemark::analysis::make_treemap(*graph, measure);
    if (!map) {
      if (map.error().what.empty()) std::abort();
      continue;
    }
    check_sums(map->root);
    tidemark::view::TextStyle style;
    style.utf8 = size % 2 == 0;
    (void)tidemark::view::treemap_text(*map, {}, style);
    (void)tidemark::view::treemap_json(
        *map, {}, tidemark::base::JsonWriter::Layout::OneLine);
  }
  return 0;
}
