// The memstrack personality: the options and reports of that tool, and its keys
// on the screen.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace tidemark::cli {

base::Result<ExitCode> run_memstrack(const std::vector<std::string>& arguments);

}  // namespace tidemark::cli
