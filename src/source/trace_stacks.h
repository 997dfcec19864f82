// Stacks of the kernel's code, each kept once, for means that hand over every
// stack of every event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/trace_builder.h"
#include "source/event_modules.h"
#include "source/roots.h"

namespace tidemark::source {

// Of a stack, as many as bpf/trace.h keeps: what lies farther out is left out.
inline constexpr size_t kMostFrames = 64;

// Code that says what a stack is about.
enum class CodeMeaning : uint8_t {
  Interrupt,  // it is not for the task that runs
  Wanted,     // only stacks with such code are asked for
  Loading,    // a module is loaded
  Init,       // and the kernel has told of it by now
  Tracing,    // what traces stands on top, and is no caller of the allocator
};

struct MeantCode {
  uint64_t first = 0;
  uint64_t last = 0;  // the first address behind it
  CodeMeaning meaning = CodeMeaning::Interrupt;
};

// Interrupts, the loader of modules, the code that `tracing` names, and that of
// `module` unless it is empty. What cannot be told goes into the notes; a
// module that is not loaded is an error.
base::Result<std::vector<MeantCode>> find_meant_code(
    const Roots& roots, std::span<const std::string_view> tracing,
    const std::string& module, std::vector<std::string>& notes);

// Names for many addresses, asked for at once: each look at all of the kernel's
// symbols takes some 50 ms. What was named once keeps its name, so that code
// that is unloaded does not lose it.
class FrameNames {
 public:
  // Whoever reads a trace again and again can have new code wait for its name,
  // so that naming takes one fiftieth of the time.
  enum class Patience : uint8_t { None, Some };

  // Without names the addresses must do, and a note says so, once. True when
  // any may have another name than before.
  bool learn(const Roots& roots, const std::vector<uint64_t>& addresses,
             Patience patience, std::vector<std::string>& notes);

  // Nameless where it was not learned: tables that are read while they grow
  // may have one more by now.
  model::TraceFrame at(uint64_t address) const;
  // Null: it was not.
  const model::TraceFrame* find(uint64_t address) const;

 private:
  void name_unnamed(const Roots& roots, std::vector<std::string>& notes);

  std::unordered_map<uint64_t, model::TraceFrame> frames_;
  std::vector<uint64_t> unnamed_;  // that wait, each once
  uint64_t next_naming_ns_ = 0;    // monotonic
};

// Our own programs and the tracepoint's, which stand above the allocator.
bool is_tracer(const model::TraceFrame& frame);

// Whether it is code of the loader, which has the name of what it loads.
bool loads_modules(const model::TraceFrame& frame);

class TraceStacks {
 public:
  explicit TraceStacks(std::vector<MeantCode> code) : code_(std::move(code)) {}

  // Addresses from the innermost outwards. Empty when there are too many.
  std::optional<uint32_t> find(std::span<const uint64_t> addresses);

  bool is_interrupt(uint32_t stack) const {
    return stacks_[stack].is_interrupt;
  }
  // Of no use without code that is wanted.
  bool has_wanted(uint32_t stack) const { return stacks_[stack].has_wanted; }
  bool is_loading(uint32_t stack) const { return stacks_[stack].is_loading; }
  bool is_init(uint32_t stack) const { return stacks_[stack].is_init; }
  std::span<const uint64_t> addresses(uint32_t stack) const {
    return stacks_[stack].addresses;
  }
  // It is in use now that so many modules have come and gone.
  void use(uint32_t stack, uint32_t time);
  // The same code when it loads something certain, counted from 1.
  uint32_t of_load(uint32_t stack, uint32_t load);

  // Adds those that are used with their names; the builder's index for each of
  // ours.
  std::vector<uint32_t> build(const Roots& roots,
                              const std::vector<bool>& is_used,
                              FrameNames::Patience patience,
                              const EventModules& modules,
                              model::TraceBuilder& builder,
                              std::vector<std::string>& notes);

 private:
  struct Stack {
    std::vector<uint64_t> addresses;
    bool is_interrupt = false;
    bool has_wanted = false;
    bool is_loading = false;
    bool is_init = false;
    uint32_t load = 0;                  // 0: it loads nothing
    std::optional<uint32_t> first_use;  // empty: there was none yet
  };
  // As they came, with what traces on top: several may stand for one stack.
  struct Seen {
    uint64_t hash = 0;  // 0: free
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t stack = 0;
  };
  bool is(uint64_t address, CodeMeaning meaning) const;
  bool is_same(const Seen& seen, std::span<const uint64_t> addresses) const;
  uint32_t add(std::span<const uint64_t> addresses);
  void grow();

  std::vector<MeantCode> code_;
  FrameNames names_;
  std::vector<Stack> stacks_;
  std::map<std::vector<uint64_t>, uint32_t> known_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> loads_;  // stack and load
  std::vector<Seen> seen_;
  size_t seen_count_ = 0;
  std::vector<uint64_t> seen_addresses_;
};

}  // namespace tidemark::source
