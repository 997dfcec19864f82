#include "cli/memstrack.h"

#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"

namespace tidemark::cli {
namespace {

bool names_a_backend(const std::string& word) {
  return word.starts_with("-b") || word.starts_with("--backend") ||
         word.starts_with("--pageowner-file");
}

// Before the switch to the real root, where scripts give a tracer a second and
// load modules meanwhile. os-release(5) has this file as the mark of it: dracut
// and mkinitcpio write it, systemd asks for it, no installed system has it.
// Time since boot would tell less: a container host works within seconds, and
// an initramfs that waits for a disk or saves a crash dump is one for minutes.
// Nor does a root in memory: some machines never leave theirs.
bool is_in_initramfs() {
  return ::access("/etc/initrd-release", F_OK) == 0;
}

// What `memstrack ARGUMENTS` means in options of ours. On a machine that works
// BPF comes first: events are lost when the machine is busy, and nobody waits
// for a second there. A backend that was asked for is the only one.
std::vector<std::string> trace_arguments(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> ours;
  if (is_in_initramfs() && std::ranges::none_of(arguments, names_a_backend)) {
    ours.emplace_back("--early");
  }
  ours.insert(ours.end(), arguments.begin(), arguments.end());
  return ours;
}

}  // namespace

// All its options are among those of `trace`. What differs: without --report
// nothing is printed, and a file is kept up to date unasked.
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
  base::Status status =
      parse_options(command.options, trace_arguments(arguments));
  if (!status) {
    return base::fail(status.error().kind, status.error().what,
                      "`memstrack --help` lists the options");
  }
  return command.run();
}

}  // namespace tidemark::cli
