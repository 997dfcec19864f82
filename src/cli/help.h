// --help of the program and of a command.
#pragma once

#include <string>

#include "cli/command.h"

namespace tidemark::cli {

std::string overview_help();
std::string command_help(const Command& command);

// "tidemark get [options] PID|NAME…"
std::string usage_line(const Command& command);

}  // namespace tidemark::cli
