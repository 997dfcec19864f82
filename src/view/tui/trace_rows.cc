#include "view/tui/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"

namespace tidemark::view::tui {
namespace {

using analysis::OutlineNode;
using analysis::TopTrace;
using analysis::TraceGroup;

bool comes_before(const OutlineNode& a, const OutlineNode& b,
                  const TraceListing& listing) {
  const auto value = [&](const OutlineNode& node) -> int64_t {
    switch (listing.sort) {
      case TraceColumn::Peak:
        return static_cast<int64_t>(node.total.peak_pages);
      case TraceColumn::Rate:
        return static_cast<int64_t>(node.total.pages) -
               static_cast<int64_t>(node.before_pages);
      default:
        return static_cast<int64_t>(measured_pages(node, listing.measure));
    }
  };
  if (listing.sort == TraceColumn::Name && a.name != b.name)
    return (a.name < b.name) != listing.is_reversed;
  const int64_t left = value(a);
  const int64_t right = value(b);
  if (left != right) return (left > right) != listing.is_reversed;
  return a.key < b.key;
}

std::vector<const OutlineNode*> in_order(const std::vector<OutlineNode>& nodes,
                                         const TraceListing& listing) {
  std::vector<const OutlineNode*> list;
  for (const OutlineNode& node : nodes) {
    if (measured_pages(node, listing.measure) > 0) list.push_back(&node);
  }
  std::sort(list.begin(), list.end(),
            [&](const OutlineNode* a, const OutlineNode* b) {
              return comes_before(*a, *b, listing);
            });
  return list;
}

// Where programs are installed says little, and takes the room of what does.
std::string_view program_first(std::string_view command_line) {
  const std::string_view program =
      command_line.substr(0, command_line.find(' '));
  const size_t folder = program.rfind('/');
  if (program.starts_with('/') && folder + 1 < program.size())
    command_line.remove_prefix(folder + 1);
  return command_line;
}

// From a group down the stack of the leaf at that place of the outline, until
// a name is wanted. Nothing is opened when none is: it may be among the frames
// that are not shown.
std::string open_along(const analysis::TraceOutline& outline,
                       const OutlineNode& group, uint32_t place,
                       const NameTest& is_wanted,
                       std::set<std::string>& opened) {
  std::vector<std::string> way;
  OutlineNode at = group;
  while (at.has_children) {
    way.push_back(at.key);
    const std::vector<OutlineNode> children = outline.children(at);
    const auto next = std::find_if(
        children.begin(), children.end(), [&](const OutlineNode& child) {
          return place >= child.begin && place < child.end;
        });
    if (next == children.end()) return {};
    if (is_wanted(next->name)) {
      opened.insert(way.begin(), way.end());
      return next->key;
    }
    at = *next;
  }
  return {};
}

class Lister {
 public:
  Lister(const TopTrace& trace, const TraceListing& listing,
         const std::set<std::string>& opened)
      : outline_(trace.by(listing.by)), listing_(listing), opened_(opened) {}

  std::vector<TraceRow> list() {
    for (const OutlineNode* node : in_order(outline_.groups(), listing_))
      add(*node, 0);
    return std::move(rows_);
  }

 private:
  void add(const OutlineNode& node, uint32_t indent) {
    const bool is_open = node.has_children && opened_.contains(node.key);
    rows_.push_back({node, indent, is_open});
    if (!is_open) return;
    const std::vector<OutlineNode> children = outline_.children(node);
    const std::vector<const OutlineNode*> shown = in_order(children, listing_);
    // Stacks are deep: where they do not part a small step must do.
    const bool is_straight =
        node.group == TraceGroup::Stack && shown.size() == 1;
    for (const OutlineNode* child : shown)
      add(*child, indent + (is_straight ? 1 : 2));
  }

  const analysis::TraceOutline& outline_;
  const TraceListing& listing_;
  const std::set<std::string>& opened_;
  std::vector<TraceRow> rows_;
};

}  // namespace

uint64_t measured_pages(const OutlineNode& node, TraceMeasure measure) {
  switch (measure) {
    case TraceMeasure::Peak:
      return node.total.machine_peak_pages;
    case TraceMeasure::Growth:
      return node.total.grown_pages;
    case TraceMeasure::Now:
      break;
  }
  return node.total.pages;
}

std::optional<int64_t> pages_per_second(const TopTrace& trace,
                                        const OutlineNode& node) {
  const uint64_t before_ns = trace.history->before_ns;
  if (before_ns == 0 || trace.trace->elapsed_ns <= before_ns)
    return std::nullopt;
  const double seconds =
      static_cast<double>(trace.trace->elapsed_ns - before_ns) / 1e9;
  const int64_t change = static_cast<int64_t>(node.total.pages) -
                         static_cast<int64_t>(node.before_pages);
  return static_cast<int64_t>(static_cast<double>(change) / seconds);
}

std::string row_name(const OutlineNode& node, bool has_programs) {
  std::string name = base::visible(node.name);
  switch (node.group) {
    case TraceGroup::Task:
      return node.pid > 0 ? fmt::format("{} {}", node.pid, program_first(name))
                          : name;
    case TraceGroup::Cgroup:
      return name.empty() ? "group not known" : name;
    case TraceGroup::Module:
      return name.empty() ? "kernel itself" : name;
    case TraceGroup::Stack:
      break;
  }
  if (name.empty()) name = fmt::format("0x{:x}", node.address);
  // Of programs most frames are of some image, which is worth knowing.
  if (has_programs && !node.module.empty())
    name += " [" + base::visible(node.module) + "]";
  return name;
}

std::vector<TraceRow> trace_rows(const TopTrace& trace,
                                 const TraceListing& listing,
                                 const std::set<std::string>& opened) {
  return Lister(trace, listing, opened).list();
}

std::string open_to(const TopTrace& trace, const TraceListing& listing,
                    const NameTest& is_wanted, std::set<std::string>& opened) {
  const analysis::TraceOutline& outline = trace.by(listing.by);
  // Each frame is asked about once, however many stacks it is in.
  std::vector<bool> is_match;
  for (const model::TraceFrame& frame : trace.trace->frames)
    is_match.push_back(is_wanted(frame.symbol));
  for (const OutlineNode* group : in_order(outline.groups(), listing)) {
    const std::vector<uint32_t> leaves = outline.leaves(*group);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const model::TraceLeaf& leaf = trace.trace->leaves[leaves[i]];
      const uint64_t held = listing.measure == TraceMeasure::Peak
                                ? leaf.machine_peak_pages
                                : leaf.pages;
      const model::TraceStack& stack = trace.trace->stacks[leaf.stack];
      if (held == 0 || std::none_of(stack.begin(), stack.end(),
                                    [&](uint32_t f) { return is_match[f]; })) {
        continue;
      }
      std::string key =
          open_along(outline, *group, group->begin + static_cast<uint32_t>(i),
                     is_wanted, opened);
      if (!key.empty()) return key;
    }
  }
  return {};
}

void open_way(const TopTrace& trace, const TraceListing& listing,
              const OutlineNode& node, std::set<std::string>& opened) {
  const analysis::TraceOutline& outline = trace.by(listing.by);
  OutlineNode at = node;
  while (at.has_children) {
    opened.insert(at.key);
    const std::vector<OutlineNode> children = outline.children(at);
    const std::vector<const OutlineNode*> shown = in_order(children, listing);
    if (shown.size() != 1) return;
    at = *shown.front();
  }
}

}  // namespace tidemark::view::tui
