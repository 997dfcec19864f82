#include "view/tui/trace_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analysis/module_use.h"
#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::OutlineNode;
using analysis::TopTrace;
using analysis::TraceGroup;

constexpr size_t kMostNamed = 3;

uint64_t pages_of(const model::TraceLeaf& leaf, TraceMeasure measure) {
  return measure == TraceMeasure::Peak ? leaf.machine_peak_pages : leaf.pages;
}

struct Holder {
  uint64_t pages = 0;
  size_t count = 0;  // of tasks of one name
};

std::string size_words(const TopTrace& trace, uint64_t pages) {
  return base::short_size(pages * trace.trace->page_size_bytes);
}

// The largest few by name, and how much all others have.
std::string list_words(const TopTrace& trace,
                       const std::map<std::string, Holder>& holders,
                       std::string_view separator) {
  std::vector<std::pair<std::string, Holder>> sorted(holders.begin(),
                                                     holders.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) {
                     return a.second.pages > b.second.pages;
                   });
  std::string words;
  Holder others;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, holder] = sorted[i];
    if (i >= kMostNamed && sorted.size() > kMostNamed + 1) {
      others.pages += holder.pages;
      others.count += holder.count;
      continue;
    }
    if (!words.empty()) words += separator;
    words += base::visible(name);
    if (holder.count > 1) words += fmt::format(" ×{}", holder.count);
    words += " " + size_words(trace, holder.pages);
  }
  if (others.count > 0) {
    words += fmt::format("{}{} others {}", separator, others.count,
                         size_words(trace, others.pages));
  }
  return words;
}

// What is below a node, by stack and by task, each by its index.
struct NodeSums {
  std::vector<uint64_t> by_stack;
  std::vector<uint64_t> by_task;
};

NodeSums sums_of(const TopTrace& trace, const TraceListing& listing,
                 const OutlineNode& node) {
  NodeSums sums;
  sums.by_stack.resize(trace.trace->stacks.size());
  sums.by_task.resize(trace.trace->tasks.size());
  for (uint32_t index : trace.by(listing.by).leaves(node)) {
    const model::TraceLeaf& leaf = trace.trace->leaves[index];
    const uint64_t held = pages_of(leaf, listing.measure);
    sums.by_stack[leaf.stack] += held;
    sums.by_task[leaf.task] += held;
  }
  return sums;
}

std::string came_from(const TopTrace& trace, const TraceListing& listing,
                      const OutlineNode& node, const NodeSums& sums) {
  const auto largest =
      std::max_element(sums.by_stack.begin(), sums.by_stack.end());
  if (largest == sums.by_stack.end() || *largest == 0) return {};
  const auto most = static_cast<uint32_t>(largest - sums.by_stack.begin());
  // Below a module what is outside of it; else the way down to this row.
  std::vector<uint32_t> frames = trace.by(listing.by).outer_frames(most);
  const model::TraceStack& stack = trace.trace->stacks[most];
  const size_t shown = stack.size() - frames.size();
  const size_t inside = std::min<size_t>(node.depth, shown);
  std::vector<uint32_t> way;
  for (size_t i = 1; i < inside; ++i)
    way.push_back(stack[shown - 1 - (inside - 1 - i)]);
  way.insert(way.end(), frames.begin(), frames.end());
  std::string words;
  for (uint32_t index : way) {
    const model::TraceFrame& frame = trace.trace->frames[index];
    if (!words.empty()) words += " < ";
    words += frame.symbol.empty() ? fmt::format("0x{:x}", frame.address)
                                  : base::visible(frame.symbol);
  }
  return words;
}

std::string kind_words(const TopTrace& trace, const NodeSums& sums) {
  constexpr std::array<std::string_view, 4> kWords = {
      "taken while the module is loaded",
      "contents of files; can be reclaimed once written back",
      "slabs for objects of the kernel", "other pages"};
  std::array<uint64_t, 4> pages{};
  for (size_t stack = 0; stack < sums.by_stack.size(); ++stack) {
    pages[static_cast<size_t>(trace.index->owners[stack].use)] +=
        sums.by_stack[stack];
  }
  std::string words;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (pages[i] == 0) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : " · ", kWords[i],
                         size_words(trace, pages[i]));
  }
  return words;
}

