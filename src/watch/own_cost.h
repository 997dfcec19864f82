// What we cost ourselves, for who shows it.
#pragma once

#include <cstdint>

#include "analysis/top_snapshot.h"
#include "source/roots.h"

namespace tidemark::watch {

class OwnCost {
 public:
  // CPU time since the last call, and RAM.
  void add_to(const source::Roots& roots, analysis::TopSnapshot& snapshot);

 private:
  uint64_t cpu_ns_ = 0;
  uint64_t time_ns_ = 0;
};

}  // namespace tidemark::watch
