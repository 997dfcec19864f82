#include "cli/memstrack.h"

#include <algorithm>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"

namespace tidemark::cli {

// All its options are among those of `trace`. What differs: without --report
// nothing is printed.
base::Result<ExitCode> run_memstrack(
    const std::vector<std::string>& arguments) {
  const Command command = memstrack_command();
  const auto wants_help = [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "-?";
  };
  if (std::ranges::any_of(arguments, wants_help)) {
    base::Result<Output> output = Output::open("");
    if (!output) return output.error();
    base::Status status = output->write(command_help(command));
    if (!status) return status.error();
    return ExitCode::Done;
  }
  base::Status status = parse_options(command.options, arguments);
  if (!status) {
    return base::fail(status.error().kind, status.error().what,
                      "`memstrack --help` lists the options");
  }
  return command.run();
}

}  // namespace tidemark::cli
