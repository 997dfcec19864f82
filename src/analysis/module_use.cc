#include "analysis/module_use.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "model/kernel_code.h"

namespace tidemark::analysis {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceStack;

constexpr std::string_view kLoading[] = {model::kLoadingCode, model::kInitCode};

constexpr std::string_view kSlab[] = {
    "alloc_slab_page", "allocate_slab", "new_slab",
    "___slab_alloc",   "__slab_alloc",
};

constexpr std::string_view kPageCache[] = {
    "filemap_alloc_folio",     "filemap_alloc_folio_noprof",
    "__page_cache_alloc",      "page_cache_ra_order",
    "page_cache_ra_unbounded", "__filemap_get_folio",
    "pagecache_get_page",      "do_read_cache_folio",
    "add_to_page_cache_lru",
};

bool is_one_of(std::span<const std::string_view> names,
               const TraceFrame& frame) {
  return frame.module.empty() &&
         std::find(names.begin(), names.end(), frame.symbol) != names.end();
}

const TraceFrame& frame_at(const Trace& trace, const TraceStack& stack,
                           size_t index) {
  return trace.frames[stack[index]];
}

// The innermost of the loader's frames; as many as the stack has when there is
// none.
size_t loader_of(const Trace& trace, const TraceStack& stack) {
  size_t at = 0;
  while (at < stack.size() &&
         !is_one_of(kLoading, frame_at(trace, stack, at))) {
    ++at;
  }
  return at;
}

// Where nobody told which module is loaded, its own code does: that nearest to
// the loader, which may have called others since.
std::string loaded_module(const Trace& trace, const TraceStack& stack,
                          size_t loader) {
  for (size_t i = loader; i < stack.size(); ++i) {
    const TraceFrame& frame = frame_at(trace, stack, i);
    if (!frame.loads.empty()) return frame.loads;
  }
  for (size_t i = loader; i > 0; --i) {
    const TraceFrame& frame = frame_at(trace, stack, i - 1);
    if (!frame.module.empty()) return frame.module;
  }
  return {};
}

// Without what an interrupt stands on.
TraceStack own_part(const Trace& trace, const TraceStack& stack) {
  const auto interrupt =
      std::find_if(stack.begin(), stack.end(), [&](uint32_t frame) {
        return is_one_of(model::kInterruptCode, trace.frames[frame]);
      });
  return {stack.begin(), interrupt};
}

}  // namespace

StackModule module_use(const Trace& trace, const TraceStack& whole) {
  const TraceStack stack = own_part(trace, whole);
  const size_t loader = loader_of(trace, stack);
  if (loader < stack.size()) {
    return {loaded_module(trace, stack, loader), ModuleUse::Loading};
  }
  // What a page is for is decided between the module and the allocator.
  StackModule owner;
  for (uint32_t index : stack) {
    const TraceFrame& frame = trace.frames[index];
    if (!frame.module.empty()) {
      owner.name = frame.module;
      return owner;
    }
    if (owner.use != ModuleUse::Later) continue;
    if (is_one_of(kSlab, frame)) owner.use = ModuleUse::Slab;
    if (is_one_of(kPageCache, frame)) owner.use = ModuleUse::PageCache;
  }
  return owner;
}

std::vector<ModuleShare> make_module_shares(const Trace& trace) {
  std::vector<std::set<std::string>> modules_of(trace.stacks.size());
  for (size_t i = 0; i < trace.stacks.size(); ++i) {
    for (uint32_t index : own_part(trace, trace.stacks[i])) {
      const TraceFrame& frame = trace.frames[index];
      for (const std::string& name : {frame.module, frame.loads}) {
        if (!name.empty()) modules_of[i].insert(name);
      }
    }
  }
  std::map<std::string, ModuleShare> shares;
  for (const model::TraceLeaf& leaf : trace.leaves) {
    for (const std::string& name : modules_of[leaf.stack]) {
      ModuleShare& share = shares[name];
      share.name = name;
      share.pages += leaf.pages;
      share.machine_peak_pages += leaf.machine_peak_pages;
    }
  }
  std::vector<ModuleShare> rows;
  rows.reserve(shares.size());
  for (auto& [name, share] : shares)
    rows.push_back(std::move(share));
  std::ranges::stable_sort(rows, std::greater<>(), &ModuleShare::pages);
  return rows;
}

}  // namespace tidemark::analysis
