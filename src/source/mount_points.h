// Where file systems of the kernel's own are mounted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "source/roots.h"

namespace tidemark::source {

// Where a file system of this type is mounted, by the tree's mountinfo.
std::optional<std::string> mount_point_of(const Roots& roots,
                                          std::string_view type);

}  // namespace tidemark::source
