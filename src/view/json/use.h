// The members every report shares, so that the same number has the same name
// everywhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/process_use.h"
#include "base/json.h"

namespace tidemark::view {

// pss_bytes, uss_bytes, … inside the open object. A sum over an unknown is
// listed in "lower_bounds".
void write_use(base::JsonWriter& json, const analysis::Use& use);

// What is to be said of the whole: "notes", an array of sentences.
void write_notes(base::JsonWriter& json, const std::vector<std::string>& notes);

// The member, null when it is unknown; then the reason joins `unknown`.
void write_reading(base::JsonWriter& json, const char* name,
                   const model::Reading<uint64_t>& reading,
                   std::vector<std::pair<std::string, std::string>>& unknown);

// "unknown": {"pss_bytes": "denied: …"}; nothing when all is known.
void write_unknown(
    base::JsonWriter& json,
    const std::vector<std::pair<std::string, std::string>>& unknown);

// "categories": […].
void write_categories(base::JsonWriter& json,
                      const std::vector<analysis::CategoryUse>& categories);

// Head of every object: schema, time, how long reading took.
void write_head(base::JsonWriter& json, std::string_view schema,
                uint64_t realtime_ns, uint64_t read_ns);

}  // namespace tidemark::view
