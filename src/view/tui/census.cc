#include "view/tui/census.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/tui/machine_pictures.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopLedger;
using analysis::TopLedgerPart;
using analysis::TopLedgerRow;
using analysis::TopMachine;
using analysis::TopSnapshot;
using model::Category;

uint64_t unnamed_in(const TopLedger& ledger) {
  return analysis::kinds_in(ledger)[static_cast<size_t>(Category::Unnamed)];
}

// Of a path the end tells files apart; of a process its name is enough beside
// others of its kind.
std::string owner_name(const std::string& owner) {
  if (owner.starts_with('/')) return std::string(base::base_name(owner));
  if (owner.starts_with('(') && owner.ends_with(')'))
    return owner.substr(1, owner.size() - 2);
  const size_t pid = owner.rfind(" (");
  const bool is_process =
      pid != std::string::npos && owner.ends_with(')') &&
      std::all_of(owner.begin() + static_cast<ptrdiff_t>(pid) + 2,
                  owner.end() - 1,
                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_process ? owner.substr(0, pid) : owner;
}

// Counters do not tell kernel pages without a type from those that nobody
// explains: what they leave unnamed is both.
std::optional<int64_t> counted_growth(const TopSnapshot& snapshot,
                                      const Census& census, Category kind) {
  if (kind == Category::Unnamed) {
    const std::optional<Census::Growth> growth = census.unnamed_growth();
    return growth ? std::optional<int64_t>(growth->bytes) : std::nullopt;
  }
  const std::optional<int64_t> growth = growth_of(snapshot, kind);
  if (kind != Category::Kern) return growth;
  const std::optional<int64_t> rest = growth_of(snapshot, Category::Unnamed);
  return growth && rest ? std::optional<int64_t>(*growth + *rest)
                        : std::nullopt;
}

}  // namespace

void Census::look_at(const analysis::SlowReading<TopLedger>& reading) {
  if (!reading.value || reading.value->by != analysis::LedgerBy::Class ||
      reading.value == reading_.value)
    return;
  reading_ = reading;
  if (!is_counted()) return;
  const uint64_t now = reading.read_ns;
  std::erase_if(unnamed_, [&](const auto& one) {
    return one.first + analysis::kTopHistoryNs < now;
  });
  unnamed_.emplace_back(now, unnamed_in(*reading.value));
}

std::optional<Census::Growth> Census::unnamed_growth() const {
  if (unnamed_.size() < 2) return std::nullopt;
  return Growth{static_cast<int64_t>(unnamed_.back().second) -
                    static_cast<int64_t>(unnamed_.front().second),
                unnamed_.back().first - unnamed_.front().first};
}

TopMachine account_of(const TopSnapshot& snapshot, const Census& census) {
  TopMachine account = *snapshot.machine;
  if (!census.is_counted() || snapshot.playback) return account;
  account.total_bytes = census.ledger()->total_bytes;
  const auto kinds = analysis::kinds_in(*census.ledger());
  for (size_t i = 0; i < kinds.size(); ++i)
    account.kinds[i] = static_cast<int64_t>(kinds[i]);
  return account;
}

std::string_view class_name(Category kind) {
  return kind == Category::Swap ? "zram, swap cache"
                                : model::category_name(kind);
}

std::vector<KindRow> kind_rows(const TopSnapshot& snapshot,
                               const Census& census) {
  std::vector<KindRow> rows;
  if (!snapshot.machine) return rows;
  const bool is_counted = census.is_counted() && !snapshot.playback;
  const TopMachine account = account_of(snapshot, census);
  for (Category kind : model::kCategories) {
    KindRow row{kind, bytes_of(account, kind), {}};
    if (row.bytes == 0 && kind != Category::Unnamed) continue;
    row.growth_bytes = is_counted ? counted_growth(snapshot, census, kind)
                                  : growth_of(snapshot, kind);
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &KindRow::bytes);
  return rows;
}

std::string census_words(const TopSnapshot& snapshot,
                         const analysis::SlowReading<TopLedger>& counted) {
  const auto& newest = snapshot.slow.ledger;
  if (newest.is_under_way) return "counting every page …";
  if (!newest.failure.empty()) return base::visible(newest.failure);
  if (!counted.value) return "";
  const uint64_t now = snapshot.sample.started_monotonic_ns;
  const std::string words =
      "census " + age_words(now > counted.read_ns ? now - counted.read_ns : 0) +
      " ago";
  if (counted.value->tier == model::LedgerTier::Counters)
    return words +
           ", counters alone: " + base::visible(counted.value->tier_note);
  return words + fmt::format(", {:.1f} s · {} changed meanwhile",
                             static_cast<double>(counted.cost_ns) / 1e9,
                             base::counted(counted.value->changed_pages, "page",
                                           "pages"));
}

std::string mostly_words(const TopLedger& ledger, Category kind) {
  constexpr size_t kNamed = 2;
  if (ledger.by != analysis::LedgerBy::Class) return {};
  struct Owner {
    std::string name;
    uint64_t bytes = 0;
    size_t count = 0;
  };
  std::vector<Owner> owners;
  const auto add = [&](const std::string& name, uint64_t bytes) {
    auto same = std::ranges::find(owners, name, &Owner::name);
    if (same == owners.end()) same = owners.insert(same, {name, 0, 0});
    same->bytes += bytes;
    ++same->count;
  };
  for (const TopLedgerRow& row : ledger.rows) {
    if (row.category != kind) continue;
    for (const TopLedgerPart& part : row.parts)
      add(owner_name(part.name), part.bytes);
    // What has no owners is one itself, as per-CPU memory and kernel stacks
    // are, unless it says no more than the class does.
    if (row.parts.empty() && row.name != model::category_name(kind))
      add(row.name, row.bytes);
  }
  std::ranges::stable_sort(owners, std::ranges::greater(), &Owner::bytes);
  std::string words;
  for (size_t i = 0; i < std::min(owners.size(), kNamed); ++i) {
    words += (i == 0 ? "" : ", ") + base::visible(owners[i].name);
    if (owners[i].count > 1) words += fmt::format(" ×{}", owners[i].count);
  }
  if (words.empty() && kind == Category::Unnamed)
    return "no source explains these";
  return words;
}

}  // namespace tidemark::view::tui
