// Buckets as JSON.
#pragma once

#include <string>

#include "analysis/buckets.h"
#include "base/json.h"

namespace tidemark::view {

std::string buckets_json(const analysis::BucketReport& report,
                         bool with_undigested, base::JsonWriter::Layout layout);

}  // namespace tidemark::view
