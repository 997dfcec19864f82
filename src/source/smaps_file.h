// Streams /proc/PID/smaps through the parser.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "parse/smaps.h"

namespace tidemark::source {

// Keeps the layout the parser has learned, so one reader serves a whole walk.
class SmapsReader {
 public:
  // The kernel hands out one page of text per read() whatever the buffer, so a
  // small one that stays in the cache is the fastest; text that ends in the
  // middle of a block is kept for the next read. The visited mapping is used
  // again: copy what is to stay.
  base::Status read(const base::Directory& process,
                    const parse::MappingVisitor& visit);

 private:
  parse::SmapsParser parser_;
};

}  // namespace tidemark::source
