// The last count of every page by class, as the Machine view keeps it: counts
// by control group, process or file that come between do not replace it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/top_snapshot.h"
#include "model/category.h"

namespace tidemark::view::tui {

class Census {
 public:
  void look_at(const analysis::SlowReading<analysis::TopLedger>& reading);

  // Null: none has come yet.
  const std::shared_ptr<const analysis::TopLedger>& ledger() const {
    return reading_.value;
  }
  const analysis::SlowReading<analysis::TopLedger>& reading() const {
    return reading_;
  }
  // Whether pages were looked at: a ledger of counters alone is none.
  bool is_counted() const {
    return ledger() && ledger()->tier != model::LedgerTier::Counters;
  }

  // By how much what is unnamed has grown since the first count of the last
  // minutes, and how long ago that was; empty: there was only one.
  struct Growth {
    int64_t bytes = 0;
    uint64_t since_ns = 0;
  };
  std::optional<Growth> unnamed_growth() const;

 private:
  analysis::SlowReading<analysis::TopLedger> reading_;
  std::vector<std::pair<uint64_t, uint64_t>> unnamed_;  // when, how much
};

// Where all of RAM is: by the count where pages were counted, else by counters.
analysis::TopMachine account_of(const analysis::TopSnapshot& snapshot,
                                const Census& census);

// What a kind is called there: of what is swapped out RAM has only the pool of
// zram and the swap cache.
std::string_view class_name(model::Category kind);

// One kind of memory of that account.
struct KindRow {
  model::Category kind = model::Category::Unnamed;
  int64_t bytes = 0;
  std::optional<int64_t> growth_bytes;  // by counters, which are read always
};
// Largest first; what is nothing is left out, but never what is unnamed.
std::vector<KindRow> kind_rows(const analysis::TopSnapshot& snapshot,
                               const Census& census);

// "census 14 s ago, 1.1 s · 23 pages changed meanwhile": how old what was
// counted is, and what it cost; or why there is none.
std::string census_words(
    const analysis::TopSnapshot& snapshot,
    const analysis::SlowReading<analysis::TopLedger>& counted);

// "nodes.bin, europe.osm.pbf", "postgres ×14": the largest owners of a kind of
// memory, by a ledger that went by class; empty where it tells none.
std::string mostly_words(const analysis::TopLedger& ledger,
                         model::Category kind);

}  // namespace tidemark::view::tui
