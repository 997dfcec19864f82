// The memstrack personality: the options and reports of that tool, and its keys
// on the screen. It is started in the boot, by scripts that give it a second,
// so it begins by events, and it keeps the report of -o up to date: what is
// reset or forced to reboot prints none.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace tidemark::cli {

base::Result<ExitCode> run_memstrack(const std::vector<std::string>& arguments);

}  // namespace tidemark::cli
