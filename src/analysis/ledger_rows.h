// Sums cells of the ledger up to rows: one for each class, group, set of
// processes or file, and its parts behind it, the largest first.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "analysis/ledger_cells.h"
#include "analysis/ledger_input.h"
#include "model/ledger.h"

namespace tidemark::analysis {

class LedgerRows {
 public:
  explicit LedgerRows(const LedgerInput& input) : input_(input) {}

  void add(LedgerCell&& cell);
  // All of them in their order; nothing is left here.
  std::vector<model::LedgerRow> take();

 private:
  // Where a cell goes: a row without a parent, and a part of it.
  struct Place {
    std::string top;   // owner of the row; empty: it stands for its class
    std::string part;  // empty: it has no parts
  };
  Place place_of(LedgerCell& cell) const;
  void sort_tops(std::vector<model::LedgerRow>& tops) const;

  const LedgerInput& input_;
  // By (parent, class, owner): the map keeps them whole until sorted.
  struct Key {
    std::string parent;
    model::LedgerClass ledger_class;
    std::string owner;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, model::LedgerRow> rows_;
};

}  // namespace tidemark::analysis
