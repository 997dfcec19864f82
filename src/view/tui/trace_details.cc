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

using analysis::ModuleUse;
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

// Of each stack once: naming a module looks at all its frames.
std::map<uint32_t, uint64_t> pages_by_stack(const TopTrace& trace,
                                            const TraceListing& listing,
                                            const OutlineNode& node) {
  std::map<uint32_t, uint64_t> pages;
  for (uint32_t index : trace.by(listing.by).leaves(node)) {
    const model::TraceLeaf& leaf = trace.trace->leaves[index];
    const uint64_t held = pages_of(leaf, listing.measure);
    if (held > 0) pages[leaf.stack] += held;
  }
  return pages;
}

std::string came_from(const TopTrace& trace, const TraceListing& listing,
                      const OutlineNode& node) {
  const std::map<uint32_t, uint64_t> stacks =
      pages_by_stack(trace, listing, node);
  const auto largest = std::max_element(
      stacks.begin(), stacks.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == stacks.end()) return {};
  // Below a module what is outside of it; else the way down to this row.
  std::vector<uint32_t> frames =
      trace.by(listing.by).outer_frames(largest->first);
  const model::TraceStack& stack = trace.trace->stacks[largest->first];
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

std::string kind_words(const TopTrace& trace, const TraceListing& listing,
                       const OutlineNode& node) {
  constexpr std::array<std::string_view, 4> kWords = {
      "taken while the module is loaded",
      "contents of files; can be reclaimed once written back",
      "slabs for objects of the kernel", "other pages"};
  std::array<uint64_t, 4> pages{};
  uint64_t all = 0;
  for (const auto& [stack, held] : pages_by_stack(trace, listing, node)) {
    const ModuleUse use =
        analysis::module_use(*trace.trace, trace.trace->stacks[stack]).use;
    pages[static_cast<size_t>(use)] += held;
    all += held;
  }
  std::string words;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (pages[i] == 0) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : " · ", kWords[i],
                         size_words(trace, pages[i]));
  }
  return all == 0 ? "" : words;
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

}  // namespace

std::string holders_words(const TopTrace& trace, const TraceListing& listing,
                          const OutlineNode& node, std::string_view separator) {
  std::map<std::string, Holder> holders;
  if (listing.by == TraceGroup::Task) {
    for (const auto& [stack, held] : pages_by_stack(trace, listing, node)) {
      const std::string module =
          analysis::module_use(*trace.trace, trace.trace->stacks[stack]).name;
      Holder& holder = holders[module.empty() ? "kernel itself" : module];
      holder.pages += held;
      holder.count = 1;
    }
    return list_words(trace, holders, separator);
  }
  std::map<uint32_t, uint64_t> tasks;
  for (uint32_t index : trace.by(listing.by).leaves(node)) {
    const model::TraceLeaf& leaf = trace.trace->leaves[index];
    const uint64_t held = pages_of(leaf, listing.measure);
    if (held > 0) tasks[leaf.task] += held;
  }
  for (const auto& [task, held] : tasks) {
    Holder& holder = holders[trace.trace->tasks[task].name];
    holder.pages += held;
    ++holder.count;
  }
  return list_words(trace, holders, separator);
}

void draw_trace_details(Canvas& canvas, const TopTrace& trace,
                        const TraceListing& listing, const OutlineNode& node,
                        int at) {
  const int room = canvas.columns() - 12;
  std::string name = row_name(node, false);
  if (!node.module.empty()) name += " [" + base::visible(node.module) + "]";
  canvas.put(1, at, "Selected", paint(Role::Strong));
  canvas.put_within(11, at, room, name, paint(Role::Strong));
  const std::pair<std::string_view, std::string> lines[] = {
      {listing.by == TraceGroup::Task ? "of" : "held by",
       holders_words(trace, listing, node, " · ")},
      {"came from", came_from(trace, listing, node)},
      {"in all", all_words(node)},
      {"kind", trace.trace->user ? "" : kind_words(trace, listing, node)},
  };
  for (const auto& [words, value] : lines) {
    if (value.empty()) continue;
    canvas.put(1, ++at, words, paint(Role::Dim));
    canvas.put_within(11, at, room, value, paint(Role::Plain));
  }
  draw_images(canvas, trace, at + 2);
}

}  // namespace tidemark::view::tui
