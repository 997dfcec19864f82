// Slab objects of a trace as rows: of each cache and caller what has changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"
#include "model/reading.h"
#include "model/slab_trace.h"
#include "store/database.h"
#include "store/interned.h"

namespace tidemark::store {

class TraceSlabRows {
 public:
  TraceSlabRows() = default;
  // Goes on from what the file holds; what it held last is not looked up.
  static base::Result<TraceSlabRows> open(Database& database);

  base::Status write(const model::Reading<model::SlabTrace>& slab, int64_t tick,
                     Interned& interned);

 private:
  struct Row {
    std::optional<int64_t> bytes;  // empty: not told of any more
    int64_t peak_bytes = 0;
    int64_t objects = 0;
    int64_t allocation_count = 0;
    int64_t untold_count = 0;
    bool operator==(const Row&) const = default;
  };
  // Cache, address, symbol, offset, module, the words by their numbers; and
  // which one of those that are the same in all of these: kmalloc's caches of
  // several sizes may share a name.
  using SiteKey =
      std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
  struct Site {
    int64_t id = 0;
    std::optional<Row> row;  // as last written; empty: not known
    int64_t seen_tick = -1;
  };
  base::Status write_info(std::string_view name, const std::string& value);
  base::Status write_sums(const model::SlabTrace& slab, int64_t tick,
                          Interned& interned);
  base::Result<Site*> site_of(const model::SlabSite& site, int64_t tick,
                              Interned& interned);
  base::Status write_row(Site& site, const Row& row, int64_t tick);

  Statement info_;
  Statement sum_;
  Statement site_;
  Statement change_;
  std::map<SiteKey, Site> sites_;
  std::map<std::string_view, int64_t> sums_;       // as last written
  std::map<std::string_view, std::string> infos_;  // the same
};

// As it was told last up to the tick; empty: nobody followed them by then.
base::Result<std::optional<model::Reading<model::SlabTrace>>> read_trace_slab(
    Database& database, int64_t tick);

}  // namespace tidemark::store
