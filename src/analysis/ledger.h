// Makes the ledger of all RAM out of the counted pages and the kernel's own
// counters. Every page was counted in one class; what several classes of the
// ledger share (kernel pages without a type) is parted by counters
// (ledger_cells.h), and what is left over is unnamed.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ledger_input.h"
#include "analysis/page_tally.h"
#include "analysis/system_report.h"
#include "base/text_arena.h"
#include "model/ledger.h"

namespace tidemark::analysis {

// `texts` keeps the paths of the input's files, and goes into the ledger.
model::Ledger make_ledger(const LedgerInput& input, base::TextArena texts = {});

// What the kernel's counters alone tell, where no page may be looked at.
model::Ledger make_counter_ledger(const SystemReport& report);

// A file or a slab cache that the tally met.
struct PageOwner {
  uint64_t address = 0;
  uint64_t pages = 0;
  bool operator==(const PageOwner&) const = default;
};

// The largest first.
std::vector<PageOwner> owners_of(const PageTally& tally, PageClass page_class);

}  // namespace tidemark::analysis
