// Picks the personality and the command, and is the only place that ends the
// program.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/Error.hpp>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include "base/escape.h"
#include "base/text.h"
#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/memstat.h"
#include "cli/memstrack.h"
#include "cli/output.h"

namespace tidemark::cli {
namespace {

// A standard descriptor that was closed would be taken by the first file we
// open, and our messages would end up in it. The read-only stand-in makes a
// write to a closed standard output fail as it should.
void fill_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int flags = fd == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    // The lowest free number is the one that is missing.
    if (::open("/dev/null", flags) < 0) return;
  }
}

base::Result<ExitCode> print(std::string_view text) {
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  base::Status status = output->write(text);
  if (!status) return status.error();
  return ExitCode::Done;
}

std::string version_text() {
  std::string text = "tidemark " + std::string(kVersion) + " (" +
                     std::string(kCompiler) + ", " + std::string(kBuildType);
  for (const BuildFeature& feature : kBuildFeatures) {
    if (feature.built_in) text += ", " + std::string(feature.name);
  }
  return text + ")\n";
}

base::Error unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_table()) {
    names.emplace_back(entry.name);
  }
  const std::string meant = nearest(word, names);
  std::string what =
      word.starts_with('-') ? "unknown option '" : "unknown command '";
  what += base::visible(word) + "'";
  if (!meant.empty()) what += "; did you mean '" + meant + "'?";
  return base::fail(base::ErrorKind::Misused, what,
                    "`tidemark --help` lists the commands");
}

base::Result<ExitCode> run_entry(const CommandEntry& entry,
                                 const std::vector<std::string>& arguments) {
  const Command command = entry.make();
  const size_t operands = find_operands(command.options, arguments);
  for (size_t i = 0; i < operands && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (word == "-h" || word == "--help") return print(command_help(command));
  }
  base::Status status = parse_options(command.options, arguments);
  if (!status) {
    base::Error error = status.error();
    if (error.hint.empty()) {
      return base::fail(error.kind, error.what,
                        "`tidemark " + std::string(entry.name) +
                            " --help` lists the options");
    }
    return error;
  }
  return command.run();
}

base::Result<ExitCode> run_tidemark(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    write_stderr(overview_help());
    return ExitCode::Misused;
  }
  std::string first = arguments.front();
  arguments.erase(arguments.begin());
  if (first == "--version" || first == "-V") return print(version_text());
  if (first == "--help" || first == "-h" ||
      (first == "help" && arguments.empty())) {
    return print(overview_help());
  }
  if (first == "help") {
    first = arguments.front();
    arguments = {"--help"};
  }
  for (const CommandEntry& entry : command_table()) {
    if (entry.name != first) continue;
    base::Result<ExitCode> result = run_entry(entry, arguments);
    if (result || !entry.wraps_a_command) return result;
    print_error(result.error());
    return ExitCode::WrapperFailed;
  }
  return unknown_command(first);
}

ExitCode exit_code_of(const base::Error& error) {
  switch (error.kind) {
    case base::ErrorKind::Misused:
      return ExitCode::Misused;
    case base::ErrorKind::Gone:
      return ExitCode::TargetGone;
    case base::ErrorKind::Closed:
      return ExitCode::Done;
    default:
      return ExitCode::Failed;
  }
}

// What to end with when CLI11 threw: before the command of a wrapper, too, a
// failure of ours must not look like one of that program's.
ExitCode exit_code_of_throw(int argc, char** argv, ExitCode usual) {
  for (const CommandEntry& entry : command_table()) {
    if (argc > 1 && entry.name == argv[1] && entry.wraps_a_command) {
      return ExitCode::WrapperFailed;
    }
  }
  return usual;
}

ExitCode run(int argc, char** argv) {
  fill_standard_descriptors();
  // A reader that has seen enough is told by the failing write.
  ignore_broken_pipes();
  const std::string_view name = argc > 0 ? argv[0] : "tidemark";
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string_view base_name = base::base_name(name);
  base::Result<ExitCode> result =
      base_name == "memstat"     ? run_memstat(arguments)
      : base_name == "memstrack" ? run_memstrack(arguments)
                                 : run_tidemark(std::move(arguments));
  if (result) return *result;
  if (result.error().kind != base::ErrorKind::Closed) {
    print_error(result.error());
  }
  return exit_code_of(result.error());
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
  using tidemark::cli::ExitCode;
  const auto ending = [&](ExitCode usual) {
    return static_cast<int>(
        tidemark::cli::exit_code_of_throw(argc, argv, usual));
  };
  // CLI11 throws on odd arguments and the standard library when memory ends;
  // nothing of ours does.
  try {
    return static_cast<int>(tidemark::cli::run(argc, argv));
  } catch (const CLI::ArgumentMismatch& error) {
    // "--by: 1 required cgroup|… missing" in the library's words.
    const std::string_view what = error.what();
    tidemark::cli::print_error(tidemark::base::fail(
        tidemark::base::ErrorKind::Misused,
        std::string(what.substr(0, what.find(':'))) + " needs a value"));
    return ending(ExitCode::Misused);
  } catch (const CLI::ParseError& error) {
    tidemark::cli::print_error(
        tidemark::base::fail(tidemark::base::ErrorKind::Misused, error.what()));
    return ending(ExitCode::Misused);
  } catch (const std::exception& error) {
    tidemark::cli::print_error(
        tidemark::base::fail(tidemark::base::ErrorKind::System, error.what()));
    return ending(ExitCode::Failed);
  }
}
