// The data of a page, made small. A report of a long recording is a hundred
// columns of thousands of numbers, each a little more or less than the one
// before it, and most of them whole KiB.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::view {

// JSON in which each list of several whole numbers [a, b, c, …] is written as
// [true, unit, a/unit, (b-a)/unit, (c-b)/unit, …]. Unsupported where a list
// begins with `true` by itself, which none of our reports has.
base::Result<std::string> with_differences(std::string_view json);

// That, by gzip, in base64.
base::Result<std::string> packed(std::string_view json);

}  // namespace tidemark::view
