// `completion`: shell completions, made from the same tables as the parser.
#include "cli/commands.h"

#include <fmt/format.h>

#include <memory>

#include "cli/output.h"

namespace tidemark::cli {
namespace {

struct CompletionOptions {
  bool help = false;
  std::string shell;
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string joined_commands() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_table()) {
    names.emplace_back(entry.name);
  }
  return joined(names);
}

// A single-quoted word of bash, zsh and fish.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool takes_file(const Option& option) {
  return option.value == "FILE" || option.value == "DIR";
}

bool takes_process(const Command& command) {
  for (const Option& option : command.options.all()) {
    if (option.is_positional && option.names.starts_with("PID")) return true;
  }
  return false;
}

std::string bash_case(const Command& command) {
  std::string words;
  std::string values;
  for (const Option& option : command.options.all()) {
    if (option.is_positional) {
      words += (words.empty() ? "" : " ") + joined(option.choices);
      continue;
    }
    const std::vector<std::string> names = option.name_list();
    words += (words.empty() ? "" : " ") + joined(names);
    std::string pattern;
    for (const std::string& name : names) {
      pattern += (pattern.empty() ? "" : "|") + name;
    }
    if (!option.choices.empty()) {
      values += fmt::format(
          "        {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return "
          ";;\n",
          pattern, joined(option.choices));
    } else if (takes_file(option)) {
      values += fmt::format(
          "        {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n",
          pattern);
    } else if (!option.value.empty()) {
      values += fmt::format("        {}) return ;;\n", pattern);
    }
  }
  std::string out = fmt::format("    {})\n", command.name);
  if (!values.empty()) {
    out += "      case $before in\n" + values + "      esac\n";
  }
  out += fmt::format("      words='{}'", words);
  if (takes_process(command)) {
    out += "\n      [[ $word == -* ]] || words=$(cd /proc && echo [0-9]*)";
  }
  return out + " ;;\n";
}

std::string bash_script() {
  std::string out = fmt::format(
      "# bash completion for tidemark\n"
      "_tidemark() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}}\n"
      "  local before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local words='{} --help --version'\n"
      "  if ((COMP_CWORD > 1)); then\n"
      "    case ${{COMP_WORDS[1]}} in\n",
      joined_commands());
  for (const CommandEntry& entry : command_table()) {
    out += bash_case(entry.make());
  }
  return out +
         "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -F _tidemark tidemark\n";
}

// "--by=[what the groups are]:value:(a b)" of _arguments; brackets and colons
// inside the text would end it.
std::string zsh_option(const Option& option) {
  std::string help;
  for (char c : option.help) {
    if (c == '[' || c == ']' || c == ':') help += '\\';
    help += c;
  }
  std::string out;
  for (const std::string& name : option.name_list()) {
    std::string entry = name;
    entry.append("[").append(help).append("]");
    if (!option.choices.empty()) {
      entry += ":value:(" + joined(option.choices) + ")";
    } else if (takes_file(option)) {
      entry += ":file:_files";
    } else if (!option.value.empty()) {
      entry += ":value: ";
    }
    out += " \\\n        " + quoted(entry);
  }
  return out;
}

std::string zsh_script() {
  std::string out =
      "#compdef tidemark\n"
      "_tidemark() {\n"
      "  local -a commands=(\n";
  for (const CommandEntry& entry : command_table()) {
    out += "    " +
           quoted(std::string(entry.name) + ":" + std::string(entry.summary)) +
           "\n";
  }
  out +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local name=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $name in\n";
  for (const CommandEntry& entry : command_table()) {
    const Command command = entry.make();
    out += fmt::format("    {})\n      _arguments", entry.name);
    for (const Option& option : command.options.all()) {
      if (!option.is_positional) out += zsh_option(option);
    }
    if (takes_process(command)) out += " \\\n        '*:process:_pids'";
    for (const Option& option : command.options.all()) {
      if (option.is_positional && !option.choices.empty()) {
        out += " \\\n        " + quoted("1:" + option.names + ":(" +
                                        joined(option.choices) + ")");
      }
    }
    out += " ;;\n";
  }
  return out +
         "  esac\n"
         "}\n"
         "# Run by the completion system, or sourced by hand.\n"
         "if [[ $funcstack[1] == _tidemark ]]; then\n"
         "  _tidemark \"$@\"\n"
         "else\n"
         "  compdef _tidemark tidemark\n"
         "fi\n";
}

std::string fish_option(std::string_view command, const Option& option) {
  std::string out = fmt::format(
      "complete -c tidemark -n '__fish_seen_subcommand_from {}'", command);
  for (const std::string& name : option.name_list()) {
    out += name.starts_with("--") ? " -l " + name.substr(2)
                                  : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    out += " -xa " + quoted(joined(option.choices));
  } else if (takes_file(option)) {
    out += " -rF";
  } else if (!option.value.empty()) {
    out += " -x";
  }
  return out + " -d " + quoted(option.help) + "\n";
}

std::string fish_script() {
  std::string out = "# fish completion for tidemark\ncomplete -c tidemark -f\n";
  for (const CommandEntry& entry : command_table()) {
    out += fmt::format(
        "complete -c tidemark -n __fish_use_subcommand -a {} -d {}\n",
        entry.name, quoted(entry.summary));
    const Command command = entry.make();
    for (const Option& option : command.options.all()) {
      if (!option.is_positional) out += fish_option(entry.name, option);
    }
    for (const Option& option : command.options.all()) {
      if (!option.is_positional || option.choices.empty()) continue;
      out += fmt::format(
          "complete -c tidemark -n '__fish_seen_subcommand_from {}' -a {}\n",
          entry.name, quoted(joined(option.choices)));
    }
    if (takes_process(command)) {
      out += fmt::format(
          "complete -c tidemark -n '__fish_seen_subcommand_from {}' -a "
          "'(__fish_complete_pids)'\n",
          entry.name);
    }
  }
  return out;
}

base::Result<ExitCode> run_completion(const CompletionOptions& options) {
  std::string script;
  if (options.shell == "bash") {
    script = bash_script();
  } else if (options.shell == "zsh") {
    script = zsh_script();
  } else if (options.shell == "fish") {
    script = fish_script();
  } else {
    return base::fail(base::ErrorKind::Misused,
                      options.shell.empty()
                          ? "no shell was named"
                          : "no completion for '" + options.shell + "'",
                      "one of bash, zsh, fish");
  }
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  base::Status status = output->write(script);
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace

Command completion_command() {
  auto options = std::make_shared<CompletionOptions>();
  Command command;
  command.name = "completion";
  command.summary = "completions for bash, zsh or fish";
  command.description =
      "Prints a script that teaches the shell the commands, options and "
      "values, made from the same tables as the parser.";
  command.examples = {
      {"source <(tidemark completion bash)", "in this bash"},
      {"source <(tidemark completion zsh)", "in this zsh"},
      {"tidemark completion fish | source", "in this fish"},
  };
  command.options.positional("SHELL", "bash, zsh or fish", options->shell, true,
                             {"bash", "zsh", "fish"});
  command.options.flag("-h,--help", "this text", options->help);
  command.run = [options] { return run_completion(*options); };
  return command;
}

}  // namespace tidemark::cli
