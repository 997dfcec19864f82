// Sums cells of the ledger up to rows: one for each class, group, set of
// processes or file, and its parts behind it, the largest first. There may be
// as many as files in the page cache, so there is never a second copy of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/ledger_cells.h"
#include "analysis/ledger_input.h"
#include "base/text_arena.h"
#include "model/ledger.h"

namespace tidemark::analysis {

class LedgerRows {
 public:
  // `texts` keeps the names of rows that cells do not have.
  LedgerRows(const LedgerInput& input, base::TextArena& texts);

  void add(const LedgerCell& cell);
  // All of them in their order; nothing is left here.
  std::vector<model::LedgerRow> take();

 private:
  // Where a cell goes: a row without a parent, and a part of it.
  struct Place {
    std::string_view top;   // owner of the row; empty: it stands for its class
    std::string_view part;  // empty: it has no parts
  };
  Place place_of(const LedgerCell& cell);
  model::LedgerRow& top_of(model::LedgerClass ledger_class, const Place& place);
  std::string_view group_name(uint64_t group);
  std::string_view set_name(SetId set);
  void merge();
  bool is_top_before(const model::LedgerRow& a,
                     const model::LedgerRow& b) const;
  std::vector<uint32_t> order() const;

  const LedgerInput& input_;
  base::TextArena& texts_;
  std::map<uint64_t, std::string_view> group_names_;
  std::map<SetId, std::string_view> set_names_;
  // Rows that can have parts: few.
  std::map<std::pair<model::LedgerClass, std::string_view>, model::LedgerRow>
      tops_;
  // What stands for files without a row, by class and parent.
  std::map<std::pair<model::LedgerClass, std::string_view>, model::LedgerRow>
      others_;
  std::vector<model::LedgerRow> rows_;  // parts, and rows of files
  size_t merge_at_ = 0;  // so many rows are worth a look for equal ones
};

}  // namespace tidemark::analysis
