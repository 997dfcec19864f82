#include "analysis/ledger.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "analysis/ledger_cells.h"
#include "analysis/ledger_rows.h"

namespace tidemark::analysis {
namespace {

using model::Ledger;
using model::LedgerClass;

// How far off the estimate of a class may be.
uint64_t error_pages(const LedgerInput& input, LedgerClass ledger_class) {
  const auto of = [&](PageClass page_class) {
    return input.sample->error_pages(page_class, input.tally->page_count());
  };
  switch (ledger_class) {
    case LedgerClass::AnonPrivate:
      return of(PageClass::Anon);
    case LedgerClass::AnonShared:
      return of(PageClass::AnonShared);
    case LedgerClass::AnonUnmapped:
      return of(PageClass::AnonUnmapped);
    case LedgerClass::File:
      return of(PageClass::File);
    case LedgerClass::Shmem:
      return of(PageClass::Shmem);
    case LedgerClass::Hugetlb:
      return of(PageClass::HugetlbUsed);
    case LedgerClass::Slab:
      return of(PageClass::Slab);
    case LedgerClass::PageTables:
      return of(PageClass::PageTables);
    case LedgerClass::KernelMapped:
      return of(PageClass::KernelMapped);
    case LedgerClass::Kernel:
      return of(PageClass::KernelCharged);
    case LedgerClass::Boot:
      return of(PageClass::Reserved);
    case LedgerClass::Balloon:
      return of(PageClass::Balloon);
    case LedgerClass::Poisoned:
      return of(PageClass::Poisoned);
    case LedgerClass::Free:
      return of(PageClass::FreeBuddy);
    case LedgerClass::Unstable:
      return of(PageClass::Unstable);
    case LedgerClass::Vmalloc:
      // Without what of it programs map and groups are charged for.
      return of(PageClass::KernelMapped) + of(PageClass::KernelCharged);
    case LedgerClass::Unnamed:
      return input.sample->rest_error_pages(input.tally->page_count()) +
             input.cpu_list_error_pages;
    case LedgerClass::Compressed:
    case LedgerClass::KernelStacks:
    case LedgerClass::Percpu:
      return 0;  // as the kernel counts them
  }
  return 0;
}

// A class without a row has less than one that was not met. Where more is
// possible, as of what is left when others are taken away, it has a row.
void add_errors(const LedgerInput& input, Ledger& ledger) {
  const uint64_t page_count = input.tally->page_count();
  ledger.sampled_pages = input.sample->sampled_pages();
  ledger.unseen_bytes =
      input.sample->unseen_pages(page_count) * input.page_bytes;
  std::array<bool, model::kLedgerClassCount> has_row{};
  for (model::LedgerRow& row : ledger.rows) {
    if (!row.parent.empty()) continue;
    row.error_bytes = error_pages(input, row.ledger_class) * input.page_bytes;
    has_row[static_cast<size_t>(row.ledger_class)] = true;
  }
  for (size_t i = 0; i < has_row.size(); ++i) {
    model::LedgerRow row;
    row.ledger_class = static_cast<LedgerClass>(i);
    row.error_bytes = error_pages(input, row.ledger_class) * input.page_bytes;
    if (has_row[i] || row.error_bytes <= ledger.unseen_bytes) continue;
    const auto next =
        std::ranges::find_if(ledger.rows, [&](const model::LedgerRow& other) {
          return other.parent.empty() && other.ledger_class > row.ledger_class;
        });
    ledger.rows.insert(next, row);
  }
}

}  // namespace

Ledger make_ledger(const LedgerInput& input, base::TextArena texts) {
  const PageTally& tally = *input.tally;
  Ledger ledger;
  ledger.tier = tally.has_structs() ? model::LedgerTier::Structs
                                    : model::LedgerTier::Pages;
  ledger.total_bytes = tally.page_count() * input.page_bytes;
  ledger.page_bytes = input.page_bytes;
  ledger.mapped_pages = tally.mapped_count();
  ledger.agreeing_pages = tally.agreeing_count();
  ledger.texts = std::move(texts);
  LedgerRows rows(input, ledger.texts);
  visit_cells(input, ledger.texts,
              [&](const LedgerCell& cell) { rows.add(cell); });
  ledger.rows = rows.take();
  if (input.sample) add_errors(input, ledger);
  return ledger;
}

std::vector<PageOwner> owners_of(const PageTally& tally, PageClass page_class) {
  const auto is_wanted = [&](const TallyKey& key) {
    return key.page_class == page_class && key.owner != 0;
  };
  size_t count = 0;
  tally.counts().visit([&](const TallyKey& key, uint64_t /*pages*/) {
    if (is_wanted(key)) ++count;
  });
  std::vector<PageOwner> found;
  found.reserve(count);
  tally.counts().visit([&](const TallyKey& key, uint64_t pages) {
    if (is_wanted(key)) found.push_back({key.owner, pages});
  });
  // One for each, whatever groups its pages are charged to.
  std::ranges::sort(found, {}, &PageOwner::address);
  size_t last = 0;
  for (size_t i = 1; i < found.size(); ++i) {
    if (found[i].address == found[last].address) {
      found[last].pages += found[i].pages;
    } else {
      found[++last] = found[i];
    }
  }
  if (!found.empty()) found.resize(last + 1);
  std::ranges::sort(found, [](const PageOwner& a, const PageOwner& b) {
    return std::tie(b.pages, a.address) < std::tie(a.pages, b.address);
  });
  return found;
}

}  // namespace tidemark::analysis
