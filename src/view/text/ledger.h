// The ledger as text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/what_if.h"
#include "model/ledger.h"
#include "view/text/style.h"

namespace tidemark::view {

struct LedgerTextOptions {
  size_t part_limit = 6;  // owners with a line of their own, in each row
  size_t row_limit = 40;  // rows, where they are groups, processes or files
};

std::string ledger_text(const model::Ledger& ledger,
                        const LedgerTextOptions& options,
                        const TextStyle& style);
std::string what_if_text(const analysis::WhatIf& result,
                         const TextStyle& style);

}  // namespace tidemark::view
