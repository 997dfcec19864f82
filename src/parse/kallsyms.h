// Parses /proc/kallsyms, a line for each name the kernel has for an address of
// its own. It is megabytes long and few of its lines are wanted, so it is taken
// in blocks and nothing is kept.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::parse {

struct KernelSymbolLine {
  uint64_t address = 0;
  char type = 0;            // as nm(1) prints it; t and T are code
  std::string_view name;    // without what the compiler appended
  std::string_view module;  // empty: the kernel's image; "bpf": a BPF program
};

// Takes one line from the front of `rest`. Lines that are no symbols are
// passed over; false at the end.
bool take_kernel_symbol(std::string_view& rest, KernelSymbolLine& symbol);

}  // namespace tidemark::parse
