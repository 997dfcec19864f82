#include "cli/file_options.h"

#include <utility>

namespace tidemark::cli {

void add_file_options(OptionTable& table, CommonOptions& common,
                      bool& overwrites, FileOptionWords words) {
  table.value("-o,--output", "FILE", std::move(words.output),
              common.output_path);
  table.flag("--overwrite", "replace the file if it exists", overwrites);
  table.flag("-q,--quiet", std::move(words.quiet), common.quiet);
  table.flag("-h,--help", "this text", common.help);
}

void add_time_zone_option(OptionTable& table, const std::string& help,
                          base::TimeZone& zone) {
  table.value("--time-zone", "ZONE", help + ": local (default), UTC, +HH:MM",
              [&zone](const std::string& word) -> base::Status {
                base::Result<base::TimeZone> parsed =
                    base::TimeZone::parse(word);
                if (!parsed) return parsed.error();
                zone = *parsed;
                return base::Ok{};
              });
}

}  // namespace tidemark::cli
