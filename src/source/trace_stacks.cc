#include "source/trace_stacks.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "model/kernel_code.h"
#include "source/kernel_files.h"
#include "source/kernel_symbols.h"

namespace tidemark::source {
namespace {

constexpr size_t kMostSeen = size_t{1} << 18;

uint64_t hash_of(std::span<const uint64_t> addresses) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (uint64_t address : addresses) {
    hash = (hash ^ address) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash == 0 ? 1 : hash;
}

CodeMeaning meaning_of(std::string_view name,
                       std::span<const std::string_view> tracing) {
  if (name == model::kLoadingCode) return CodeMeaning::Loading;
  if (name == model::kInitCode) return CodeMeaning::Init;
  const bool is_tracing =
      std::find(tracing.begin(), tracing.end(), name) != tracing.end();
  return is_tracing ? CodeMeaning::Tracing : CodeMeaning::Interrupt;
}

// Behind the last function of a module may lie what has no name any more: init
// code of another one that has been freed. It is nobody's that is there now.
void forget_strangers(
    const model::Reading<std::vector<model::KernelModule>>& modules,
    std::vector<model::TraceFrame>& frames) {
  if (!modules) return;
  std::map<std::string_view, const model::KernelModule*> known;
  for (const model::KernelModule& module : *modules)
    known[module.name] = &module;
  for (model::TraceFrame& frame : frames) {
    const auto module = known.find(frame.module);
    if (module == known.end() || !module->second->address) continue;
    const uint64_t call = frame.address - 1;
    if (call - *module->second->address < module->second->size_bytes) continue;
    frame = {frame.address, {}, 0, {}, {}};
  }
}

base::Result<MeantCode> code_of_module(const Roots& roots,
                                       const std::string& name) {
  const model::Reading<std::vector<model::KernelModule>> modules =
      read_modules(roots);
  if (!modules) {
    return base::fail(base::ErrorKind::Unsupported,
                      "modules cannot be told: " + modules.unknown_because);
  }
  for (const model::KernelModule& module : *modules) {
    if (module.name != name) continue;
    if (!module.address) {
      return base::fail(base::ErrorKind::Denied,
                        roots.proc.join("modules") + " hides addresses",
                        "it needs CAP_SYSLOG");
    }
    return MeantCode{*module.address, *module.address + module.size_bytes,
                     CodeMeaning::Wanted};
  }
  return base::fail(base::ErrorKind::NotFound,
                    "no module '" + name + "' is loaded");
}

}  // namespace

bool FrameNames::learn(const Roots& roots,
                       const std::vector<uint64_t>& addresses,
                       Patience patience, std::vector<std::string>& notes) {
  for (uint64_t address : addresses) {
    const bool is_new =
        frames_.try_emplace(address, model::TraceFrame{address, {}, 0, {}, {}})
            .second;
    if (is_new) unnamed_.push_back(address);
  }
  if (unnamed_.empty()) return false;
  const uint64_t started_ns = base::monotonic_ns();
  if (patience == Patience::Some && started_ns < next_naming_ns_) return false;
  name_unnamed(roots, notes);
  unnamed_.clear();
  constexpr uint64_t kPauses = 50;
  const uint64_t ended_ns = base::monotonic_ns();
  next_naming_ns_ = ended_ns + (ended_ns - started_ns) * kPauses;
  return true;
}

void FrameNames::name_unnamed(const Roots& roots,
                              std::vector<std::string>& notes) {
  std::sort(unnamed_.begin(), unnamed_.end());
  base::Result<std::vector<model::TraceFrame>> named =
      name_addresses(roots, unnamed_);
  if (named) {
    forget_strangers(read_modules(roots), *named);
    for (size_t i = 0; i < unnamed_.size(); ++i)
      frames_[unnamed_[i]] = std::move((*named)[i]);
    return;
  }
  std::string note = "functions have no names: " + named.error().what;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
    notes.push_back(std::move(note));
  }
}

const model::TraceFrame* FrameNames::find(uint64_t address) const {
  const auto frame = frames_.find(address);
  return frame != frames_.end() ? &frame->second : nullptr;
}

model::TraceFrame FrameNames::at(uint64_t address) const {
  const model::TraceFrame* known = find(address);
  if (known) return *known;
  return {address, {}, 0, {}, {}};
}

base::Result<std::vector<MeantCode>> find_meant_code(
    const Roots& roots, std::span<const std::string_view> tracing,
    const std::string& module, std::vector<std::string>& notes) {
  std::vector<MeantCode> meant;
  std::vector<std::string_view> names(std::begin(model::kInterruptCode),
                                      std::end(model::kInterruptCode));
  names.insert(names.end(), {model::kLoadingCode, model::kInitCode});
  names.insert(names.end(), tracing.begin(), tracing.end());
  base::Result<std::vector<CodeRange>> code = find_code(roots, names);
  if (code) {
    for (const CodeRange& range : *code) {
      meant.push_back(
          {range.first, range.last, meaning_of(range.name, tracing)});
    }
  } else {
    notes.push_back("interrupts count for the tasks they hit: " +
                    code.error().what);
  }
  if (module.empty()) return meant;
  base::Result<MeantCode> wanted = code_of_module(roots, module);
  if (!wanted) return wanted.error();
  meant.push_back(*wanted);
  return meant;
}

