// The kernel's files on its events.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "parse/trace_format.h"
#include "source/roots.h"

namespace tidemark::source {

// Where tracefs is mounted; where it is not, a mount of our own that has no
// place in any tree: nobody sees it and it goes with the descriptor.
base::Result<base::Directory> open_tracefs(const Roots& roots);

// `event` as in "kmem/mm_page_alloc".
base::Result<parse::TraceFormat> read_trace_format(
    const base::Directory& tracefs, const std::string& event);

}  // namespace tidemark::source
