#include "store/trace_schema.h"

#include <string>
#include <string_view>

#include "store/schema.h"

namespace tidemark::store {
namespace {

// Everything that changes is kept by the tick it changed in, and in a keyframe
// once more in full: a moment is what was told from the last keyframe on.
constexpr const char* kTraceTables = R"sql(
CREATE TABLE trace_tick(
  tick INTEGER PRIMARY KEY, elapsed_ns INT NOT NULL, pages INT NOT NULL,
  peak_pages INT NOT NULL, peak_utc_ns INT NOT NULL,
  low_stretch_ns INT NOT NULL, low_count INT NOT NULL) STRICT;
CREATE TABLE trace_keyframe(tick INTEGER PRIMARY KEY) STRICT;
CREATE TABLE trace_fault(
  tick INT NOT NULL, name INT NOT NULL, count INT NOT NULL,
  PRIMARY KEY(tick, name)) STRICT, WITHOUT ROWID;
-- All of them whenever there is another.
CREATE TABLE trace_note(
  tick INT NOT NULL, no INT NOT NULL, text INT NOT NULL,
  PRIMARY KEY(tick, no)) STRICT, WITHOUT ROWID;

-- The same of modules that came or went. flags: 1 it came, 2 it went.
CREATE TABLE trace_module(
  tick INT NOT NULL, no INT NOT NULL, name INT NOT NULL,
  image_bytes INT NOT NULL, flags INT NOT NULL,
  PRIMARY KEY(tick, no)) STRICT, WITHOUT ROWID;

CREATE TABLE trace_frame(
  id INTEGER PRIMARY KEY, address INT NOT NULL, symbol INT NOT NULL,
  offset INT NOT NULL, module INT NOT NULL, loads INT NOT NULL) STRICT;
-- A frame and the stack that called it; parent 0: it is the way in.
CREATE TABLE trace_stack(
  id INTEGER PRIMARY KEY, parent INT NOT NULL, frame INT NOT NULL) STRICT;
-- name: 0 where the start tells one from the other. part: counts those that
-- are the same in everything else.
CREATE TABLE trace_task(
  id INTEGER PRIMARY KEY, pid INT NOT NULL, start_ns INT NOT NULL,
  cgroup INT NOT NULL, name INT NOT NULL, part INT NOT NULL) STRICT;
CREATE TABLE trace_image(
  task INT NOT NULL, tick INT NOT NULL, name INT NOT NULL,
  command INT NOT NULL, flags INT NOT NULL,
  PRIMARY KEY(task, tick)) STRICT, WITHOUT ROWID;
CREATE TABLE trace_leaf(
  id INTEGER PRIMARY KEY, stack INT NOT NULL, task INT NOT NULL) STRICT;

-- pages null: not told of any more. Peaks null: as many as now.
CREATE TABLE trace_task_change(
  tick INT NOT NULL, task INT NOT NULL, pages INT, peak INT,
  PRIMARY KEY(tick, task)) STRICT, WITHOUT ROWID;
CREATE TABLE trace_change(
  tick INT NOT NULL, leaf INT NOT NULL, pages INT, peak INT,
  machine_peak INT, allocations INT, held_since INT,
  PRIMARY KEY(tick, leaf)) STRICT, WITHOUT ROWID;
-- Of the last tick alone: a history of histories would be the largest table.
CREATE TABLE trace_low(leaf INTEGER PRIMARY KEY, pages TEXT NOT NULL) STRICT;
)sql";

constexpr const char* kTraceTableNames[] = {
    "trace_tick",        "trace_keyframe", "trace_fault",  "trace_note",
    "trace_module",      "trace_frame",    "trace_stack",  "trace_task",
    "trace_image",       "trace_leaf",     "trace_change", "trace_low",
    "trace_task_change",
};

// What a cache holds for a caller is what the last row up to a tick says; bytes
// null: not told of any more. The caller is no frame of the trace: those may
// wait for their names.
constexpr const char* kAdditionalTables = R"sql(
CREATE TABLE trace_slab_sum(
  tick INT NOT NULL, name INT NOT NULL, count INT NOT NULL,
  PRIMARY KEY(tick, name)) STRICT, WITHOUT ROWID;
CREATE TABLE trace_slab_site(
  id INTEGER PRIMARY KEY, cache INT NOT NULL, address INT NOT NULL,
  symbol INT NOT NULL, offset INT NOT NULL, module INT NOT NULL) STRICT;
CREATE TABLE trace_slab_change(
  site INT NOT NULL, tick INT NOT NULL, bytes INT, peak_bytes INT,
  objects INT, allocations INT, untold INT,
  PRIMARY KEY(site, tick)) STRICT, WITHOUT ROWID;

-- Which of the kernel's files told of the time before. part: 0 modules,
-- 1 vmalloc areas, 2 slab caches, 3 lines of code, 4 pages by module. unknown:
-- why it did not. form: of addresses, 0 real, 1 hashed, 2 hidden.
CREATE TABLE trace_before(
  part INTEGER PRIMARY KEY, unknown INT, form INT NOT NULL) STRICT;
CREATE TABLE trace_before_module(
  no INTEGER PRIMARY KEY, name INT NOT NULL, bytes INT NOT NULL,
  address INT) STRICT;
-- flags: 1 may be mapped by processes, 2 its list of pages is vmalloc'ed.
CREATE TABLE trace_before_area(
  no INTEGER PRIMARY KEY, first INT, behind INT, bytes INT NOT NULL,
  caller INT NOT NULL, pages INT, phys INT, kind INT NOT NULL,
  flags INT NOT NULL) STRICT;
CREATE TABLE trace_before_cache(
  no INTEGER PRIMARY KEY, name INT NOT NULL, active_objects INT NOT NULL,
  objects INT NOT NULL, object_bytes INT NOT NULL,
  objects_per_slab INT NOT NULL, pages_per_slab INT NOT NULL,
  active_slabs INT NOT NULL, slabs INT NOT NULL) STRICT;
CREATE TABLE trace_before_code(
  no INTEGER PRIMARY KEY, file INT NOT NULL, line INT NOT NULL,
  module INT NOT NULL, function INT NOT NULL, bytes INT NOT NULL,
  calls INT NOT NULL, is_inexact INT NOT NULL) STRICT;
CREATE TABLE trace_before_pages(
  no INTEGER PRIMARY KEY, module INT NOT NULL, pages INT NOT NULL) STRICT;

CREATE VIEW trace_slab_sites AS
  SELECT s.id AS site, (SELECT value FROM text WHERE id = s.cache) AS cache,
    s.address, (SELECT value FROM text WHERE id = s.symbol) AS symbol,
    s.offset, (SELECT value FROM text WHERE id = s.module) AS module
  FROM trace_slab_site s;
CREATE VIEW trace_slab_changes AS
  SELECT c.tick, c.site, c.bytes, c.peak_bytes, c.objects, c.allocations,
    c.untold FROM trace_slab_change c;
CREATE VIEW trace_before_modules AS
  SELECT (SELECT value FROM text WHERE id = m.name) AS name, m.bytes
  FROM trace_before_module m;
CREATE VIEW trace_before_areas AS
  SELECT (SELECT value FROM text WHERE id = a.caller) AS caller, a.bytes,
    a.pages FROM trace_before_area a;
CREATE VIEW trace_before_caches AS
  SELECT (SELECT value FROM text WHERE id = c.name) AS name, c.objects,
    c.object_bytes, c.slabs * c.pages_per_slab AS pages
  FROM trace_before_cache c;
CREATE VIEW trace_before_lines AS
  SELECT (SELECT value FROM text WHERE id = c.file) AS file, c.line,
    (SELECT value FROM text WHERE id = c.module) AS module,
    (SELECT value FROM text WHERE id = c.function) AS function, c.bytes,
    c.calls FROM trace_before_code c;
CREATE VIEW trace_before_owners AS
  SELECT (SELECT value FROM text WHERE id = p.module) AS module, p.pages
  FROM trace_before_pages p;
)sql";

