// Parses the rules of `buckets`: a JSON list of objects with a `name` and the
// regular expressions `process`, `vmo` and `cgroup`, of which any may be
// missing or empty and then matches everything. This is the format of Fuchsia's
// digest with `cgroup` added. A member of another name is an error, because a
// misspelt condition would silently match all. Several rules of one name are
// one bucket.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/bucket.h"

namespace tidemark::parse {

// The error names the line, and the rule by its number (from one) and name.
base::Result<std::vector<model::BucketRule>> parse_bucket_rules(
    std::string_view text);

}  // namespace tidemark::parse
