// Names of code in an ELF file: of its symbols, and of its debug information or
// a separate debug file's where there is some.
#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "source/user_frames.h"

namespace tidemark::source {

// Nothing is read of the file before a name is asked for.
std::unique_ptr<CodeNames> elf_names(base::Fd file, std::string path);

}  // namespace tidemark::source
