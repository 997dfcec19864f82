#include "view/text/treemap.h"

#include <fmt/format.h>

#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/table.h"
#include "view/text/treemap_words.h"

namespace tidemark::view {
namespace {

using analysis::Treemap;
using analysis::TreemapBox;
using analysis::TreemapKind;
using analysis::TreemapMeasure;
using analysis::TreemapNode;

std::string counted(const TextStyle& style, const TreemapNode& node,
                    std::string_view name) {
  std::string shown = name.empty() ? "(no name)" : base::visible(name);
  if (node.kind == TreemapKind::Other) {
    return fmt::format("{} ({})", shown, base::grouped(node.count));
  }
  if (node.count < 2) return shown;
  return shown + (style.utf8 ? " ×" : " x") + base::grouped(node.count);
}

void add_rows(const TextStyle& style, const TreemapBox& box, uint64_t total,
              size_t depth, size_t& number, Table& table) {
  const TreemapNode& node = box.node;
  ++number;
  if (!box.cells && node.bytes == 0) return;
  const bool is_made =
      node.kind == TreemapKind::Rest || node.kind == TreemapKind::Other;
  const Ink ink = is_made ? Ink::Dim : Ink::Plain;
  std::string name = std::string(depth * 2, ' ') + treemap_name(style, node);
  if (node.pid) name += fmt::format(" [{}]", *node.pid);
  table.add_row({{std::to_string(number), Ink::Dim},
                 {dense(style, std::optional(node.bytes)), ink},
                 {base::percent(node.bytes, total), ink},
                 {std::string(treemap_kind_token(node.kind)), Ink::Dim},
                 {name, ink}});
  for (const TreemapBox& child : box.children)
    add_rows(style, child, total, depth + 1, number, table);
}

std::string_view words_of(TreemapMeasure measure) {
  switch (measure) {
    case TreemapMeasure::Private:
      return "processes by what is theirs alone";
    case TreemapMeasure::Charged:
      return "groups by what they are charged for";
    case TreemapMeasure::Swap:
      return "what is swapped out";
    case TreemapMeasure::Pss:
      break;
  }
  return "processes by their share";
}

std::string notes_of(const Treemap& map, const TextStyle& style) {
  std::string text;
  if (map.unknown_process_count > 0) {
    const bool is_one = map.unknown_process_count == 1;
    text += wrapped(
        style, Ink::Dim, 0,
        fmt::format("{} process{} could not be read; what {} "
                    "is in no process here",
                    base::grouped(map.unknown_process_count),
                    is_one ? "" : "es", is_one ? "it has" : "they have"));
  }
  for (const std::string& note : map.notes)
    text += wrapped(style, Ink::Dim, 0, base::visible(note));
  return text;
}

}  // namespace

std::string treemap_name(const TextStyle& style, const TreemapNode& node) {
  return counted(style, node, node.name);
}

std::string treemap_short_name(const TextStyle& style,
                               const TreemapNode& node) {
  const std::string_view last = base::base_name(node.name);
  return counted(style, node, last.empty() ? node.name : last);
}

std::string treemap_text(const Treemap& map, const TreemapTextOptions& options,
                         const TextStyle& style) {
  const analysis::TreemapScreen screen{style.width, options.rows};
  const TreemapBox root =
      analysis::lay_out_treemap(map.root, options.limits, screen);
  std::string text = treemap_picture(root, screen, style) + "\n";
  Table table({{"#", Align::Right},
               {"SIZE", Align::Right, 6},
               {"%", Align::Right, 4},
               {"KIND", Align::Left},
               {"NAME", Align::Left}});
  size_t number = 0;
  add_rows(style, root, map.root.bytes, 0, number, table);
  text += table.render(style, false);
  std::string sum =
      fmt::format("sum: {} in {}, {}", spelled(style, map.root.bytes),
                  treemap_name(style, map.root), words_of(map.measure));
  if (!map.timestamp.empty()) sum += "; " + base::visible(map.timestamp);
  text += wrapped(style, Ink::Bold, 0, sum);
  return text + notes_of(map, style);
}

}  // namespace tidemark::view
