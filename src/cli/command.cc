#include "cli/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/output.h"

namespace tidemark::cli {
namespace {

constexpr size_t kPlainWidth = 80;
constexpr size_t kLeastWidth = 40;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

bool wants_color(const CommonOptions& common, int fd) {
  if (common.color != "auto") return common.color == "always";
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") || is_set("FORCE_COLOR")) return true;
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) && terminal && std::string_view(terminal) != "dumb";
}

// The first of the three that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(name)) continue;
    const std::string_view locale = std::getenv(name);
    for (const char* spelling : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (locale.find(spelling) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

size_t output_width(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastWidth) {
    return size.ws_col;
  }
  if (const char* columns = std::getenv("COLUMNS")) {
    std::optional<uint64_t> number = base::parse_u64(columns);
    if (number && *number >= kLeastWidth) return *number;
  }
  return kPlainWidth;
}

Format format_of(std::string_view word) {
  if (word == "json") return Format::Json;
  if (word == "jsonl") return Format::JsonLines;
  return word == "csv" ? Format::Csv : Format::Text;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  for (const std::string& candidate : words) {
    if (candidate == word) return true;
  }
  return false;
}

}  // namespace

void add_common_options(OptionTable& table, CommonOptions& common,
                        const std::vector<std::string>& formats) {
  table.choice("--format", formats, "how to print the result",
               [&common](const std::string& word) -> base::Status {
                 common.format = format_of(word);
                 common.format_word = word;
                 return base::Ok{};
               });
  table.flag("--json", "the same as --format json",
             [&common] { common.format = Format::Json; });
  if (contains(formats, "csv")) {
    table.flag("--csv", "the same as --format csv",
               [&common] { common.format = Format::Csv; });
  }
  if (contains(formats, "csv") || contains(formats, "jsonl")) {
    table.value("--units", "UNIT",
                "sizes in auto, B, KiB, MiB, GiB, TiB (also k, M, G, T)",
                [&common](const std::string& word) -> base::Status {
                  base::Result<base::SizeUnit> unit =
                      base::parse_size_unit(word);
                  if (!unit) return unit.error();
                  common.unit = *unit;
                  return base::Ok{};
                });
    table.flag("--wide", "do not cut long names", common.wide);
  }
  table.choice("--color", {"auto", "always", "never"},
               "colour on the terminal; auto honours NO_COLOR",
               [&common](const std::string& word) -> base::Status {
                 common.color = word;
                 return base::Ok{};
               });
  table.value("-o,--output", "FILE", "write the result there; - is stdout",
              common.output_path);
  table.value("--proc", "DIR",
              "read this tree instead of /proc (variable PROCFS): a copy, a "
              "mount of another machine's",
              common.proc_path);
  table.flag("-q,--quiet", "no remarks on standard error", common.quiet);
  table.flag("-h,--help", "this text", common.help);
}

view::TextStyle text_style(const CommonOptions& common, int output_fd) {
  view::TextStyle style;
  style.color = wants_color(common, output_fd);
  style.utf8 = locale_is_utf8();
  style.width = output_width(output_fd);
  style.wide = common.wide;
  style.unit = common.unit;
  return style;
}

base::JsonWriter::Layout json_layout(Format format) {
  return format == Format::JsonLines ? base::JsonWriter::Layout::OneLine
                                     : base::JsonWriter::Layout::Pretty;
}

base::Result<ExitCode> write_report(
    Output& output, const CommonOptions& common,
    const std::function<std::string(const view::TextStyle&)>& text,
    const std::function<std::string(base::JsonWriter::Layout)>& json) {
  base::Status status = output.write(common.format == Format::Text
                                         ? text(text_style(common, output.fd()))
                                         : json(json_layout(common.format)));
  if (!status) return status.error();
  return ExitCode::Done;
}

void print_error(const base::Error& error) {
  // Messages quote what users typed and what the system is called. Only the
  // line breaks we put there ourselves may act.
  std::string text = "tidemark: ";
  std::string_view rest = error.what;
  while (!rest.empty())
    text += base::visible(base::take_line(rest)) + "\n";
  if (!error.hint.empty()) text += "  hint: " + error.hint + "\n";
  write_stderr(text);
}

void print_note(const CommonOptions& common, std::string_view note) {
  if (!common.quiet) write_stderr("tidemark: " + std::string(note) + "\n");
}

}  // namespace tidemark::cli
