// How processes were read, in words.
#pragma once

#include <string>
#include <vector>

#include "analysis/top_snapshot.h"

namespace tidemark::view::tui {

// The marked processes together.
struct MarkedSum {
  std::string names;  // of the first
  analysis::Use use;
  std::vector<model::ProcessId> ending;
};
// "marked 2: osm2pgsql, firefox   4.74G PSS, of which 4.47G would come back if
// both ended". By pages once they were counted. Until then, and where they may
// not be, by what each has for itself: a bound, since what only the marked ones
// share comes back too.
std::string marked_words(const MarkedSum& marked,
                         const analysis::TopSnapshot& snapshot);

// ", 1 ? denied · PSS 8 s old, RSS now": how many could not be read, and how
// old the oldest reading is.
std::string reading_words(const analysis::TopSnapshot& snapshot);

}  // namespace tidemark::view::tui
