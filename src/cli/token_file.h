// A secret that a file holds and a request must name.
#pragma once

#include <string>

#include "base/result.h"

namespace tidemark::cli {

// Misused when it is shorter than 16 letters or could not stand in a URL.
base::Result<std::string> read_token(const std::string& path);

}  // namespace tidemark::cli
