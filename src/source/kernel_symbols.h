// Names for addresses of the kernel's code, and addresses for names, from
// /proc/kallsyms. The file is read in blocks and only what was asked for is
// kept: its hundred thousand names would cost more than everything else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "source/roots.h"

namespace tidemark::source {

// For each address its name, in the order given. Unknown where nothing is
// known; Denied when all addresses of the file read as zero.
base::Result<std::vector<model::TraceFrame>> name_addresses(
    const Roots& roots, const std::vector<uint64_t>& addresses);

// Where the code of one name lies: [first, last).
struct CodeRange {
  std::string name;
  uint64_t first = 0;
  uint64_t last = 0;
  bool operator==(const CodeRange&) const = default;
};

// Of each name as many as there are; static functions may share one.
base::Result<std::vector<CodeRange>> find_code(
    const Roots& roots, const std::vector<std::string_view>& names);

}  // namespace tidemark::source
