// Reads the program headers of ELF files. Of a library: how much address space
// its loader takes for it, which tells the zeroed data (bss) behind it from
// other anonymous memory that happens to lie there. Of the kernel's own memory:
// where its regions are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/kernel_memory.h"

namespace tidemark::parse {

// `head` is the beginning of the file; a page is enough for the program headers
// of every file a linker makes. Only the byte order of this machine is read.
// The span is from the first loaded byte to the last, in whole pages.
base::Result<uint64_t> parse_elf_span(std::string_view head);

// How far behind the first loaded page the code lies that begins at this page
// of the file: linkers may part in memory what is side by side in the file. Of
// 64-bit files. Malformed where no code begins there.
base::Result<uint64_t> parse_elf_code_distance(std::string_view head,
                                               uint64_t file_offset);

// The beginning of /proc/kcore, in the order of the file.
base::Result<std::vector<model::KernelSegment>> parse_kcore_segments(
    std::string_view head);

}  // namespace tidemark::parse
