// The memstrack personality: what `memstrack ARGUMENTS` means as a command line
// of ours. It is started in the boot, by scripts that give it a second, so it
// begins by events, and it keeps the report of -o up to date: what is reset or
// forced to reboot prints none.
#pragma once

#include <string>
#include <vector>

namespace tidemark::cli {

std::vector<std::string> memstrack_arguments(
    const std::vector<std::string>& arguments);

}  // namespace tidemark::cli
