// Buckets as CSV: the lines, or the objects that no rule took.
#pragma once

#include <string>

#include "analysis/buckets.h"

namespace tidemark::view {

std::string buckets_csv(const analysis::BucketReport& report);
std::string undigested_csv(const analysis::BucketReport& report);

}  // namespace tidemark::view
