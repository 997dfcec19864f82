// Pages of the ledger with one class, one owner and one group. They come from
// the counted pages; kernel pages without a type are parted by the kernel's
// counters.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "analysis/ledger_input.h"
#include "base/text_arena.h"
#include "model/ledger.h"

namespace tidemark::analysis {

struct LedgerCell {
  model::LedgerClass ledger_class = model::LedgerClass::Unnamed;
  std::string_view owner;  // empty: nobody in particular
  uint64_t group = 0;
  uint64_t pages = 0;
  SetId set = 0;  // who maps them; 0: not known, or not told apart by that
  std::string_view note;
};

// The owner of files that were not asked for by name.
inline constexpr std::string_view kOtherFiles = "(other files)";

// Each page of the tally in exactly one cell. A cell has at least one; several
// may have the same class, owner and group. `texts` keeps their names.
using CellVisitor = std::function<void(const LedgerCell& cell)>;
void visit_cells(const LedgerInput& input, base::TextArena& texts,
                 const CellVisitor& visit);

}  // namespace tidemark::analysis
