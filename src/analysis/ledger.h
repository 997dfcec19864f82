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

// Addresses of the files and caches that the tally met, the largest first.
std::vector<uint64_t> owners_of(const PageTally& tally, PageClass page_class);

}  // namespace tidemark::analysis
