// Options that the commands which make or take apart files share.
#pragma once

#include <string>

#include "base/time_zone.h"
#include "cli/command.h"

namespace tidemark::cli {

// How such a command words them; the rest is the same for all.
struct FileOptionWords {
  std::string output;
  std::string quiet;
};

// The last ones of a command that makes a file: -o, --overwrite, -q, -h.
void add_file_options(OptionTable& table, CommonOptions& common,
                      bool& overwrites, FileOptionWords words);

// `help` says which times it is about.
void add_time_zone_option(OptionTable& table, const std::string& help,
                          base::TimeZone& zone);

}  // namespace tidemark::cli
