#include "store/trace_slab_rows.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "store/trace_schema.h"

namespace tidemark::store {
namespace {

using model::Reading;
using model::SlabSite;
using model::SlabTrace;

std::string joined(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += (text.empty() ? "" : "\n") + note;
  return text;
}

base::Result<std::optional<std::string>> info_in(Database& database,
                                                 std::string_view name) {
  base::Result<Statement> row =
      database.prepare("SELECT value FROM recording WHERE name = ?");
  if (!row) return row.error();
  row->bind(0, name);
  base::Result<bool> is_there = row->step();
  if (!is_there) return is_there.error();
  if (!*is_there) return std::optional<std::string>();
  return std::optional(std::string(row->text(0)));
}

// False: nobody followed them by then.
base::Result<bool> read_sums(Database& database, int64_t tick, SlabTrace& slab,
                             bool& is_sane) {
  base::Result<Statement> sums = database.prepare(
      "SELECT t.value, s.count FROM trace_slab_sum s JOIN text t ON "
      "t.id = s.name WHERE s.tick <= ? ORDER BY s.tick");
  if (!sums) return sums.error();
  sums->bind(0, tick);
  bool is_there = false;
  while (true) {
    base::Result<bool> row = sums->step();
    if (!row) return row.error();
    if (!*row) return is_there;
    is_there = true;
    is_sane &= sums->integer(1) >= 0;
    for (const SlabNumber& number : kSlabNumbers) {
      if (number.name != sums->text(0)) continue;
      slab.*number.target = static_cast<uint64_t>(sums->integer(1));
    }
  }
}

base::Status read_sites(Database& database, int64_t tick, SlabTrace& slab,
                        bool& is_sane) {
  base::Result<Statement> rows = database.prepare(
      "SELECT s.cache, s.address, s.symbol, s.offset, s.module, c.bytes, "
      "c.peak_bytes, c.objects, c.allocations, c.untold "
      "FROM trace_slab_sites s JOIN trace_slab_change c ON c.site = s.site AND "
      "c.tick = (SELECT max(tick) FROM trace_slab_change WHERE site = s.site "
      "AND tick <= ?) WHERE c.bytes IS NOT NULL ORDER BY s.site");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    SlabSite& site = slab.sites.emplace_back();
    site.cache = rows->text(0);
    site.caller = {static_cast<uint64_t>(rows->integer(1)),
                   std::string(rows->text(2)),
                   static_cast<uint64_t>(rows->integer(3)),
                   std::string(rows->text(4)),
                   {}};
    uint64_t* const numbers[] = {&site.bytes, &site.peak_bytes, &site.objects,
                                 &site.allocation_count, &site.untold_count};
    int column = 5;
    for (uint64_t* number : numbers) {
      is_sane &= rows->integer(column) >= 0;
      *number = static_cast<uint64_t>(rows->integer(column++));
    }
  }
}

}  // namespace

