// `manual`: the man pages, made from the same tables as the parser.
#include "cli/commands.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/build_info.h"
#include "cli/help.h"
#include "cli/output.h"

namespace tidemark::cli {
namespace {

struct ManualOptions {
  CommonOptions common;
  std::string page;
  bool list = false;
};

// Text for roff: a backslash or dash is not to be taken as an escape, nor a
// dot or quote at the start of a line as a request.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c & ~0x20);
  }
  return out;
}

std::string page_head(const std::string& page, std::string_view summary) {
  return fmt::format(
      ".TH \"{}\" 1 \"{}\" \"tidemark {}\" \"tidemark\"\n"
      ".SH NAME\n{} \\- {}\n",
      roff(upper(page)), kReleaseDate, kVersion, roff(page), roff(summary));
}

std::string exit_section() {
  return ".SH EXIT STATUS\n"
         ".TP\n0\nDone.\n"
         ".TP\n1\nFailed; the reason is on standard error.\n"
         ".TP\n2\nMisused: an unknown option, a bad value, an ambiguous name.\n"
         ".TP\n3\nThe target ended before the asked end.\n";
}

std::string environment_section() {
  return ".SH ENVIRONMENT\n"
         ".TP\n.B PROCFS\nA proc tree to read instead of /proc, as \\-\\-proc "
         "does.\n"
         ".TP\n.B NO_COLOR\nNot empty: no colour, unless \\-\\-color says "
         "otherwise.\n";
}

std::string option_entries(const Command& command) {
  std::string out;
  for (const Option& option : command.options.all()) {
    if (option.is_positional) continue;
    std::string names;
    for (const std::string& name : option.name_list()) {
      names += (names.empty() ? "" : ", ") + roff(name);
    }
    out += ".TP\n\\fB" + names + "\\fR";
    if (!option.value.empty()) out += " \\fI" + roff(option.value) + "\\fR";
    out += "\n" + roff(option.help) + ".\n";
  }
  return out;
}

std::string command_page(const Command& command) {
  std::string out =
      page_head("tidemark-" + std::string(command.name), command.summary);
  out += ".SH SYNOPSIS\n.B " + roff(usage_line(command)) + "\n";
  out += ".SH DESCRIPTION\n" + roff(command.description) + "\n";
  out += ".SH OPTIONS\n" + option_entries(command);
  out += ".SH EXAMPLES\n";
  for (const Example& example : command.examples) {
    out += ".TP\n\\fB" + roff(example.command) + "\\fR\n" + roff(example.does) +
           ".\n";
  }
  out += exit_section() + environment_section();
  return out + ".SH SEE ALSO\n.BR tidemark (1),\n.BR proc (5)\n";
}

std::string overview_page() {
  std::string out =
      page_head("tidemark", "tells where the memory of a Linux machine goes");
  out += ".SH SYNOPSIS\n.B tidemark\n.I COMMAND\n[options]\n";
  out +=
      ".SH DESCRIPTION\n"
      "Every number is a measurement, or unknown with the reason; every "
      "total is printed with what is left over. Sizes are in units of 1024: "
      "6.11G in a table is 6.11 GiB.\n.SH COMMANDS\n";
  for (const CommandEntry& entry : command_table()) {
    out += fmt::format(".TP\n.BR tidemark\\-{} (1)\n{}.\n", roff(entry.name),
                       roff(entry.summary));
  }
  out +=
      ".SH PERSONALITIES\nCalled by the name\n.B memstat\n"
      "it takes the options and prints the text of that tool.\n";
  out += exit_section() + environment_section();
  return out;
}

std::vector<std::string> page_names() {
  std::vector<std::string> names = {"tidemark"};
  for (const CommandEntry& entry : command_table()) {
    names.push_back("tidemark-" + std::string(entry.name));
  }
  return names;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_table()) {
    names.emplace_back(entry.name);
  }
  return names;
}

base::Result<std::string> page_text(std::string_view page) {
  constexpr std::string_view kPrefix = "tidemark-";
  if (page.empty() || page == "tidemark") return overview_page();
  std::string_view name = page;
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (const CommandEntry& entry : command_table()) {
    if (entry.name == name) return command_page(entry.make());
  }
  return base::fail(base::ErrorKind::Misused,
                    "no manual page '" + std::string(page) + "'",
                    "`tidemark manual --list` lists them");
}

base::Result<ExitCode> run_manual(const ManualOptions& options) {
  std::string text;
  if (options.list) {
    for (const std::string& name : page_names())
      text += name + "\n";
  } else {
    base::Result<std::string> page = page_text(options.page);
    if (!page) return page.error();
    text = std::move(*page);
  }
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  base::Status status = output->write(text);
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace

Command manual_command() {
  auto options = std::make_shared<ManualOptions>();
  Command command;
  command.name = "manual";
  command.summary = "the manual page of a command";
  command.description =
      "Prints a manual page as roff source, made from the same tables as the "
      "parser. Pipe it into man -l - to read it.";
  command.examples = {
      {"tidemark manual ps | man -l -", "read the page of ps"},
      {"tidemark manual --list", "the names of all pages"},
  };
  command.options.positional("PAGE", "tidemark, or a command", options->page,
                             false, command_names());
  command.options.flag("--list", "names of all pages, one a line",
                       options->list);
  command.options.flag("-h,--help", "this text", options->common.help);
  command.run = [options] { return run_manual(*options); };
  return command;
}

}  // namespace tidemark::cli
