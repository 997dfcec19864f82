// Streams /proc/PID/smaps through the parser.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "parse/smaps.h"

namespace tidemark::source {

// The kernel hands out one page of text per read() whatever the buffer, so a
// small one that stays in the cache is the fastest; text that ends in the
// middle of a block is kept for the next read.
base::Status stream_smaps(const base::Directory& process,
                          parse::SmapsParser& parser,
                          const parse::MappingVisitor& visit);

}  // namespace tidemark::source