base::Result<TraceSlabRows> TraceSlabRows::open(Database& database) {
  TraceSlabRows rows;
  const std::pair<Statement*, const char*> wanted[] = {
      {&rows.info_, "INSERT OR REPLACE INTO recording VALUES(?,?)"},
      {&rows.sum_, "INSERT INTO trace_slab_sum VALUES(?,?,?)"},
      {&rows.site_, "INSERT INTO trace_slab_site VALUES(?,?,?,?,?,?)"},
      {&rows.change_, "INSERT INTO trace_slab_change VALUES(?,?,?,?,?,?,?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Result<Statement> made = database.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  base::Result<Statement> known = database.prepare(
      "SELECT id, cache, address, symbol, offset, module FROM trace_slab_site "
      "ORDER BY id");
  if (!known) return known.error();
  while (true) {
    base::Result<bool> row = known->step();
    if (!row) return row.error();
    if (!*row) break;
    SiteKey key = {known->integer(1), known->integer(2), known->integer(3),
                   known->integer(4), known->integer(5), 0};
    while (rows.sites_.contains(key))
      ++std::get<5>(key);
    rows.sites_[key].id = known->integer(0);
  }
  return rows;
}

base::Status TraceSlabRows::write_info(std::string_view name,
                                       const std::string& value) {
  std::string& last = infos_[name];
  if (last == value) return base::Ok{};
  last = value;
  info_.bind(0, name);
  info_.bind(1, std::string_view(value));
  return info_.run();
}

base::Status TraceSlabRows::write_sums(const SlabTrace& slab, int64_t tick,
                                       Interned& interned) {
  for (const SlabNumber& number : kSlabNumbers) {
    const auto count = static_cast<int64_t>(slab.*number.target);
    const auto [last, is_new] = sums_.try_emplace(number.name, count);
    if (!is_new && last->second == count) continue;
    last->second = count;
    base::Result<int64_t> name = interned.text(number.name);
    if (!name) return name.error();
    sum_.bind(0, tick);
    sum_.bind(1, *name);
    sum_.bind(2, count);
    base::Status status = sum_.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status TraceSlabRows::write_row(Site& site, const Row& row,
                                      int64_t tick) {
  if (site.row == row) return base::Ok{};
  site.row = row;
  change_.bind(0, site.id);
  change_.bind(1, tick);
  change_.bind(2, row.bytes);
  change_.bind(3, row.peak_bytes);
  change_.bind(4, row.objects);
  change_.bind(5, row.allocation_count);
  change_.bind(6, row.untold_count);
  return change_.run();
}

base::Result<TraceSlabRows::Site*> TraceSlabRows::site_of(const SlabSite& site,
                                                          int64_t tick,
                                                          Interned& interned) {
  base::Result<int64_t> cache = interned.text(site.cache);
  if (!cache) return cache.error();
  base::Result<int64_t> symbol = interned.text(site.caller.symbol);
  if (!symbol) return symbol.error();
  base::Result<int64_t> module = interned.text(site.caller.module);
  if (!module) return module.error();
  SiteKey key = {*cache,  static_cast<int64_t>(site.caller.address),
                 *symbol, static_cast<int64_t>(site.caller.offset),
                 *module, 0};
  auto [at, is_new] = sites_.try_emplace(key);
  while (!is_new && at->second.seen_tick == tick) {  // another one
    ++std::get<5>(key);
    std::tie(at, is_new) = sites_.try_emplace(key);
  }
  at->second.seen_tick = tick;
  if (!is_new) return &at->second;
  at->second.id = static_cast<int64_t>(sites_.size());
  site_.bind(0, at->second.id);
  site_.bind(1, *cache);
  site_.bind(2, std::get<1>(key));
  site_.bind(3, *symbol);
  site_.bind(4, std::get<3>(key));
  site_.bind(5, *module);
  base::Status status = site_.run();
  if (!status) return status.error();
  return &at->second;
}

base::Status TraceSlabRows::write(const Reading<SlabTrace>& slab, int64_t tick,
                                  Interned& interned) {
  if (!slab) return write_info(kSlabUnknownName, slab.unknown_because);
  base::Status status = write_info(kSlabNotesName, joined(slab->notes));
  if (status) status = write_sums(*slab, tick, interned);
  if (!status) return status;
  for (const SlabSite& site : slab->sites) {
    base::Result<Site*> known = site_of(site, tick, interned);
    if (!known) return known.error();
    const Row row = {static_cast<int64_t>(site.bytes),
                     static_cast<int64_t>(site.peak_bytes),
                     static_cast<int64_t>(site.objects),
                     static_cast<int64_t>(site.allocation_count),
                     static_cast<int64_t>(site.untold_count)};
    status = write_row(**known, row, tick);
    if (!status) return status;
  }
  for (auto& [key, site] : sites_) {
    if (site.seen_tick == tick) continue;
    status = write_row(site, {}, tick);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Result<std::optional<Reading<SlabTrace>>> read_trace_slab(
    Database& database, int64_t tick) {
  using Told = std::optional<Reading<SlabTrace>>;
  base::Result<std::optional<std::string>> unknown =
      info_in(database, kSlabUnknownName);
  if (!unknown) return unknown.error();
  if (*unknown) return Told(model::unknown<SlabTrace>(**unknown));
  SlabTrace slab;
  bool is_sane = true;
  base::Result<bool> is_there = read_sums(database, tick, slab, is_sane);
  if (!is_there) return is_there.error();
  if (!*is_there) return Told();
  base::Status status = read_sites(database, tick, slab, is_sane);
  if (!status) return status.error();
  if (!is_sane) {
    return base::fail(
        base::ErrorKind::Malformed,
        database.path() + ": damaged: slab objects with absurd numbers");
  }
  base::Result<std::optional<std::string>> notes =
      info_in(database, kSlabNotesName);
  if (!notes) return notes.error();
  std::string_view rest = *notes ? std::string_view(**notes) : "";
  while (!rest.empty())
    slab.notes.emplace_back(base::take_line(rest));
  return Told(model::known(std::move(slab)));
}

}  // namespace tidemark::store