constexpr const char* kAdditionalTableNames[] = {
    "trace_slab_sum",     "trace_slab_site",     "trace_slab_change",
    "trace_before",       "trace_before_module", "trace_before_area",
    "trace_before_cache", "trace_before_code",   "trace_before_pages",
};

constexpr const char* kTraceViews = R"sql(
CREATE VIEW trace_ticks AS
  SELECT t.tick, k.utc, t.elapsed_ns, t.pages, t.peak_pages,
    t.pages * z.value AS bytes, t.peak_pages * z.value AS peak_bytes,
    nullif(t.peak_utc_ns, 0) AS peak_utc_ns
  FROM trace_tick t JOIN ticks k ON k.tick = t.tick
  JOIN recording z ON z.name = 'trace_page_size_bytes';

-- A row where one changed.
CREATE VIEW trace_faults AS
  SELECT f.tick, (SELECT value FROM text WHERE id = f.name) AS name, f.count
  FROM trace_fault f;

CREATE VIEW trace_notes AS
  SELECT n.tick, (SELECT value FROM text WHERE id = n.text) AS text
  FROM trace_note n WHERE n.tick = (SELECT max(tick) FROM trace_note);

CREATE VIEW trace_modules AS
  SELECT m.tick, (SELECT value FROM text WHERE id = m.name) AS name,
    m.image_bytes, m.flags & 1 AS was_loaded, m.flags >> 1 & 1 AS was_unloaded
  FROM trace_module m WHERE m.tick = (SELECT max(tick) FROM trace_module);

