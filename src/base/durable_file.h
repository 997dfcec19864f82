// Files that are there after a reset.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::base {

// As replace_file, and on the disk when it returns: a reset at any moment
// leaves the old content or the new one, whole.
Status replace_file_durably(const std::string& path, std::string_view bytes);

// Whether those two can: nothing is there yet, or a regular file, and be it
// behind a link, which stays. They refuse all else.
bool can_replace_file(const std::string& path);

}  // namespace tidemark::base