std::string all_words(const OutlineNode& node) {
  std::string words =
      base::counted(node.total.allocation_count, "allocation", "allocations");
  if (node.total.oldest_ns > 0) {
    words += "; it has held pages without a break for " +
             age_words(node.total.oldest_ns);
  }
  return words;
}

void draw_images(Canvas& canvas, const TopTrace& trace, int at) {
  if (!trace.before) return;
  const auto& modules = trace.before->modules;
  canvas.put(1, at, "Module memory that is not in these stacks",
             paint(Role::Strong));
  canvas.put_right(canvas.columns() - 1, at,
                   "existed before the trace; from /proc/modules",
                   paint(Role::Dim));
  if (!modules) {
    canvas.put_within(1, at + 1, canvas.columns() - 2,
                      "? " + base::visible(modules.unknown_because),
                      paint(Role::Unknown));
    return;
  }
  std::vector<const model::KernelModule*> sorted;
  for (const model::KernelModule& module : *modules)
    sorted.push_back(&module);
  std::sort(sorted.begin(), sorted.end(),
            [](const model::KernelModule* a, const model::KernelModule* b) {
              return a->size_bytes > b->size_bytes;
            });
  constexpr size_t kImages = 5;
  std::string words = sorted.empty() ? "no module was loaded" : "";
  uint64_t others = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i >= kImages) {
      others += sorted[i]->size_bytes;
      continue;
    }
    words += fmt::format("{}{} image {}", i == 0 ? "" : " · ",
                         base::visible(sorted[i]->name),
                         base::short_size(sorted[i]->size_bytes));
  }
  if (sorted.size() > kImages) {
    words += fmt::format(" · {} others {}", sorted.size() - kImages,
                         base::short_size(others));
  }
  canvas.put_within(1, at + 1, canvas.columns() - 2, words, paint(Role::Plain));
}

std::string holders_of(const TopTrace& trace, const TraceListing& listing,
                       const NodeSums& sums, std::string_view separator) {
  std::map<std::string, Holder> holders;
  if (listing.by == TraceGroup::Task) {
    for (size_t stack = 0; stack < sums.by_stack.size(); ++stack) {
      if (sums.by_stack[stack] == 0) continue;
      const std::string& module = trace.index->owners[stack].name;
      Holder& holder = holders[module.empty() ? "kernel itself" : module];
      holder.pages += sums.by_stack[stack];
      holder.count = 1;
    }
    return list_words(trace, holders, separator);
  }
  for (size_t task = 0; task < sums.by_task.size(); ++task) {
    if (sums.by_task[task] == 0) continue;
    Holder& holder = holders[trace.trace->tasks[task].name];
    holder.pages += sums.by_task[task];
    ++holder.count;
  }
  return list_words(trace, holders, separator);
}

}  // namespace

std::string holders_words(const TopTrace& trace, const TraceListing& listing,
                          const OutlineNode& node, std::string_view separator) {
  return holders_of(trace, listing, sums_of(trace, listing, node), separator);
}

void draw_trace_details(Canvas& canvas, const TopTrace& trace,
                        const TraceListing& listing, const OutlineNode& node,
                        int at) {
  const int room = canvas.columns() - 12;
  std::string name = row_name(node, false);
  if (!node.module.empty()) name += " [" + base::visible(node.module) + "]";
  canvas.put(1, at, "Selected", paint(Role::Strong));
  canvas.put_within(11, at, room, name, paint(Role::Strong));
  const NodeSums sums = sums_of(trace, listing, node);
  const std::pair<std::string_view, std::string> lines[] = {
      {listing.by == TraceGroup::Task ? "of" : "held by",
       holders_of(trace, listing, sums, " · ")},
      {"came from", came_from(trace, listing, node, sums)},
      {"in all", all_words(node)},
      {"kind", trace.trace->user ? "" : kind_words(trace, sums)},
  };
  for (const auto& [words, value] : lines) {
    if (value.empty()) continue;
    canvas.put(1, ++at, words, paint(Role::Dim));
    canvas.put_within(11, at, room, value, paint(Role::Plain));
  }
  draw_images(canvas, trace, at + 2);
}

}  // namespace tidemark::view::tui
