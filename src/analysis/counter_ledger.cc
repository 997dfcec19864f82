#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/ledger.h"

namespace tidemark::analysis {
namespace {

using model::Ledger;
using model::LedgerClass;
using model::LedgerRow;

struct Place {
  SystemColumn column;
  LedgerClass ledger_class;
  std::string_view owner;
};
constexpr Place kPlaces[] = {
    {SystemColumn::Anon, LedgerClass::AnonPrivate,
     "(of one process or of several)"},
    {SystemColumn::File, LedgerClass::File, ""},
    {SystemColumn::Shmem, LedgerClass::Shmem, ""},
    {SystemColumn::HugeTlb, LedgerClass::Hugetlb, ""},
    {SystemColumn::SlabUsed, LedgerClass::Slab, "(in use)"},
    {SystemColumn::SlabSlack, LedgerClass::Slab, "(slack)"},
    {SystemColumn::PageTables, LedgerClass::PageTables, ""},
    {SystemColumn::Stacks, LedgerClass::KernelStacks, ""},
    {SystemColumn::Vmalloc, LedgerClass::Vmalloc, ""},
    {SystemColumn::PerCpu, LedgerClass::Percpu, ""},
    {SystemColumn::Compressed, LedgerClass::Compressed, ""},
    {SystemColumn::Sockets, LedgerClass::Kernel, "(sockets)"},
    {SystemColumn::Wired, LedgerClass::Boot, ""},
    {SystemColumn::Balloon, LedgerClass::Balloon, ""},
    {SystemColumn::Free, LedgerClass::Free, "(buddy lists)"},
    {SystemColumn::FreePerCpu, LedgerClass::Free, "(lists of each CPU)"},
    {SystemColumn::FreeUninitialised, LedgerClass::Free,
     "(not yet given to the allocator)"},
};

// Rows one after the other, each with its parts behind it.
class Rows {
 public:
  explicit Rows(Ledger& ledger) : ledger_(ledger) {}

  void add(const Place& place, uint64_t bytes) {
    if (last_ != place.ledger_class) {
      end();
      last_ = place.ledger_class;
      top_ = ledger_.rows.size();
      ledger_.rows.emplace_back().ledger_class = place.ledger_class;
    }
    ledger_.rows[top_].bytes += bytes;
    if (place.owner.empty()) return;
    LedgerRow& part = parts_.emplace_back();
    part.ledger_class = place.ledger_class;
    part.owner = place.owner;
    part.bytes = bytes;
    part.parent = ledger_class_token(place.ledger_class);
  }
  void end() {
    std::ranges::move(parts_, std::back_inserter(ledger_.rows));
    parts_.clear();
  }

 private:
  Ledger& ledger_;
  std::optional<LedgerClass> last_;
  size_t top_ = 0;                // the row of that class
  std::vector<LedgerRow> parts_;  // of it, not yet behind it
};

}  // namespace

Ledger make_counter_ledger(const SystemReport& report) {
  Ledger ledger;
  ledger.tier = model::LedgerTier::Counters;
  ledger.total_bytes = report.total_bytes;
  ledger.elapsed_ns = report.read_ns;
  uint64_t left = report.total_bytes;
  Rows rows(ledger);
  for (const Place& place : kPlaces) {
    const model::Reading<int64_t>& told = report.at(place.column).bytes;
    // Counters are read one after the other: they may overlap, and a row can
    // take no more than is left.
    const uint64_t wanted =
        told && *told > 0 ? static_cast<uint64_t>(*told) : 0;
    const uint64_t bytes = std::min(wanted, left);
    if (bytes < wanted) {
      ledger.notes.push_back("the counters overlap by " +
                             std::to_string((wanted - bytes) >> 10) + " KiB");
    }
    left -= bytes;
    if (bytes > 0) rows.add(place, bytes);
  }
  rows.end();
  if (left > 0) ledger.rows.emplace_back().bytes = left;
  for (auto& [token, because] : unknown_columns(report)) {
    std::string note = token;
    note += " is not known: ";
    note += because;
    ledger.notes.push_back(std::move(note));
  }
  return ledger;
}

}  // namespace tidemark::analysis
