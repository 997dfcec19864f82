// The text of `diff` and of `peak --growth`.
#pragma once

#include <string>

#include "analysis/diff_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct DiffTextOptions {
  size_t row_limit = 20;
};

std::string diff_text(const analysis::DiffReport& report,
                      const DiffTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
