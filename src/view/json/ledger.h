// The ledger as JSON. It has a row for each file of the page cache, megabytes
// of text: it is handed on in parts, so that the walker stays small.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "analysis/what_if.h"
#include "base/json.h"
#include "base/result.h"
#include "model/ledger.h"

namespace tidemark::view {

using PartWriter = std::function<base::Status(std::string_view part)>;

// Shows the rows of those files that stand together in one row of the ledger.
using RowVisitor = std::function<base::Status(const model::LedgerRow& row)>;
using RowStream = std::function<base::Status(const RowVisitor& visit)>;

// Ends with the first part that cannot be written. In the place of the row that
// stands for files without one come those of `other_files`, if it is there, and
// behind them what these leave of it.
base::Status write_ledger_json(const model::Ledger& ledger,
                               const std::optional<analysis::WhatIf>& what_if,
                               base::JsonWriter::Layout layout,
                               const PartWriter& write,
                               const RowStream& other_files = {});

}  // namespace tidemark::view
