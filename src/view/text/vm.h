// `vm` as text.
#pragma once

#include <string>

#include "analysis/vm_report.h"
#include "view/text/style.h"

namespace tidemark::view {

struct VmTextOptions {
  bool with_bands = false;  // each VM with its bands and how they are known
  bool is_watch = false;    // lines with the time, without words
  bool is_recorded = false;
};

std::string vm_text(const analysis::VmReport& report,
                    const VmTextOptions& options, const TextStyle& style);

}  // namespace tidemark::view
