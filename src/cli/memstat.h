// The memstat personality: the options and the text of that tool, the numbers
// and exit codes of this one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace tidemark::cli {

base::Result<ExitCode> run_memstat(const std::vector<std::string>& arguments);

}  // namespace tidemark::cli
