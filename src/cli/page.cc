#include "cli/page.h"

#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/child_output.h"
#include "base/text.h"
#include "cli/build_info.h"
#include "cli/memstats_input.h"

namespace tidemark::cli {

bool wants_page(const CommonOptions& common) {
  if (!common.format_word.empty()) return common.format_word == "html";
  return common.format == Format::Text && common.output_path.ends_with(".html");
}

// What the maker prints of itself is on standard error; on its output is why it
// could not, and what to do.
base::Status make_browser_page() {
  if (kPageMaker.empty()) return base::Ok{};
  base::ChildLimits limits;
  limits.time = std::chrono::hours(1);
  limits.shows_errors = true;
  base::Result<base::ChildOutput> made = base::run_child(
      std::string(kPageMaker), {std::string(kPageFile)}, limits);
  if (!made) {
    return base::within("making the browser page", made.error());
  }
  if (made->wait_status == 0) return base::Ok{};
  std::string_view rest = made->output;
  std::string why(base::take_until(rest, '\n'));
  if (why.empty()) why = "the browser page could not be made";
  return base::fail(base::ErrorKind::System, std::move(why),
                    std::string(base::take_until(rest, '\n')));
}

base::Result<std::string> browser_page(
    std::span<const view::PageReport> reports) {
  if (kPageFile.empty()) {
    return view::page_html(view::embedded_page(), reports);
  }
  base::Result<std::string> empty = read_whole_file(std::string(kPageFile));
  if (!empty) return empty.error();
  return view::page_html(*empty, reports);
}

base::Status check_page_output(const CommonOptions& common,
                               const std::string& example) {
  const bool is_stdout =
      common.output_path.empty() || common.output_path == "-";
  if (is_stdout && ::isatty(STDOUT_FILENO) != 0) {
    return base::fail(base::ErrorKind::Misused,
                      "a page is nothing for a terminal", example);
  }
  // Said before a file is opened that would stay empty.
  base::Status made = make_browser_page();
  if (!made) return made.error();
  base::Result<std::string> page = browser_page({});
  if (!page) return page.error();
  return base::Ok{};
}

base::Result<ExitCode> write_page(Output& output,
                                  std::span<const view::PageReport> reports) {
  base::Result<std::string> page = browser_page(reports);
  if (!page) return page.error();
  base::Status status = output.write(*page);
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace tidemark::cli
