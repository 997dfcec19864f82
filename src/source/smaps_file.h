// Streams /proc/PID/smaps through the parser.
#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"
#include "parse/smaps.h"

namespace tidemark::source {

// What reading cost. One read() holds the lock that the process's own mmap
// calls wait for, so the longest of them is the stall it may have felt.
struct ReadCost {
  uint64_t total_ns = 0;
  uint64_t longest_call_ns = 0;
};

// Keeps the layout the parser has learned, so one reader serves a whole walk.
class SmapsReader {
 public:
  // The kernel hands out one page of text per read() whatever the buffer, so a
  // small one that stays in the cache is the fastest; text that ends in the
  // middle of a block is kept for the next read. The visited mapping is used
  // again: copy what is to stay.
  base::Status read(const base::Directory& process,
                    const parse::MappingVisitor& visit,
                    ReadCost* cost = nullptr);

 private:
  parse::SmapsParser parser_;
};

}  // namespace tidemark::source
