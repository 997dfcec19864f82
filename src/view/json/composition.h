// The parts of a moment as JSON, the same in every report that has them.
#pragma once

#include <string_view>

#include "analysis/composition.h"
#include "analysis/trend.h"
#include "base/json.h"
#include "model/recording.h"

namespace tidemark::view {

// PSS of what was never divided by those that share it is null, and `because`
// says why; its bound stands in "bounds".
void write_bytes(base::JsonWriter& json, const analysis::Bytes& bytes,
                 std::string_view because = {});
// The same of one number alone, under that name; its bounds and its reason are
// for the caller to write.
void write_best(base::JsonWriter& json, std::string_view name,
                const analysis::Bytes& bytes);
// Lower and upper; nothing where it was measured, or estimated.
void write_bound(base::JsonWriter& json, std::string_view name,
                 const analysis::Bytes& bytes);
// "categories", "mappings", "processes" and the total as members.
void write_composition(base::JsonWriter& json,
                       const analysis::Composition& composition);
void write_trends(base::JsonWriter& json,
                  const std::vector<analysis::Trend>& trends);
void write_tick(base::JsonWriter& json, const model::RecordedTick& tick);

}  // namespace tidemark::view
