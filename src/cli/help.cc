#include "cli/help.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tidemark::cli {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kHelpColumn = 28;

// Breaks at blanks; every line begins with `indent` blanks.
std::string wrap(std::string_view text, size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  bool is_fresh = true;
  while (!text.empty()) {
    const std::string_view word = base::take_word(text);
    if (word.empty()) break;
    if (!is_fresh && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line.assign(indent, ' ');
      is_fresh = true;
    }
    if (!is_fresh) line += ' ';
    line += word;
    is_fresh = false;
  }
  return out + line + "\n";
}

std::string option_names(const Option& option) {
  std::string names;
  for (const std::string& name : option.name_list()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!option.value.empty()) names += " " + option.value;
  return names;
}

std::string option_line(const Option& option) {
  const std::string names = "  " + option_names(option);
  std::string help = wrap(option.help, kHelpColumn);
  if (names.size() + 2 > kHelpColumn) return names + "\n" + help;
  return names + help.substr(names.size());
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = "tidemark " + std::string(command.name) + " [options]";
  for (const Option& option : command.options.all()) {
    if (!option.is_positional) continue;
    const std::string name = option.names + (option.takes_many ? "..." : "");
    const std::string word = (option.needs_dashes ? "-- " : "") + name;
    line += option.is_required ? " " + word : " [" + word + "]";
  }
  return line;
}

std::string overview_help() {
  std::string out =
      "tidemark tells where the memory of a Linux machine goes\n\n"
      "usage: tidemark COMMAND [options]\n\n";
  for (const CommandEntry& entry : command_table()) {
    out += fmt::format("  {:<12}{}\n", entry.name, entry.summary);
  }
  out +=
      "\n  tidemark ps                    who has the memory\n"
      "  tidemark get -rv PID           a process and all below it\n"
      "  tidemark COMMAND --help        options and examples of a command\n"
      "  tidemark --version             version and how it was built\n\n"
      "exit status: 0 done, 1 failed, 2 misused, 3 the target ended early\n";
  return out;
}

std::string command_help(const Command& command) {
  std::string out =
      fmt::format("tidemark {}: {}\n\nusage: {}\n\nexamples:\n", command.name,
                  command.summary, usage_line(command));
  for (const Example& example : command.examples) {
    out += fmt::format("  {:<40}  {}\n", example.command, example.does);
  }
  out += "\n" + wrap(command.description, 0) + "\noptions:\n";
  for (const Option& option : command.options.all()) {
    if (!option.is_positional) out += option_line(option);
  }
  return out;
}

}  // namespace tidemark::cli
