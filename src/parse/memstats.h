// Parses the JSON of crosvm's memstats collector: an array with an object for
// each second. Unknown members are skipped; one that is missing or of another
// type is an error that names it, because a zero in its place would look like
// memory that is not there. An array that ends early is no JSON and refused
// whole: the collector writes its file in one go.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/memstats.h"

namespace tidemark::parse {

base::Result<std::vector<model::MemstatsRecord>> parse_memstats(
    std::string_view text);

}  // namespace tidemark::parse
