// Bytes made smaller, in the form that browsers open by themselves.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::base {

// The same bytes for the same input: no time and no name is kept in it.
Result<std::string> gzip(std::string_view bytes);

// Letters, digits, "+", "/" and "=" alone: it can stand anywhere in a text.
std::string base64(std::string_view bytes);

}  // namespace tidemark::base
