// The ledger as `top` keeps it: rows with their largest parts. A ledger may
// have 20,000 rows, and `top` keeps it for minutes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ledger_input.h"
#include "model/category.h"
#include "model/ledger.h"

namespace tidemark::analysis {

struct TopLedgerPart {
  std::string name;
  uint64_t bytes = 0;
};

// A class with its owners, or an owner with its classes.
struct TopLedgerRow {
  std::string name;
  model::Category category = model::Category::Unnamed;  // whose colour it has
  uint64_t bytes = 0;
  uint64_t part_count = 0;           // also those that are not kept
  std::vector<TopLedgerPart> parts;  // the largest first
};

struct TopLedger {
  LedgerBy by = LedgerBy::Class;
  model::LedgerTier tier = model::LedgerTier::Counters;
  std::string tier_note;  // why not further
  uint64_t total_bytes = 0;
  uint64_t page_bytes = 4096;
  uint64_t changed_pages = 0;
  uint64_t elapsed_ns = 0;
  // The largest first. With `other_bytes`, which so many rows have that are not
  // kept, they add up to the total.
  std::vector<TopLedgerRow> rows;
  uint64_t other_bytes = 0;
  uint64_t other_count = 0;
};
// How much of each kind it counted; only of one that went by class.
std::array<uint64_t, model::kCategoryCount> kinds_in(const TopLedger& ledger);

struct TopLedgerLimits {
  size_t rows = 200;
  size_t parts = 50;  // of each row
};
TopLedger make_top_ledger(const model::Ledger& ledger, LedgerBy by,
                          const TopLedgerLimits& limits = {});

}  // namespace tidemark::analysis
