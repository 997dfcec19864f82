// A tree for each measure is made by the rules of that measure, and laid over
// the others: each closes by itself, so what is laid over each other does too.
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/treemap.h"

namespace tidemark::analysis {
namespace {

// What tells the boxes in one box apart.
std::string box_key(const TreemapNode& node) {
  if (!node.id.empty()) return "i" + node.id;
  return std::string(treemap_kind_token(node.kind)) + ' ' + node.name;
}

using Places = std::unordered_map<std::string, size_t>;

Places places_of(const std::vector<TreemapNode>& children) {
  Places places;
  for (size_t i = 0; i < children.size(); ++i)
    places.emplace(box_key(children[i]), i);
  return places;
}

bool has_rest(const std::vector<TreemapNode>& children) {
  for (const TreemapNode& child : children) {
    if (child.kind == TreemapKind::Rest) return true;
  }
  return false;
}

void set_zero(TreemapNode& node, size_t measure) {
  node.sizes[measure] = 0;
  for (TreemapNode& child : node.children)
    set_zero(child, measure);
}

// The tree as it stands by one measure, for boxes that no other has.
TreemapNode sized(const TreemapNode& node, size_t measure, bool is_main) {
  TreemapNode made = without_children(node);
  if (!made.is_unknown) made.sizes[measure] = node.bytes;
  if (!is_main) made.bytes = 0;
  for (const TreemapNode& child : node.children)
    made.children.push_back(sized(child, measure, is_main));
  return made;
}

// Of what the other measure has no box: nothing where the whole is nothing or
// is parted without a rest, else it is not known.
void settle_missing(TreemapNode& child, const TreemapNode& other,
                    size_t measure) {
  const bool may_be_in_rest =
      other.children.empty() || has_rest(other.children) ||
      child.kind == TreemapKind::Job || child.kind == TreemapKind::Process;
  const bool is_nothing = other.bytes == 0 && !other.is_unknown;
  if (is_nothing || !may_be_in_rest) set_zero(child, measure);
}

// Lays the tree of one measure over the one that has the bytes.
struct Overlay {
  size_t main = 0;
  size_t measure = 0;

  // The main measure does not part it, the other does: what it has is in none
  // of those parts, and the boxes still add up.
  void keep_whole(TreemapNode& into, const TreemapNode& other) const {
    const bool is_leaf = into.children.empty() && !other.children.empty();
    if (!is_leaf || into.bytes == 0) return;
    TreemapNode rest;
    rest.kind = TreemapKind::Rest;
    rest.name = "not told apart";
    rest.bytes = into.bytes;
    rest.sizes[main] = into.bytes;
    into.children.push_back(std::move(rest));
  }

  void lay(TreemapNode& into, const TreemapNode& other) const {
    if (!other.is_unknown) into.sizes[measure] = other.bytes;
    keep_whole(into, other);
    const size_t old_count = into.children.size();
    const Places places = places_of(into.children);
    std::vector<bool> is_met(old_count);
    for (const TreemapNode& child : other.children) {
      const auto found = places.find(box_key(child));
      if (found == places.end()) {
        into.children.push_back(sized(child, measure, false));
      } else {
        is_met[found->second] = true;
        lay(into.children[found->second], child);
      }
    }
    for (size_t i = 0; i < old_count; ++i) {
      if (!is_met[i]) settle_missing(into.children[i], other, measure);
    }
    sort_treemap(into.children);
  }
};

TreemapNode* find_id(TreemapNode& root, const std::string& id) {
  if (root.id == id) return &root;
  for (TreemapNode& child : root.children) {
    // Groups and processes are in parts of RAM and in groups alone.
    if (child.kind != TreemapKind::Kernel && child.kind != TreemapKind::Job) {
      continue;
    }
    if (TreemapNode* found = find_id(child, id)) return found;
  }
  return nullptr;
}

}  // namespace

void add_treemap_sizes(const model::GraphRecords& graph, Treemap& map) {
  const size_t main = static_cast<size_t>(map.measure);
  map.root = sized(map.root, main, true);
  for (TreemapMeasure measure : kTreemapMeasures) {
    if (measure == map.measure) continue;
    base::Result<Treemap> other = make_treemap(graph, measure);
    if (!other) {
      map.unknown.emplace_back(measure, other.error().what);
      continue;
    }
    // One of the two may begin at the groups, the other at RAM.
    const Overlay overlay = {main, static_cast<size_t>(measure)};
    if (TreemapNode* same = find_id(map.root, other->root.id)) {
      overlay.lay(*same, other->root);
    } else if (TreemapNode* part = find_id(other->root, map.root.id)) {
      overlay.lay(map.root, *part);
    }
  }
}

}  // namespace tidemark::analysis
