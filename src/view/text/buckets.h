// Buckets as a table.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/buckets.h"
#include "view/text/style.h"

namespace tidemark::view {

struct BucketTextOptions {
  bool with_undigested = false;
  size_t undigested_limit = 40;
};

// Rules that took nothing have no line.
std::string buckets_text(const analysis::BucketReport& report,
                         const BucketTextOptions& options,
                         const TextStyle& style);

}  // namespace tidemark::view
