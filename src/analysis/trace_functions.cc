#include "analysis/trace_functions.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceStack;

// What every program calls to have its memory touched.
bool is_runtime_library(std::string_view module) {
  constexpr std::string_view kBeginnings[] = {
      "libc.so", "libc-",    "libstdc++.so", "libc++.so", "libgcc_s.so",
      "libm.so", "ld-linux", "ld-musl",      "[vdso]"};
  const std::string_view name = module.substr(module.rfind('/') + 1);
  return std::ranges::any_of(kBeginnings, [name](std::string_view beginning) {
    return name.starts_with(beginning);
  });
}

// Frames of the program, the innermost first; all where there is no kernel
// below them.
std::vector<const TraceFrame*> program_frames(const Trace& trace,
                                              const TraceStack& stack) {
  std::vector<const TraceFrame*> frames;
  for (uint32_t index : stack) {
    const TraceFrame& frame = trace.frames[index];
    if (frame.symbol == model::kKernelBorder && frame.module.empty()) {
      frames.clear();
    } else {
      frames.push_back(&frame);
    }
  }
  return frames;
}

const std::string& name_of(const TraceFrame& frame) {
  return frame.symbol.empty() ? frame.module : frame.symbol;
}

// A function is one, wherever in it the call is; what has no name is told by
// its address.
using FunctionKey = std::tuple<std::string, std::string, uint64_t, std::string>;

struct Counted {
  TraceFunction function;
  std::map<std::string, uint64_t> through;
};

class TouchTable {
 public:
  void add(const std::vector<const TraceFrame*>& frames, uint64_t pages) {
    if (frames.empty()) return;
    auto owner = std::ranges::find_if(frames, [](const TraceFrame* frame) {
      return !is_runtime_library(frame->module);
    });
    if (owner == frames.end()) owner = frames.begin();
    const auto caller = std::next(owner);
    Counted& counted =
        at(**owner, caller == frames.end() ? "" : name_of(**caller));
    counted.function.pages += pages;
    counted.through[owner == frames.begin() ? "" : name_of(*frames.front())] +=
        pages;
  }

  std::vector<TraceFunction> take() {
    std::vector<TraceFunction> list;
    for (auto& [key, counted] : known_) {
      counted.function.through =
          std::ranges::max_element(counted.through, {}, [](const auto& entry) {
            return entry.second;
          })->first;
      list.push_back(std::move(counted.function));
    }
    std::ranges::stable_sort(list, std::greater<>(), &TraceFunction::pages);
    return list;
  }

 private:
  Counted& at(const TraceFrame& frame, const std::string& caller) {
    auto [found, is_new] = known_.try_emplace(
        FunctionKey{frame.symbol, frame.module,
                    frame.symbol.empty() ? frame.address : 0, caller});
    TraceFunction& function = found->second.function;
    if (is_new) {
      function.name = frame.symbol;
      function.module = frame.module;
      function.address = frame.address;
      function.caller = caller;
    }
    function.address = std::min(function.address, frame.address);
    return found->second;
  }

  std::map<FunctionKey, Counted> known_;
};

}  // namespace

std::vector<TraceFunction> functions_at_peak(const Trace& trace) {
  TouchTable table;
  for (const model::TraceLeaf& leaf : trace.leaves) {
    if (leaf.machine_peak_pages == 0) continue;
    table.add(program_frames(trace, trace.stacks[leaf.stack]),
              leaf.machine_peak_pages);
  }
  return table.take();
}

}  // namespace tidemark::analysis
