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

// Ends with the first part that cannot be written.
using PartWriter = std::function<base::Status(std::string_view part)>;
base::Status write_ledger_json(const model::Ledger& ledger,
                               const std::optional<analysis::WhatIf>& what_if,
                               base::JsonWriter::Layout layout,
                               const PartWriter& write);

}  // namespace tidemark::view
