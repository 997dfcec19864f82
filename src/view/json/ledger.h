// The ledger as JSON.
#pragma once

#include <optional>
#include <string>

#include "analysis/what_if.h"
#include "base/json.h"
#include "model/ledger.h"

namespace tidemark::view {

std::string ledger_json(const model::Ledger& ledger,
                        const std::optional<analysis::WhatIf>& what_if,
                        base::JsonWriter::Layout layout);

}  // namespace tidemark::view
