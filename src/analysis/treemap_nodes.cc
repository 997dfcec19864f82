#include <algorithm>
#include <optional>
#include <tuple>

#include "analysis/treemap.h"
#include "base/text.h"

namespace tidemark::analysis {

std::string_view treemap_kind_token(TreemapKind kind) {
  switch (kind) {
    case TreemapKind::Kernel:
      return "kernel";
    case TreemapKind::Job:
      return "group";
    case TreemapKind::Process:
      return "process";
    case TreemapKind::Object:
      return "object";
    case TreemapKind::Portion:
      return "portion";
    case TreemapKind::Rest:
      return "rest";
    case TreemapKind::Other:
      break;
  }
  return "other";
}

std::string_view treemap_measure_token(TreemapMeasure measure) {
  switch (measure) {
    case TreemapMeasure::Private:
      return "private";
    case TreemapMeasure::Charged:
      return "charged";
    case TreemapMeasure::Swap:
      return "swap";
    case TreemapMeasure::Pss:
      break;
  }
  return "pss";
}

void sort_treemap(std::vector<TreemapNode>& children) {
  std::ranges::sort(children, [](const TreemapNode& a, const TreemapNode& b) {
    return std::tie(b.bytes, a.name, a.id) < std::tie(a.bytes, b.name, b.id);
  });
}

namespace {

// What is known of a size adds up to the box they are in: those of which it is
// not known have no part in it. Empty when all are such.
std::optional<uint64_t> sum_behind(const std::vector<TreemapNode>& children,
                                   size_t kept, size_t measure) {
  std::optional<uint64_t> sum;
  for (size_t i = kept; i < children.size(); ++i) {
    const std::optional<uint64_t>& size = children[i].sizes[measure];
    if (size) sum = sum.value_or(0) + *size;
  }
  return sum;
}

}  // namespace

TreemapNode treemap_other(const std::vector<TreemapNode>& children,
                          size_t kept) {
  TreemapNode other;
  other.kind = TreemapKind::Other;
  other.name = "other";
  other.count = children.size() - kept;
  for (size_t i = kept; i < children.size(); ++i)
    other.bytes += children[i].bytes;
  for (size_t measure = 0; measure < other.sizes.size(); ++measure)
    other.sizes[measure] = sum_behind(children, kept, measure);
  return other;
}

const TreemapNode* find_treemap_box(const TreemapNode& root,
                                    std::string_view word) {
  const std::optional<int32_t> pid = base::parse_pid(word);
  const TreemapNode* of_pid = nullptr;
  const TreemapNode* of_name = nullptr;
  std::vector<const TreemapNode*> waiting = {&root};
  while (!waiting.empty()) {
    const TreemapNode* node = waiting.back();
    waiting.pop_back();
    if (!node->id.empty() && node->id == word) return node;
    if (pid && node->pid == pid) of_pid = node;
    if (node->name == word && (!of_name || node->bytes > of_name->bytes)) {
      of_name = node;
    }
    for (const TreemapNode& child : node->children)
      waiting.push_back(&child);
  }
  return of_pid ? of_pid : of_name;
}

TreemapNode without_children(const TreemapNode& node) {
  TreemapNode alone;
  alone.kind = node.kind;
  alone.id = node.id;
  alone.name = node.name;
  alone.bytes = node.bytes;
  alone.count = node.count;
  alone.pid = node.pid;
  alone.category = node.category;
  alone.is_unknown = node.is_unknown;
  alone.sizes = node.sizes;
  return alone;
}

TreemapNode folded_treemap(const TreemapNode& node,
                           const TreemapLimits& limits) {
  TreemapNode kept = without_children(node);
  if (limits.depth == 0) return kept;
  TreemapLimits below = limits;
  if (below.depth) --*below.depth;
  const size_t count = node.children.size();
  const size_t shown = static_cast<size_t>(
      std::min<uint64_t>(limits.top.value_or(count), count));
  for (size_t i = 0; i < shown; ++i)
    kept.children.push_back(folded_treemap(node.children[i], below));
  if (shown < count) {
    kept.children.push_back(treemap_other(node.children, shown));
  }
  return kept;
}

}  // namespace tidemark::analysis