CREATE VIEW trace_frames AS
  SELECT f.id AS frame, f.address,
    (SELECT value FROM text WHERE id = f.symbol) AS symbol, f.offset,
    (SELECT value FROM text WHERE id = f.module) AS module,
    (SELECT value FROM text WHERE id = f.loads) AS loads
  FROM trace_frame f;

-- The way in first, parted by semicolons, as flame graphs have it.
CREATE VIEW trace_stacks AS
  WITH RECURSIVE path(stack, depth, symbols) AS (
    SELECT 0, 0, ''
    UNION ALL
    SELECT s.id, p.depth + 1,
      CASE p.depth WHEN 0 THEN '' ELSE p.symbols || ';' END || f.symbol
    FROM path p JOIN trace_stack s ON s.parent = p.stack
    JOIN trace_frames f ON f.frame = s.frame)
  SELECT stack, depth, symbols FROM path;

CREATE VIEW trace_tasks AS
  SELECT t.id AS task, t.pid, t.start_ns,
    (SELECT value FROM text WHERE id = i.name) AS name,
    (SELECT value FROM text WHERE id = i.command) AS command,
    (SELECT value FROM text WHERE id = t.cgroup) AS cgroup,
    i.flags & 1 AS is_kernel_thread, (i.flags & 2) / 2 AS is_interrupt,
    (i.flags & 4) / 4 AS has_exited
  FROM trace_task t JOIN trace_image i ON i.task = t.id AND i.tick =
    (SELECT max(tick) FROM trace_image WHERE task = t.id);

-- A row where one changed; null: not told of any more.
CREATE VIEW trace_task_changes AS
  SELECT c.tick, c.task, c.pages, coalesce(c.peak, c.pages) AS peak_pages,
    c.pages * z.value AS bytes,
    coalesce(c.peak, c.pages) * z.value AS peak_bytes
  FROM trace_task_change c
  JOIN recording z ON z.name = 'trace_page_size_bytes';

CREATE VIEW trace_changes AS
  SELECT c.tick, c.leaf, l.stack, l.task, c.pages,
    coalesce(c.peak, c.pages) AS peak_pages,
    coalesce(c.machine_peak, c.pages) AS machine_peak_pages,
    c.pages * z.value AS bytes,
    coalesce(c.peak, c.pages) * z.value AS peak_bytes,
    coalesce(c.machine_peak, c.pages) * z.value AS machine_peak_bytes,
    c.allocations, c.held_since AS held_since_elapsed_ns
  FROM trace_change c JOIN trace_leaf l ON l.id = c.leaf
  JOIN recording z ON z.name = 'trace_page_size_bytes';

-- The same with the tick it held to (excluded; null: to the end).
CREATE VIEW trace_spans AS
  SELECT c.*, lead(c.tick) OVER (PARTITION BY c.leaf ORDER BY c.tick)
    AS until_tick
  FROM trace_changes c;
)sql";

constexpr std::string_view kTraceWords = "the trace";

}  // namespace

base::Status create_trace_section(Database& database) {
  base::Status status =
      database.execute(squeezed_sql(std::string(kTraceTables) + kTraceViews));
  return status ? add_trace_additions(database) : status;
}

base::Result<bool> has_trace_section(Database& database) {
  return has_section(database, kTraceTableNames, kTraceWords);
}

base::Result<bool> has_trace_additions(Database& database) {
  return has_section(database, kAdditionalTableNames, kTraceWords);
}

base::Status add_trace_additions(Database& database) {
  base::Result<bool> is_there = has_trace_additions(database);
  if (!is_there) return is_there.error();
  if (*is_there) return base::Ok{};
  return database.execute(squeezed_sql(kAdditionalTables));
}

}  // namespace tidemark::store
