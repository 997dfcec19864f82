// Names of code that a process makes as it runs (parse/perf_map.h), from the
// file it leaves for profilers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parse/perf_map.h"
#include "source/roots.h"

namespace tidemark::source {

class PerfMap {
 public:
  PerfMap() = default;
  // Of two lines for one place the later holds: code is made anew there.
  explicit PerfMap(std::vector<parse::PerfMapLine> lines);

  std::string name_of(uint64_t address) const;  // empty: it has none
  size_t size() const { return by_start_.size(); }

 private:
  std::map<uint64_t, parse::PerfMapLine> by_start_;
};

// Empty when there is none. It is looked for in the process's own /tmp, and
// taken only if it is a plain file that belongs to the user of the process (or
// to root): anybody can put a file of any name into /tmp.
PerfMap read_perf_map(const Roots& roots, int32_t pid);

}  // namespace tidemark::source
