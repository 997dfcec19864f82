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
  base::Result<base::Fd> open_regular(const model::MemoryObject& object,
                                      const ObjectReach& reach) const;

  const Roots& roots_;
  ObjectWalk& walk_;
  bool swap_is_used_ = false;
};

// Memory of the sockets among the objects, asked in every network namespace
// that processes are in. Returns what could not be asked, in words.
std::vector<std::string> measure_sockets(const Roots& roots, ObjectWalk& walk);

}  // namespace tidemark::source
