// Numbers of dense tables on a canvas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/top_snapshot.h"
#include "model/reading.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"

namespace tidemark::view::tui {

// Right before `end_column`: "6.11G", `?` and bounds in the colour of warning.
void put_amount(Canvas& canvas, const Look& look, int end_column, int row,
                const model::Amount& amount, Paint ink);
// "+412M", "-270M", "0", "?".
std::string signed_size(std::optional<int64_t> bytes);
void put_growth(Canvas& canvas, int end_column, int row,
                std::optional<int64_t> bytes);
// "8 s", "3 min": how old something is.
std::string age_words(uint64_t ns);
// How long the history is: "10 min" once it is so long; "10 MIN" above a column
// of growth.
std::string span_words(const analysis::TopSnapshot& snapshot);
std::string growth_head(const analysis::TopSnapshot& snapshot);
// "8G", "12.5G": a number of a scale, without the zeros that say how exact it
// is.
std::string scale_size(uint64_t bytes);
// Words with their bounds as ASCII writes them, ">=" for `≥`, where that is all
// there is: a cell that is folded has room for one character.
std::string bounds_for(const Look& look, std::string words);
// "10:31:08", local time.
std::string time_of_day(uint64_t realtime_ns);

}  // namespace tidemark::view::tui
