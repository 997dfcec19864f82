// A capture of the machine as boxes inside of boxes. The rules are those of the
// reader that memgraph's format was made for: RAM and its parts, in the part
// that programs have their groups, in them processes, in those one box for the
// objects of one name. Every box is as large as what is in it: what no part of
// it explains is a box too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/category.h"
#include "model/graph_record.h"

namespace tidemark::analysis {

enum class TreemapKind : uint8_t {
  Kernel,  // RAM, or a part of it
  Job,     // a control group
  Process,
  Object,   // the objects of one name in a process
  Portion,  // of a process whose objects are not known
  Rest,     // what of a box is in no other
  Other,    // boxes that have no place of their own
};
std::string_view treemap_kind_token(TreemapKind kind);

enum class TreemapMeasure : uint8_t {
  Pss,
  Private,
  Charged,  // of groups: what the kernel charges them for
  Swap,
};
inline constexpr std::array<TreemapMeasure, 4> kTreemapMeasures = {
    TreemapMeasure::Pss, TreemapMeasure::Private, TreemapMeasure::Charged,
    TreemapMeasure::Swap};
std::string_view treemap_measure_token(TreemapMeasure measure);

// By each measure; empty: not known of this box.
using TreemapSizes =
    std::array<std::optional<uint64_t>, kTreemapMeasures.size()>;

struct TreemapNode {
  TreemapKind kind = TreemapKind::Kernel;
  std::string id;  // as in the capture; empty: made here
  std::string name;
  uint64_t bytes = 0;
  uint64_t count = 1;  // of objects of that name, of boxes in an Other
  std::optional<int32_t> pid;
  std::optional<model::Category> category;
  bool is_unknown = false;  // its zero stands for what could not be read
  TreemapSizes sizes;       // filled by add_treemap_sizes() alone
  // Largest first, then by name; they add up to `bytes`.
  std::vector<TreemapNode> children;
  bool operator==(const TreemapNode&) const = default;
};

struct Treemap {
  TreemapMeasure measure = TreemapMeasure::Pss;
  std::string timestamp;
  TreemapNode root;
  uint64_t process_count = 0;
  uint64_t unknown_process_count = 0;  // they have no box
  std::vector<std::string> notes;
  // Measures of which this capture tells nothing, and why.
  std::vector<std::pair<TreemapMeasure, std::string>> unknown;
};

// Refuses, with a sentence, what is no tree: an id that comes twice, a parent
// that is not there or of the wrong type, a circle, more than one root, nesting
// beyond all reason, and sums that no machine has. Parts that are larger than
// their whole (a capture whose numbers are of different moments) are no reason
// to: the whole is then drawn as large as its parts, and a note says so.
//
// By swap and by charge the root is that of the groups, since RAM has no part
// in it; a capture that does not tell is Unsupported.
base::Result<Treemap> make_treemap(const model::GraphRecords& graph,
                                   TreemapMeasure measure);

// Says of every box how large it is by the other measures. A box that is there
// by one of them alone (what is shared, by private) is added with no bytes, so
// that the boxes add up by each measure. Call it before a part is chosen.
void add_treemap_sizes(const model::GraphRecords& graph, Treemap& map);

// Largest first, then by name.
void sort_treemap(std::vector<TreemapNode>& children);

struct TreemapLimits {
  std::optional<uint64_t> depth;  // levels below the root
  std::optional<uint64_t> top;    // children of a box
};

// The tree with what is beyond the limits in boxes of kind Other.
TreemapNode folded_treemap(const TreemapNode& node,
                           const TreemapLimits& limits);

// The box with that id; else of the process with that pid; else the largest
// with that name. Null when there is none.
const TreemapNode* find_treemap_box(const TreemapNode& root,
                                    std::string_view word);

TreemapNode without_children(const TreemapNode& node);

// What the children behind the first `kept` are together.
TreemapNode treemap_other(const std::vector<TreemapNode>& children,
                          size_t kept);

}  // namespace tidemark::analysis
