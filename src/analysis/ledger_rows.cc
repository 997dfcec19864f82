#include "analysis/ledger_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/ledger_labels.h"
#include "base/reorder.h"

namespace tidemark::analysis {
namespace {

using model::LedgerClass;
using model::LedgerRow;

// What parts of a row call it.
std::string_view name_of(const LedgerRow& top) {
  return top.owner.empty() ? ledger_class_token(top.ledger_class) : top.owner;
}

// What stands for many comes last.
bool is_larger(const LedgerRow& a, const LedgerRow& b) {
  const bool a_is_many = a.owner == kOtherFiles;
  const bool b_is_many = b.owner == kOtherFiles;
  return std::tie(a_is_many, b.bytes, a.owner) <
         std::tie(b_is_many, a.bytes, b.owner);
}

auto row_key(const LedgerRow& row) {
  return std::tie(row.parent, row.ledger_class, row.owner);
}

}  // namespace

LedgerRows::LedgerRows(const LedgerInput& input, base::TextArena& texts)
    : input_(input), texts_(texts) {
  // Rows of groups are few, however many cells there are.
  const bool may_be_many =
      input.by == LedgerBy::Class || input.by == LedgerBy::File;
  constexpr size_t kFew = 4096;
  merge_at_ = kFew + (may_be_many ? input.tally->counts().size() : 0);
  // Growing would take three times the place; what is not used is not touched.
  rows_.reserve(merge_at_);
}

std::string_view LedgerRows::group_name(uint64_t group) {
  std::string_view& name = group_names_[group];
  if (name.empty()) name = texts_.keep(group_label(input_, group));
  return name;
}

std::string_view LedgerRows::set_name(SetId set) {
  std::string_view& name = set_names_[set];
  if (name.empty()) {
    name = texts_.keep(set_label(*input_.sets, set, input_.processes));
  }
  return name;
}

LedgerRows::Place LedgerRows::place_of(const LedgerCell& cell) {
  const std::string_view token = ledger_class_token(cell.ledger_class);
  switch (input_.by) {
    case LedgerBy::Class:
      break;
    case LedgerBy::Cgroup:
      if (cell.group == 0) break;
      return {group_name(cell.group), token};
    case LedgerBy::Process:
      if (cell.set == 0) break;
      return {set_name(cell.set), token};
    case LedgerBy::File:
      if (cell.ledger_class != LedgerClass::File &&
          cell.ledger_class != LedgerClass::Shmem) {
        break;
      }
      return {cell.owner, ""};
  }
  return {"", cell.owner};
}

void LedgerRows::add(const LedgerCell& cell) {
  const Place place = place_of(cell);
  LedgerRow row;
  row.ledger_class = cell.ledger_class;
  row.bytes = cell.pages * input_.page_bytes;
  row.note = cell.note;
  // A file's row has no parts, and there are many.
  const bool is_file = place.part.empty() && !place.top.empty();
  row.owner = is_file ? place.top : place.part;
  if (!is_file) {
    LedgerRow& top = top_of(cell.ledger_class, place);
    top.bytes += row.bytes;
    if (place.part.empty()) {
      if (top.note.empty()) top.note = cell.note;
      return;
    }
    row.parent = name_of(top);
  }
  // One for each file that has no row of its own: they must not take the place
  // of one first.
  if (row.owner == kOtherFiles) {
    LedgerRow& others = others_[{row.ledger_class, row.parent}];
    row.bytes += others.bytes;
    row.owner_count = input_.other_file_count;
    others = row;
    return;
  }
  if (rows_.size() >= merge_at_) merge();
  rows_.push_back(row);
}

LedgerRow& LedgerRows::top_of(LedgerClass ledger_class, const Place& place) {
  // A group's row is of no class; its parts are.
  const LedgerClass top_class =
      place.top.empty() ? ledger_class : LedgerClass::Unnamed;
  LedgerRow& top = tops_[{top_class, place.top}];
  top.ledger_class = top_class;
  top.owner = place.top;
  return top;
}

// Equal rows become one.
void LedgerRows::merge() {
  std::ranges::sort(rows_, {}, row_key);
  size_t last = 0;
  for (size_t i = 1; i < rows_.size(); ++i) {
    if (row_key(rows_[i]) != row_key(rows_[last])) {
      rows_[++last] = rows_[i];
      continue;
    }
    rows_[last].bytes += rows_[i].bytes;
    if (rows_[last].note.empty()) rows_[last].note = rows_[i].note;
  }
  if (!rows_.empty()) rows_.resize(last + 1);
  merge_at_ = std::max(merge_at_, 2 * rows_.size());
}

// Classes in their own order, which goes from programs to what is free; groups,
// processes and files by size.
bool LedgerRows::is_top_before(const LedgerRow& a, const LedgerRow& b) const {
  if (input_.by == LedgerBy::Class) return a.ledger_class < b.ledger_class;
  if (a.owner.empty() != b.owner.empty()) return b.owner.empty();
  if (a.owner.empty()) return a.ledger_class < b.ledger_class;
  return is_larger(a, b);
}

// Each row without a parent, and its parts behind it. Those come first here,
// and the parts of one parent one after the other.
std::vector<uint32_t> LedgerRows::order() const {
  const auto is_part = [](const LedgerRow& row) { return !row.parent.empty(); };
  const auto first_part = std::ranges::find_if(rows_, is_part);
  std::map<std::string_view, std::pair<uint32_t, uint32_t>> parts;
  for (auto row = first_part; row != rows_.end(); ++row) {
    const auto at = static_cast<uint32_t>(row - rows_.begin());
    auto [range, is_new] = parts.try_emplace(row->parent, at, at);
    range->second.second = at + 1;
  }
  std::vector<uint32_t> tops(static_cast<size_t>(first_part - rows_.begin()));
  for (uint32_t i = 0; i < tops.size(); ++i)
    tops[i] = i;
  std::ranges::sort(tops, [&](uint32_t a, uint32_t b) {
    return is_top_before(rows_[a], rows_[b]);
  });
  std::vector<uint32_t> order;
  order.reserve(rows_.size());
  for (uint32_t top : tops) {
    order.push_back(top);
    const auto range = parts.find(name_of(rows_[top]));
    if (range == parts.end()) continue;
    const size_t begin = order.size();
    for (uint32_t i = range->second.first; i < range->second.second; ++i)
      order.push_back(i);
    std::sort(
        order.begin() + static_cast<ptrdiff_t>(begin), order.end(),
        [&](uint32_t a, uint32_t b) { return is_larger(rows_[a], rows_[b]); });
  }
  return order;
}

std::vector<LedgerRow> LedgerRows::take() {
  for (const auto& [key, top] : tops_)
    rows_.push_back(top);
  for (const auto& [key, others] : others_)
    rows_.push_back(others);
  tops_.clear();
  others_.clear();
  merge();
  base::put_in_order(rows_, order());
  return std::exchange(rows_, {});
}

}  // namespace tidemark::analysis
