// Reads the program headers of an ELF file: how much address space its loader
// takes for it. That tells the zeroed data (bss) behind a library from other
// anonymous memory that happens to lie there.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace tidemark::parse {

// `head` is the beginning of the file; a page is enough for the program headers
// of every file a linker makes. Only the byte order of this machine is read.
// The span is from the first loaded byte to the last, in whole pages.
base::Result<uint64_t> parse_elf_span(std::string_view head);

}  // namespace tidemark::parse
