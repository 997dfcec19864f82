// The memstrack personality: the options and reports of that tool, and its keys
// on the screen. In an initramfs scripts start it and give it a second, so
// there it begins by events. It keeps the report of -o up to date: what is
// reset or forced to reboot prints none.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace tidemark::cli {

base::Result<ExitCode> run_memstrack(const std::vector<std::string>& arguments);

}  // namespace tidemark::cli
