// What the Machine view says of one kind of memory: what it is, how it is
// known, and what of it would come back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/top_snapshot.h"
#include "model/category.h"
#include "view/tui/census.h"

namespace tidemark::view::tui {

// "files: ≤6.71G as it is needed; …": a number, a bound, or why neither is
// known. Short enough for the status line.
std::string come_back_words(const analysis::TopSnapshot& snapshot,
                            const Census& census, model::Category kind);

// Lines of at most so many columns.
std::vector<std::string> explain_kind(const analysis::TopSnapshot& snapshot,
                                      const Census& census,
                                      model::Category kind, int columns);

}  // namespace tidemark::view::tui
