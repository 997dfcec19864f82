// The one way a parser says that a text is not what its format promises.
#pragma once

#include <string_view>

#include "base/escape.h"
#include "base/result.h"

namespace tidemark::parse {

inline base::Error malformed(std::string_view file, std::string_view line) {
  constexpr size_t kShown = 80;
  return base::fail(base::ErrorKind::Malformed,
                    std::string(file) + ": cannot read '" +
                        base::visible(line.substr(0, kShown)) + "'");
}

}  // namespace tidemark::parse
