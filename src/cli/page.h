// Results as a page for the browser.
#pragma once

#include <span>

#include "base/result.h"
#include "cli/command.h"
#include "cli/output.h"
#include "view/html/page.h"

namespace tidemark::cli {

// It was asked for, or the file it goes to is called so.
bool wants_page(const CommonOptions& common);

// In a checkout the page is made when it is first asked for: to be called
// before browser_page(), and before anything that takes time.
base::Status make_browser_page();
base::Result<std::string> browser_page(
    std::span<const view::PageReport> reports);

// A page is nothing for a terminal: Misused, with `example` of how to do it.
base::Status check_page_output(const CommonOptions& common,
                               const std::string& example);

base::Result<ExitCode> write_page(Output& output,
                                  std::span<const view::PageReport> reports);

}  // namespace tidemark::cli
