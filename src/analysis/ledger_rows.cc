#include "analysis/ledger_rows.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "analysis/ledger_labels.h"

namespace tidemark::analysis {
namespace {

using model::LedgerClass;
using model::LedgerRow;

// What parts of a row call it.
std::string name_of(LedgerClass ledger_class, const std::string& owner) {
  return owner.empty() ? std::string(ledger_class_token(ledger_class)) : owner;
}

// What stands for many comes last.
bool is_larger(const LedgerRow& a, const LedgerRow& b) {
  const bool a_is_many = a.owner == kOtherFiles;
  const bool b_is_many = b.owner == kOtherFiles;
  return std::tie(a_is_many, b.bytes, a.owner) <
         std::tie(b_is_many, a.bytes, b.owner);
}

}  // namespace

LedgerRows::Place LedgerRows::place_of(LedgerCell& cell) const {
  const auto class_part = [&] {
    return std::string(ledger_class_token(cell.ledger_class));
  };
  switch (input_.by) {
    case LedgerBy::Class:
      break;
    case LedgerBy::Cgroup:
      if (cell.group == 0) break;
      return {group_label(input_, cell.group), class_part()};
    case LedgerBy::Process:
      if (cell.set == 0) break;
      return {set_label(*input_.sets, cell.set, input_.processes),
              class_part()};
    case LedgerBy::File:
      if (cell.ledger_class != LedgerClass::File &&
          cell.ledger_class != LedgerClass::Shmem) {
        break;
      }
      return {std::move(cell.owner), ""};
  }
  return {"", std::move(cell.owner)};
}

void LedgerRows::add(LedgerCell&& cell) {
  const uint64_t bytes = cell.pages * input_.page_bytes;
  Place place = place_of(cell);
  // A group's row is of no class; its parts are.
  const bool is_of_classes = !place.top.empty() && !place.part.empty();
  const LedgerClass top_class =
      is_of_classes ? LedgerClass::Unnamed : cell.ledger_class;
  LedgerRow& top = rows_[{"", top_class, place.top}];
  top.ledger_class = top_class;
  top.owner = place.top;
  top.bytes += bytes;
  if (place.top == kOtherFiles) top.owner_count = input_.other_file_count;
  if (place.part.empty()) {
    if (top.note.empty()) top.note = cell.note;
    return;
  }
  const std::string parent = name_of(cell.ledger_class, place.top);
  LedgerRow& part = rows_[{parent, cell.ledger_class, place.part}];
  part.ledger_class = cell.ledger_class;
  part.bytes += bytes;
  part.parent = parent;
  part.note = cell.note;
  if (place.part == kOtherFiles) part.owner_count = input_.other_file_count;
  part.owner = std::move(place.part);
}

// Classes in their own order, which goes from programs to what is free; groups,
// processes and files by size.
void LedgerRows::sort_tops(std::vector<LedgerRow>& tops) const {
  const bool by_class = input_.by == LedgerBy::Class;
  std::ranges::sort(tops, [&](const LedgerRow& a, const LedgerRow& b) {
    if (by_class) return a.ledger_class < b.ledger_class;
    if (a.owner.empty() != b.owner.empty()) return b.owner.empty();
    if (a.owner.empty()) return a.ledger_class < b.ledger_class;
    return is_larger(a, b);
  });
}

std::vector<LedgerRow> LedgerRows::take() {
  std::vector<LedgerRow> tops;
  std::map<std::string, std::vector<LedgerRow>> parts;
  for (auto& [key, row] : rows_) {
    if (row.parent.empty()) {
      tops.push_back(std::move(row));
    } else {
      parts[row.parent].push_back(std::move(row));
    }
  }
  rows_.clear();
  sort_tops(tops);
  std::vector<LedgerRow> all;
  for (LedgerRow& top : tops) {
    const auto found = parts.find(name_of(top.ledger_class, top.owner));
    all.push_back(std::move(top));
    if (found == parts.end()) continue;
    std::ranges::sort(found->second, is_larger);
    std::ranges::move(found->second, std::back_inserter(all));
  }
  return all;
}

}  // namespace tidemark::analysis
