// A place in the kernel's code.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::model {

// Where only names were told, the address is 0.
struct TraceFrame {
  uint64_t address = 0;
  std::string symbol;  // empty: no name is known for the address
  uint64_t offset = 0;
  std::string module;   // empty: the kernel's image itself
  std::string loads{};  // of code that loads modules: which; empty: not told
  bool operator==(const TraceFrame&) const = default;
};

}  // namespace tidemark::model
