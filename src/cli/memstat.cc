#include "cli/memstat.h"

#include <algorithm>

#include "cli/get.h"
#include "cli/output.h"

namespace tidemark::cli {
namespace {

constexpr std::string_view kHelp =
    "memstat: memory of a process (tidemark under another name)\n\n"
    "usage: memstat get [options] PID\n\n"
    "  memstat get 1234         PSS of process 1234\n"
    "  memstat get 1234 -rv     with all its descendants, one line each\n"
    "  memstat get 1234 -rvw    again and again, until it ends or Ctrl-C\n\n"
    "options, before or after the sub-command:\n"
    "  -r, --recursively        count descendants too\n"
    "  -v, --verbose            a line for each process\n"
    "  -w, --watch              repeat\n"
    "  -f, --frequency HZ       readings per second with -w (default 10)\n"
    "  --peak, --no-peak, --only-peak\n"
    "                           the highest reading, at the end of a watch\n"
    "  --bytes                  only the number, in bytes\n\n"
    "huge pages are included; kB are 1024 bytes; errors have exit codes.\n";

constexpr uint64_t kTenthSecondNs = 100'000'000;

// "-f", "-rvwf", "--frequency": the word behind it is its value.
bool takes_next_word(const std::string& word) {
  if (word.starts_with("--")) return word == "--frequency";
  return word.starts_with('-') && word.ends_with('f');
}

}  // namespace

base::Result<ExitCode> run_memstat(const std::vector<std::string>& arguments) {
  GetOptions options;
  options.as_memstat = true;
  options.period_ns = kTenthSecondNs;
  bool help = false;
  OptionTable table;
  table.positional("PID", "the process", options.targets, true);
  add_memstat_options(table, options);
  table.flag("-h,--help", "this text", help);

  // Options may stand on either side of the sub-command: the first plain word
  // is it.
  std::vector<std::string> rest = arguments;
  auto command = std::ranges::find_if(
      rest, [](const std::string& word) { return !word.starts_with('-'); });
  while (command != rest.begin() && command != rest.end() &&
         takes_next_word(*(command - 1))) {
    command = std::find_if(command + 1, rest.end(), [](const std::string& w) {
      return !w.starts_with('-');
    });
  }
  const std::string name = command == rest.end() ? "" : *command;
  if (command != rest.end()) rest.erase(command);
  if (!name.empty() && name != "get") {
    return base::fail(base::ErrorKind::Misused,
                      "memstat has no sub-command '" + name + "' here",
                      "memstat get PID");
  }
  base::Status status = parse_options(table, rest);
  if (!status) return status.error();
  if (help || name.empty()) {
    write_stderr(kHelp);
    return help ? ExitCode::Done : ExitCode::Misused;
  }
  return run_get(options);
}

}  // namespace tidemark::cli
