// `ps` as text.
#pragma once

#include <string>

#include "analysis/ps_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct PsTextOptions {
  bool groups_only = false;  // -J
  bool with_descriptors = false;
};

std::string ps_text(const analysis::PsReport& report,
                    const PsTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
