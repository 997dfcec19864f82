// What `trace` says for a boot: modules wherever they stand on a stack, and the
// size of a crash kernel.
#pragma once

#include <string>
#include <vector>

#include "analysis/crash_kernel.h"
#include "analysis/module_use.h"
#include "model/trace.h"
#include "view/text/style.h"

namespace tidemark::view {

std::string module_shares_text(const std::vector<analysis::ModuleShare>& shares,
                               const model::Trace& trace);

std::string crash_kernel_text(
    const model::Reading<analysis::CrashKernel>& crash, const TextStyle& style);

}  // namespace tidemark::view
