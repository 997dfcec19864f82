#include "cli/page.h"

#include <unistd.h>

#include <string>

namespace tidemark::cli {

bool wants_page(const CommonOptions& common) {
  if (!common.format_word.empty()) return common.format_word == "html";
  return common.format == Format::Text && common.output_path.ends_with(".html");
}

base::Status check_page_output(const CommonOptions& common,
                               const std::string& example) {
  // Said before a file is opened that would stay empty.
  base::Result<std::string> page = view::page_html({});
  if (!page) return page.error();
  const bool is_stdout =
      common.output_path.empty() || common.output_path == "-";
  if (!is_stdout || ::isatty(STDOUT_FILENO) == 0) return base::Ok{};
  return base::fail(base::ErrorKind::Misused,
                    "a page is nothing for a terminal", example);
}

base::Result<ExitCode> write_page(Output& output,
                                  std::span<const view::PageReport> reports) {
  base::Result<std::string> page = view::page_html(reports);
  if (!page) return page.error();
  base::Status status = output.write(*page);
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace tidemark::cli
