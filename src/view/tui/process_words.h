// How processes were read, in words.
#pragma once

#include <string>

#include "analysis/top_snapshot.h"

namespace tidemark::view::tui {

// ", 1 ? denied · PSS 8 s old, RSS now": how many could not be read, and how
// old the oldest reading is.
std::string reading_words(const analysis::TopSnapshot& snapshot);

}  // namespace tidemark::view::tui
