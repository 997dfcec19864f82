#include "analysis/top_ledger.h"

#include <algorithm>
#include <array>

namespace tidemark::analysis {
namespace {

using model::Category;
using model::LedgerClass;

// Parallel to the classes.
constexpr std::array<Category, model::kLedgerClassCount> kClassCategories = {
    Category::Anon,     // anonymous, of one process
    Category::Anon,     // of several
    Category::Swap,     // of none: in the swap cache
    Category::File,     //
    Category::Shm,      //
    Category::Huge,     //
    Category::Slab,     //
    Category::Ptab,     //
    Category::Kern,     // stacks
    Category::Kern,     // vmalloc
    Category::Kern,     // per CPU
    Category::Swap,     // compressed
    Category::Kern,     // mapped by programs
    Category::Kern,     // without a type
    Category::Wired,    // boot
    Category::Wired,    // balloon
    Category::Wired,    // poisoned
    Category::Free,     //
    Category::Unnamed,  // changed meanwhile
    Category::Unnamed,  //
};

Category category_of(LedgerClass ledger_class) {
  return kClassCategories[static_cast<size_t>(ledger_class)];
}

// What owns pages of several classes has the colour of the largest part.
TopLedgerRow top_row(const model::LedgerRow& row) {
  TopLedgerRow top;
  top.name = row.owner.empty()
                 ? std::string(model::ledger_class_label(row.ledger_class))
                 : std::string(row.owner);
  top.category = category_of(row.ledger_class);
  top.bytes = row.bytes;
  return top;
}

void add_part(const model::LedgerRow& row, bool is_class, size_t most,
              TopLedgerRow& top) {
  if (!is_class && top.parts.empty())
    top.category = category_of(row.ledger_class);
  top.part_count += row.owner_count;
  if (top.parts.size() >= most) return;
  top.parts.push_back(
      {std::string(is_class ? row.owner
                            : model::ledger_class_label(row.ledger_class)),
       row.bytes});
}

}  // namespace

std::array<uint64_t, model::kCategoryCount> kinds_in(const TopLedger& ledger) {
  std::array<uint64_t, model::kCategoryCount> kinds{};
  for (const TopLedgerRow& row : ledger.rows)
    kinds[static_cast<size_t>(row.category)] += row.bytes;
  return kinds;
}

// Rows come with their parts behind them, the largest part first.
TopLedger make_top_ledger(const model::Ledger& ledger, LedgerBy by,
                          const TopLedgerLimits& limits) {
  TopLedger top;
  top.by = by;
  top.tier = ledger.tier;
  top.tier_note = ledger.tier_note;
  top.total_bytes = ledger.total_bytes;
  top.page_bytes = ledger.page_bytes;
  top.changed_pages = ledger.changed_pages;
  top.elapsed_ns = ledger.elapsed_ns;
  bool is_class = false;  // the last row without a parent
  for (const model::LedgerRow& row : ledger.rows) {
    if (!row.parent.empty()) {
      if (!top.rows.empty())
        add_part(row, is_class, limits.parts, top.rows.back());
      continue;
    }
    is_class = row.owner.empty();
    top.rows.push_back(top_row(row));
  }
  std::ranges::stable_sort(top.rows, std::ranges::greater(),
                           &TopLedgerRow::bytes);
  for (size_t i = limits.rows; i < top.rows.size(); ++i) {
    top.other_bytes += top.rows[i].bytes;
    ++top.other_count;
  }
  if (top.rows.size() > limits.rows) top.rows.resize(limits.rows);
  return top;
}

}  // namespace tidemark::analysis
