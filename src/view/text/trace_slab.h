// Slab objects by cache and place in the code, as a table.
#pragma once

#include <string>
#include <vector>

#include "analysis/slab_sites.h"
#include "model/trace.h"
#include "view/text/style.h"

namespace tidemark::view {

std::string trace_slab_text(const std::vector<analysis::SlabCacheRow>& rows,
                            const model::Trace& trace, const TextStyle& style);

}  // namespace tidemark::view
