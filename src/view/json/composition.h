// The parts of a moment as JSON, the same in every report that has them.
#pragma once

#include <string_view>

#include "analysis/composition.h"
#include "analysis/trend.h"
#include "base/json.h"
#include "model/recording.h"

namespace tidemark::view {

void write_bytes(base::JsonWriter& json, const analysis::Bytes& bytes);
// "categories", "mappings", "processes" and the total as members.
void write_composition(base::JsonWriter& json,
                       const analysis::Composition& composition);
void write_trends(base::JsonWriter& json,
                  const std::vector<analysis::Trend>& trends);
void write_tick(base::JsonWriter& json, const model::RecordedTick& tick);

}  // namespace tidemark::view
