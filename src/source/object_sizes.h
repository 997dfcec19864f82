// What objects hold, where stat does not tell: the page cache of files, what
// is swapped out of shared memory, the buffers of pipes and sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/object.h"
#include "parse/socket_diag.h"
#include "source/object_walk.h"

namespace tidemark::source {

// The answer of cachestat(2).
struct CacheStat {
  uint64_t cached_pages;
  uint64_t dirty_pages;
  uint64_t writeback_pages;
  uint64_t evicted_pages;  // of shared memory: those swapped out
  uint64_t recently_evicted_pages;
};

// Of an open file. Unsupported before Linux 6.5.
base::Result<CacheStat> cachestat(int fd);

class ObjectSizes {
 public:
  // With `swap_is_used` shared memory is asked how much of it is swapped out;
  // otherwise that is 0 without asking.
  ObjectSizes(const Roots& roots, ObjectWalk& walk, bool swap_is_used);

  // Fills what can be known of the object; the rest gets its reason.
  void measure(size_t index);

 private:
  void measure_file(model::MemoryObject& object, const ObjectReach& reach);
  void measure_pipe(model::MemoryObject& object, const ObjectReach& reach);
  // A copy of the descriptor the object was found by.
  base::Result<base::Fd> borrow(const ObjectReach& reach);
  base::Result<base::Fd> open_regular(const model::MemoryObject& object,
                                      const ObjectReach& reach) const;
  base::Result<CacheStat> ask_cache(const model::MemoryObject& object,
                                    const ObjectReach& reach);

  const Roots& roots_;
  ObjectWalk& walk_;
  bool swap_is_used_ = false;
  // Objects of one process follow each other: it is asked for once.
  int32_t lender_pid_ = 0;
  base::Fd lender_;
};

// Memory of the sockets among the objects, asked in every network namespace
// that processes are in. Returns what could not be asked, in words.
std::vector<std::string> measure_sockets(const Roots& roots, ObjectWalk& walk);

}  // namespace tidemark::source
