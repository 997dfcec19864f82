#include "store/trace_before_rows.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "store/trace_schema.h"

namespace tidemark::store {
namespace {

using model::AllocationSite;
using model::KernelModule;
using model::ModulePages;
using model::Reading;
using model::SlabCache;
using model::TraceBefore;
using model::VmallocArea;

constexpr int64_t kAreaIsUsers = 1;
constexpr int64_t kAreaHasVpages = 2;

std::optional<int64_t> stored(std::optional<uint64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<uint64_t> told(std::optional<int64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

// Fills one row after the other of one statement; the first failure stays.
class RowWriter {
 public:
  RowWriter(Database& database, Interned& interned)
      : database_(database), interned_(interned) {}

  void begin(const char* sql) {
    if (!status_) return;
    base::Result<Statement> made = database_.prepare(sql);
    if (!made) {
      status_ = made.error();
      return;
    }
    row_ = std::move(*made);
    column_ = 0;
  }
  void add(std::optional<int64_t> value) {
    if (status_) row_.bind(column_++, value);
  }
  void add(uint64_t value) { add(std::optional(static_cast<int64_t>(value))); }
  void add_text(std::string_view text) {
    if (!status_) return;
    base::Result<int64_t> id = interned_.text(text);
    if (!id) {
      status_ = id.error();
      return;
    }
    add(std::optional(*id));
  }
  void end() {
    if (status_) status_ = row_.run();
    column_ = 0;
  }
  const base::Status& status() const { return status_; }

 private:
  Database& database_;
  Interned& interned_;
  Statement row_;
  int column_ = 0;
  base::Status status_ = base::Ok{};
};

template <typename T>
void write_part(RowWriter& rows, BeforePart part, const Reading<T>& reading,
                model::AddressForm form = model::AddressForm::Real) {
  rows.begin("INSERT INTO trace_before VALUES(?,?,?)");
  rows.add(static_cast<uint64_t>(part));
  if (reading) {
    rows.add(std::optional<int64_t>());
  } else {
    rows.add_text(reading.unknown_because);
  }
  rows.add(static_cast<uint64_t>(form));
  rows.end();
}

void write_modules(RowWriter& rows, const TraceBefore& before) {
  write_part(rows, BeforePart::Modules, before.modules);
  if (!before.modules) return;
  rows.begin("INSERT INTO trace_before_module VALUES(?,?,?,?)");
  uint64_t number = 0;
  for (const KernelModule& module : *before.modules) {
    rows.add(number++);
    rows.add_text(module.name);
    rows.add(module.size_bytes);
    rows.add(stored(module.address));
    rows.end();
  }
}

void write_areas(RowWriter& rows, const TraceBefore& before) {
  write_part(
      rows, BeforePart::Vmalloc, before.vmalloc,
      before.vmalloc ? before.vmalloc->addresses : model::AddressForm::Real);
  if (!before.vmalloc) return;
  rows.begin("INSERT INTO trace_before_area VALUES(?,?,?,?,?,?,?,?,?)");
  uint64_t number = 0;
  for (const VmallocArea& area : before.vmalloc->areas) {
    rows.add(number++);
    rows.add(stored(area.start));
    rows.add(stored(area.end));
    rows.add(area.size_bytes);
    rows.add_text(area.caller);
    rows.add(stored(area.pages));
    rows.add(stored(area.phys));
    rows.add(static_cast<uint64_t>(area.kind));
    rows.add(std::optional<int64_t>((area.is_user ? kAreaIsUsers : 0) |
                                    (area.has_vpages ? kAreaHasVpages : 0)));
    rows.end();
  }
}

// The numbers of a cache, in the order of the table's columns.
constexpr uint64_t SlabCache::*kCacheNumbers[] = {
    &SlabCache::active_objects, &SlabCache::objects,
    &SlabCache::object_bytes,   &SlabCache::objects_per_slab,
    &SlabCache::pages_per_slab, &SlabCache::active_slabs,
    &SlabCache::slabs,
};

void write_caches(RowWriter& rows, const TraceBefore& before) {
  write_part(rows, BeforePart::Slab, before.slab);
  if (!before.slab) return;
  rows.begin("INSERT INTO trace_before_cache VALUES(?,?,?,?,?,?,?,?,?)");
  uint64_t number = 0;
  for (const SlabCache& cache : *before.slab) {
    rows.add(number++);
    rows.add_text(cache.name);
    for (uint64_t SlabCache::*target : kCacheNumbers)
      rows.add(cache.*target);
    rows.end();
  }
}

void write_code(RowWriter& rows, const TraceBefore& before) {
  write_part(rows, BeforePart::Code, before.code);
  if (!before.code) return;
  rows.begin("INSERT INTO trace_before_code VALUES(?,?,?,?,?,?,?,?)");
  uint64_t number = 0;
  for (const AllocationSite& site : *before.code) {
    rows.add(number++);
    rows.add_text(site.file);
    rows.add(uint64_t{site.line});
    rows.add_text(site.module);
    rows.add_text(site.function);
    rows.add(std::optional(site.bytes));
    rows.add(site.calls);
    rows.add(uint64_t{site.is_inexact});
    rows.end();
  }
}

void write_pages(RowWriter& rows, const TraceBefore& before) {
  write_part(rows, BeforePart::Pages, before.pages);
  if (!before.pages) return;
  rows.begin("INSERT INTO trace_before_pages VALUES(?,?,?)");
  uint64_t number = 0;
  for (const ModulePages& module : *before.pages) {
    rows.add(number++);
    rows.add_text(module.module);
    rows.add(module.pages);
    rows.end();
  }
}

base::Error damaged(const Database& database) {
  return base::fail(
      base::ErrorKind::Malformed,
      database.path() + ": damaged: absurd numbers of before the trace");
}

// Sizes and counts, never below zero.
uint64_t number_in(const Statement& row, int column, bool& is_sane) {
  is_sane &= row.integer(column) >= 0;
  return static_cast<uint64_t>(row.integer(column));
}

base::Status read_modules(Database& database, std::vector<KernelModule>& list,
                          bool& is_sane) {
  return each_row(
      database,
      "SELECT t.value, m.bytes, m.address FROM trace_before_module "
      "m JOIN text t ON t.id = m.name ORDER BY m.no",
      [&](const Statement& row) {
        list.push_back({std::string(row.text(0)), number_in(row, 1, is_sane),
                        told(row.maybe_integer(2))});
      });
}

base::Status read_areas(Database& database, std::vector<VmallocArea>& list,
                        bool& is_sane) {
  return each_row(
      database,
      "SELECT a.first, a.behind, a.bytes, t.value, a.pages, a.phys, a.kind, "
      "a.flags FROM trace_before_area a JOIN text t ON t.id = a.caller "
      "ORDER BY a.no",
      [&](const Statement& row) {
        const uint64_t kind = number_in(row, 6, is_sane);
        is_sane &= kind <= static_cast<uint64_t>(model::VmallocKind::Other);
        VmallocArea area;
        area.start = told(row.maybe_integer(0));
        area.end = told(row.maybe_integer(1));
        area.size_bytes = number_in(row, 2, is_sane);
        area.caller = row.text(3);
        area.pages = told(row.maybe_integer(4));
        area.phys = told(row.maybe_integer(5));
        area.kind = static_cast<model::VmallocKind>(kind);
        area.is_user = (row.integer(7) & kAreaIsUsers) != 0;
        area.has_vpages = (row.integer(7) & kAreaHasVpages) != 0;
        list.push_back(std::move(area));
      });
}

base::Status read_caches(Database& database, std::vector<SlabCache>& list,
                         bool& is_sane) {
  return each_row(
      database,
      "SELECT t.value, c.active_objects, c.objects, c.object_bytes, "
      "c.objects_per_slab, c.pages_per_slab, c.active_slabs, c.slabs "
      "FROM trace_before_cache c JOIN text t ON t.id = c.name ORDER BY c.no",
      [&](const Statement& row) {
        SlabCache cache;
        cache.name = row.text(0);
        int column = 1;
        for (uint64_t SlabCache::*target : kCacheNumbers)
          cache.*target = number_in(row, column++, is_sane);
        list.push_back(std::move(cache));
      });
}

base::Status read_code(Database& database, std::vector<AllocationSite>& list,
                       bool& is_sane) {
  return each_row(
      database,
      "SELECT f.value, c.line, m.value, n.value, c.bytes, c.calls, "
      "c.is_inexact FROM trace_before_code c JOIN text f ON f.id = c.file "
      "JOIN text m ON m.id = c.module JOIN text n ON n.id = c.function "
      "ORDER BY c.no",
      [&](const Statement& row) {
        AllocationSite site;
        site.file = row.text(0);
        site.line = static_cast<uint32_t>(number_in(row, 1, is_sane));
        site.module = row.text(2);
        site.function = row.text(3);
        site.bytes = row.integer(4);  // may be below zero
        site.calls = number_in(row, 5, is_sane);
        site.is_inexact = row.integer(6) != 0;
        list.push_back(std::move(site));
      });
}

base::Status read_pages(Database& database, std::vector<ModulePages>& list,
                        bool& is_sane) {
  return each_row(
      database,
      "SELECT t.value, p.pages FROM trace_before_pages p "
      "JOIN text t ON t.id = p.module ORDER BY p.no",
      [&](const Statement& row) {
        list.push_back({std::string(row.text(0)), number_in(row, 1, is_sane)});
      });
}

// What is said of each part, before its own rows.
base::Result<bool> read_parts(Database& database, TraceBefore& before) {
  bool is_there = false;
  bool is_sane = true;
  base::Status status = each_row(
      database,
      "SELECT b.part, t.value, b.form, b.unknown IS NULL FROM trace_before b "
      "LEFT JOIN text t ON t.id = b.unknown",
      [&](const Statement& row) {
        is_there = true;
        const bool is_known = row.integer(3) != 0;
        const std::string because(row.text(1));
        const auto take = [&](auto& reading) {
          reading.unknown_because = because;
          if (is_known) reading.value.emplace();
        };
        switch (static_cast<BeforePart>(row.integer(0))) {
          case BeforePart::Modules:
            return take(before.modules);
          case BeforePart::Vmalloc:
            take(before.vmalloc);
            is_sane &= row.integer(2) >= 0 && row.integer(2) <= 2;
            if (is_known) {
              before.vmalloc.value->addresses =
                  static_cast<model::AddressForm>(row.integer(2));
            }
            return;
          case BeforePart::Slab:
            return take(before.slab);
          case BeforePart::Code:
            return take(before.code);
          case BeforePart::Pages:
            return take(before.pages);
        }
      });
  if (!status) return status.error();
  if (!is_sane) return damaged(database);
  return is_there;
}

}  // namespace

base::Status write_trace_before(Database& database, const TraceBefore& before,
                                Interned& interned) {
  base::Result<int64_t> count =
      database.integer("SELECT count(*) FROM trace_before");
  if (!count) return count.error();
  if (*count > 0) return base::Ok{};
  RowWriter rows(database, interned);
  write_modules(rows, before);
  write_areas(rows, before);
  write_caches(rows, before);
  write_code(rows, before);
  write_pages(rows, before);
  return rows.status();
}

base::Result<std::optional<TraceBefore>> read_trace_before(Database& database) {
  // A part that no row tells of: the file is older than it.
  TraceBefore before = model::unknown_before("not in the recording");
  base::Result<bool> is_there = read_parts(database, before);
  if (!is_there) return is_there.error();
  if (!*is_there) return std::optional<TraceBefore>();
  bool is_sane = true;
  base::Status status = base::Ok{};
  if (before.modules) {
    status = read_modules(database, *before.modules.value, is_sane);
  }
  if (status && before.vmalloc) {
    status = read_areas(database, before.vmalloc.value->areas, is_sane);
  }
  if (status && before.slab) {
    status = read_caches(database, *before.slab.value, is_sane);
  }
  if (status && before.code) {
    status = read_code(database, *before.code.value, is_sane);
  }
  if (status && before.pages) {
    status = read_pages(database, *before.pages.value, is_sane);
  }
  if (!status) return status.error();
  if (!is_sane) return damaged(database);
  return std::optional(std::move(before));
}

}  // namespace tidemark::store
