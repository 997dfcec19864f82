// Modules of the kernel that came and went while it was traced, and what their
// code was called.
//
// Addresses are used again: where the init functions of one module lay another
// may lie when the report is made, and of an unloaded module nobody knows
// anything any more. So an address is named by what was there when its stack
// was taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"

namespace tidemark::source {

// Addresses [first, first + bytes).
struct CodeSpan {
  uint64_t first = 0;
  uint64_t bytes = 0;
  bool contains(uint64_t address) const { return address - first < bytes; }
  bool operator==(const CodeSpan&) const = default;
};

// Times are counts of comings and goings: the first one is 1.
struct ModuleLife {
  std::string name;
  CodeSpan text;
  CodeSpan init;  // gone once the module is ready
  uint64_t image_bytes = 0;
  uint32_t loaded_at = 0;                 // 0: before all of them
  std::optional<uint32_t> unloaded_at{};  // empty: it is still there
};

class ModuleHistory {
 public:
  // Both return the number of the life, for its symbols. What is unloaded was
  // there before when nothing told of its load.
  size_t add_load(ModuleLife life);
  size_t add_unload(const ModuleLife& life);
  // A name for an address may come twice; the first is kept unless it is only
  // what every module calls its init function.
  void add_symbol(size_t life, uint64_t address, std::string name);

  // The name of the code at `now.address` as it was at `time`. `now` is what
  // the kernel calls it now.
  model::TraceFrame frame_at(const model::TraceFrame& now, uint32_t time) const;

  std::vector<model::TraceModule> modules() const;
  const std::vector<ModuleLife>& lives() const { return lives_; }

 private:
  const ModuleLife* find(uint64_t call, uint32_t time) const;
  bool has_come_since(const std::string& module, uint32_t time) const;
  void name_from(size_t life, model::TraceFrame& frame) const;

  std::vector<ModuleLife> lives_;
  std::vector<std::map<uint64_t, std::string>> symbols_;  // of each life
};

}  // namespace tidemark::source