bool is_tracer(const model::TraceFrame& frame) {
  return frame.module == "bpf" || frame.symbol.starts_with("bpf_trace_run") ||
         frame.symbol.starts_with("bpf_prog_") ||
         frame.symbol.starts_with("__bpf_trace_") ||
         frame.symbol.starts_with("__traceiter_") ||
         frame.symbol.starts_with("__probestub_");
}

bool loads_modules(const model::TraceFrame& frame) {
  return frame.module.empty() && (frame.symbol == model::kLoadingCode ||
                                  frame.symbol == model::kInitCode);
}

bool TraceStacks::is(uint64_t address, CodeMeaning meaning) const {
  return std::any_of(code_.begin(), code_.end(), [&](const MeantCode& code) {
    return code.meaning == meaning && address >= code.first &&
           address < code.last;
  });
}

bool TraceStacks::is_same(const Seen& seen,
                          std::span<const uint64_t> addresses) const {
  return seen.count == addresses.size() &&
         std::equal(addresses.begin(), addresses.end(),
                    seen_addresses_.begin() + seen.first);
}

uint32_t TraceStacks::add(std::span<const uint64_t> addresses) {
  size_t tracing = 0;
  while (tracing < addresses.size() &&
         is(addresses[tracing], CodeMeaning::Tracing)) {
    ++tracing;
  }
  const std::span<const uint64_t> own = addresses.subspan(tracing);
  auto [at, is_new] =
      known_.try_emplace(std::vector<uint64_t>(own.begin(), own.end()),
                         static_cast<uint32_t>(stacks_.size()));
  if (!is_new) return at->second;
  Stack& stack = stacks_.emplace_back();
  stack.addresses = at->first;
  for (uint64_t address : own) {
    stack.is_interrupt |= is(address, CodeMeaning::Interrupt);
    stack.has_wanted |= is(address, CodeMeaning::Wanted);
    stack.is_init |= is(address, CodeMeaning::Init);
    stack.is_loading |= is(address, CodeMeaning::Loading);
  }
  // The loader may have left with its last call.
  stack.is_loading |= stack.is_init;
  return at->second;
}

void TraceStacks::use(uint32_t stack, uint32_t time) {
  if (!stacks_[stack].first_use) stacks_[stack].first_use = time;
}

uint32_t TraceStacks::of_load(uint32_t stack, uint32_t load) {
  if (load == 0 || loads_.size() >= kMostSeen) return stack;
  auto [at, is_new] =
      loads_.try_emplace({stack, load}, static_cast<uint32_t>(stacks_.size()));
  if (!is_new) return at->second;
  Stack loading = stacks_[stack];
  loading.load = load;
  loading.first_use.reset();
  stacks_.push_back(std::move(loading));
  return at->second;
}

void TraceStacks::grow() {
  constexpr size_t kFirst = 1024;
  std::vector<Seen> before(std::max(kFirst, seen_.size() * 2));
  before.swap(seen_);
  for (const Seen& seen : before) {
    if (seen.hash == 0) continue;
    size_t at = seen.hash & (seen_.size() - 1);
    while (seen_[at].hash != 0)
      at = (at + 1) & (seen_.size() - 1);
    seen_[at] = seen;
  }
}

std::optional<uint32_t> TraceStacks::find(std::span<const uint64_t> addresses) {
  if (seen_count_ * 2 >= seen_.size()) grow();
  const uint64_t hash = hash_of(addresses);
  size_t at = hash & (seen_.size() - 1);
  while (seen_[at].hash != 0) {
    if (seen_[at].hash == hash && is_same(seen_[at], addresses)) {
      return seen_[at].stack;
    }
    at = (at + 1) & (seen_.size() - 1);
  }
  if (seen_count_ >= kMostSeen) return std::nullopt;
  Seen& seen = seen_[at];
  seen.hash = hash;
  seen.first = static_cast<uint32_t>(seen_addresses_.size());
  seen.count = static_cast<uint32_t>(addresses.size());
  seen_addresses_.insert(seen_addresses_.end(), addresses.begin(),
                         addresses.end());
  seen.stack = add(addresses);
  ++seen_count_;
  return seen.stack;
}

std::vector<uint32_t> TraceStacks::build(const Roots& roots,
                                         const std::vector<bool>& is_used,
                                         FrameNames::Patience patience,
                                         const EventModules& modules,
                                         model::TraceBuilder& builder,
                                         std::vector<std::string>& notes) {
  const size_t count = std::min(stacks_.size(), is_used.size());
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < count; ++i) {
    if (!is_used[i]) continue;
    addresses.insert(addresses.end(), stacks_[i].addresses.begin(),
                     stacks_[i].addresses.end());
  }
  names_.learn(roots, addresses, patience, notes);
  builder.head().modules = modules.history().modules();
  std::vector<uint32_t> stack_of(stacks_.size());
  for (size_t i = 0; i < count; ++i) {
    if (!is_used[i]) continue;
    std::vector<uint32_t> indices;
    const Stack& stack = stacks_[i];
    for (uint64_t address : stack.addresses) {
      model::TraceFrame frame = modules.history().frame_at(
          names_.at(address), stack.first_use.value_or(0));
      if (stack.load != 0 && loads_modules(frame)) {
        frame.loads = modules.name_of(stack.load);
      }
      indices.push_back(builder.frame(frame));
    }
    stack_of[i] = builder.stack(indices);
  }
  return stack_of;
}

}  // namespace tidemark::source
