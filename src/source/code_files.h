// Files that are mapped as code into a process: where each begins, and how to
// open it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "model/mapping.h"
#include "source/roots.h"

namespace tidemark::source {

struct CodeFile {
  uint64_t base = 0;  // where its first byte is, or would be
  const model::Mapping* mapping = nullptr;
};

bool is_same_file(const model::Mapping& a, const model::Mapping& b);

// A file may be mapped more than once, each time from its beginning.
std::vector<CodeFile> code_files(const std::vector<model::Mapping>& mappings);

// Through the mapping itself, whatever stands at its name by now. Empty where
// the process is gone.
base::Fd open_mapped(const Roots& roots, int32_t pid,
                     const model::Mapping& mapping);

// By its name, as `root_pid` sees it or we do, if that is still the same file:
// for processes that have ended.
base::Fd open_named(const Roots& roots, int32_t root_pid,
                    const model::Mapping& mapping);

// Where the file begins of which only the code's mapping is known: linkers may
// part what is beside each other in the file. Empty: no ELF file, or the
// mapping is none of its code.
std::optional<uint64_t> base_of_code(int fd, const model::Mapping& mapping);

}  // namespace tidemark::source
