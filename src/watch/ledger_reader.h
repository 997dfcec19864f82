// Reads the ledger of all RAM: walks the pages of every process, then every
// page of the machine, and asks the kernel for the names of what was found. As
// far as one may look; the result says how far that was.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ledger_input.h"
#include "analysis/what_if.h"
#include "base/result.h"
#include "model/ledger.h"
#include "source/roots.h"
#include "watch/ledger_names.h"

namespace tidemark::watch {

struct LedgerOptions {
  analysis::LedgerBy by = analysis::LedgerBy::Class;
  model::LedgerTier most = model::LedgerTier::Structs;
  // Looks at about so many pages at random; 0: at all of them.
  uint64_t sample_pages = 0;
  // Only the largest so many files are asked for by name and have rows: that of
  // 50,000 takes a tenth of a second, and a row 200 bytes.
  size_t named_file_count = 20'000;
  // Processes whose end is imagined: pids, and paths of control groups.
  std::vector<int32_t> dying_pids;
  std::vector<std::string> dying_groups;
  // Once it is set the reading is given up, at the next process or step.
  const std::atomic<bool>* is_unwanted = nullptr;
};

struct LedgerReading {
  model::Ledger ledger;
  std::optional<analysis::WhatIf> what_if;
  OtherFiles other_files;  // empty: every file has a row
};

base::Result<LedgerReading> read_ledger(const source::Roots& roots,
                                        const LedgerOptions& options);

}  // namespace tidemark::watch
