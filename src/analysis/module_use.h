// Which module of the kernel a stack belongs to, and what for.
//
// While a module is being loaded everything that takes belongs to it, its own
// code or the kernel's that prepares it or other modules' that it registers
// with. At any other time a stack belongs to the module whose code stands
// innermost: the one that asked for the page, or for what the page is for. What
// an interrupt hit has asked for nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace tidemark::analysis {

enum class ModuleUse : uint8_t {
  Loading,    // before its init function has returned
  PageCache,  // contents of files, read or written through it
  Slab,       // a slab opened for one of its objects
  Later,      // everything else
};

struct StackModule {
  std::string name;  // empty: the kernel's image
  ModuleUse use = ModuleUse::Later;
  bool operator==(const StackModule&) const = default;
};

StackModule module_use(const model::Trace& trace,
                       const model::TraceStack& stack);

// The other rule: a module has to do with every stack that its code is on, or
// that loads it, wherever it stands. A page counts for several then, so these
// have no sum.
struct ModuleShare {
  std::string name;
  uint64_t pages = 0;
  uint64_t machine_peak_pages = 0;
  bool operator==(const ModuleShare&) const = default;
};
std::vector<ModuleShare> make_module_shares(const model::Trace& trace);

}  // namespace tidemark::analysis
