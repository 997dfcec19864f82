// What a command is, and what all of them share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/options.h"
#include "view/text/style.h"

namespace tidemark::cli {

class Output;

// `run` ends with the status of its command, so any other number can come too.
enum class ExitCode : int {
  Done = 0,
  Failed = 1,
  Misused = 2,
  TargetGone = 3,  // before the asked end
  OverLimit = 10,
  Undecided = 11,
  WrapperFailed = 125,  // of `run`: it is our failure, not the command's
  NotExecutable = 126,
  NotFound = 127,
};

struct Example {
  std::string_view command;
  std::string_view does;
};

// Made anew for each use; `run` and `options` share the state they are bound
// to, which lives in the closure of `run`.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::vector<Example> examples;
  OptionTable options;
  std::function<base::Result<ExitCode>()> run;
};

struct CommandEntry {
  std::string_view name;
  std::string_view summary;
  Command (*make)();
  // It ends with the status of another program, so a failure of ours must not
  // look like one of that program's.
  bool wraps_a_command = false;
};

// The table everything is generated from, in the order people meet them.
const std::vector<CommandEntry>& command_table();

enum class Format { Text, Json, JsonLines, Csv };

// Options every command takes. A command without an own meaning for one of
// them leaves it out of its table.
struct CommonOptions {
  bool help = false;
  Format format = Format::Text;
  std::string format_word;  // as given; for the formats of one command alone
  base::SizeUnit unit = base::SizeUnit::Auto;
  std::string color = "auto";
  std::string output_path;  // empty and "-" are standard output
  std::string proc_path;
  bool wide = false;
  bool quiet = false;
};

void add_common_options(OptionTable& table, CommonOptions& common,
                        const std::vector<std::string>& formats);

view::TextStyle text_style(const CommonOptions& common, int output_fd);

base::JsonWriter::Layout json_layout(Format format);

// The end of a command whose report is text or JSON: writes it as it was asked
// for.
base::Result<ExitCode> write_report(
    Output& output, const CommonOptions& common,
    const std::function<std::string(const view::TextStyle&)>& text,
    const std::function<std::string(base::JsonWriter::Layout)>& json);

// Prints "tidemark: …" and the hint to standard error.
void print_error(const base::Error& error);
// For remarks that are no failure; nothing when quiet.
void print_note(const CommonOptions& common, std::string_view note);

}  // namespace tidemark::cli
