#include "store/vm_schema.h"

#include <iterator>
#include <vector>

#include "store/schema.h"

namespace tidemark::store {
namespace {

// Words are numbers of `text`. Where something may be unknown for a reason, a
// negative number is that of the reason's text. The order of columns is that of
// vm_columns.h. is_full: everything known is told again in this tick.
constexpr const char* kVmTables = R"sql(
CREATE TABLE vm_tick(
  tick INTEGER PRIMARY KEY, is_full INT NOT NULL, utc_ns INT NOT NULL,
  monotonic_ns INT NOT NULL, read_ns INT NOT NULL, unseen INT NOT NULL) STRICT;
CREATE TABLE vm_machine(
  id INTEGER PRIMARY KEY, pid INT NOT NULL, start_ticks INT NOT NULL) STRICT;
CREATE TABLE vm_process(
  id INTEGER PRIMARY KEY, vm INT NOT NULL, pid INT NOT NULL,
  start_ticks INT NOT NULL) STRICT;
CREATE TABLE vm_image(
  id INTEGER PRIMARY KEY, vm INT NOT NULL, path INT NOT NULL) STRICT;

CREATE TABLE vm_change(
  tick INT NOT NULL, vm INT NOT NULL, kind INT, name INT, uuid INT, cgroup INT,
  kvm INT, detail_ns INT, found_by INT, resident_by INT, backing INT,
  configured INT, resident INT, swapped INT, hugetlb INT, thp INT, ksm INT,
  ksm_saved INT,
  PRIMARY KEY(tick, vm)) STRICT, WITHOUT ROWID;
CREATE TABLE vm_guest_change(
  tick INT NOT NULL, vm INT NOT NULL, state INT, because INT, source INT,
  updated_s INT, polling_s INT, configured INT, balloon INT, moving INT,
  deflates INT, reports INT, asked_ns INT, total INT, free INT, available INT,
  caches INT, shared INT, unevictable INT, swap_in INT, swap_out INT,
  major_faults INT, minor_faults INT, hugetlb_allocations INT,
  hugetlb_failures INT, oom_kills INT, alloc_stalls INT, async_scans INT,
  direct_scans INT, async_reclaims INT, direct_reclaims INT,
  PRIMARY KEY(tick, vm)) STRICT, WITHOUT ROWID;
CREATE TABLE vm_process_change(
  tick INT NOT NULL, process INT NOT NULL, name INT, role INT, rss INT,
  page_table INT,
  PRIMARY KEY(tick, process)) STRICT, WITHOUT ROWID;
-- memory: twice the process for its own, one more for guest RAM as it maps it.
-- KiB; the fields without a column by the kernel's names in `rare`.
CREATE TABLE vm_memory_change(
  tick INT NOT NULL, memory INT NOT NULL, because INT, rss INT, pss INT,
  pss_dirty INT, shared_clean INT, shared_dirty INT, private_clean INT,
  private_dirty INT, referenced INT, anonymous INT, swap INT, rare INT,
  PRIMARY KEY(tick, memory)) STRICT, WITHOUT ROWID;
CREATE TABLE vm_image_change(
  tick INT NOT NULL, image INT NOT NULL, size INT, cached INT,
  PRIMARY KEY(tick, image)) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* kVmViews = R"sql(
CREATE VIEW vm_ticks AS
  SELECT tick, strftime('%Y-%m-%dT%H:%M:%S', utc_ns / 1000000000, 'unixepoch')
      || printf('.%09dZ', utc_ns % 1000000000) AS utc,
    utc_ns, read_ns, unseen AS unseen_processes FROM vm_tick;

-- A row where something changed; kind null: it has ended.
CREATE VIEW vm_changes AS
  SELECT c.tick, c.vm, m.pid,
    (SELECT value FROM text WHERE id = c.kind) AS kind,
    (SELECT value FROM text WHERE id = c.name) AS name,
    (SELECT value FROM text WHERE id = c.uuid) AS uuid,
    (SELECT value FROM text WHERE id = c.cgroup) AS cgroup, c.kvm,
    (SELECT value FROM text WHERE id = c.found_by) AS found_by,
    (SELECT value FROM text WHERE id = c.resident_by) AS resident_by,
    (SELECT value FROM text WHERE id = c.backing) AS backing,
    nullif(max(c.configured, -1), -1) AS configured_bytes,
    nullif(max(c.resident, -1), -1) AS resident_bytes,
    nullif(max(c.swapped, -1), -1) AS swapped_bytes,
    nullif(max(c.hugetlb, -1), -1) AS hugetlb_bytes,
    nullif(max(c.thp, -1), -1) AS thp_bytes,
    nullif(max(c.ksm, -1), -1) AS ksm_bytes,
    nullif(max(c.ksm_saved, -1), -1) AS ksm_saved_bytes,
    (SELECT value FROM text WHERE id = -min(c.resident, 0))
      AS resident_unknown_because
  FROM vm_change c JOIN vm_machine m ON m.id = c.vm;

CREATE VIEW vm_guest_changes AS
  SELECT c.tick, c.vm, m.pid,
    (SELECT value FROM text WHERE id = c.state) AS state,
    (SELECT value FROM text WHERE id = c.because) AS because,
    (SELECT value FROM text WHERE id = c.source) AS source,
    c.updated_s, c.polling_s AS polling_interval_s,
    c.configured AS configured_bytes, c.balloon AS balloon_bytes,
    c.moving AS balloon_is_moving, c.deflates AS deflates_on_oom,
    c.reports AS reports_free_pages, c.asked_ns,
    c.total AS total_bytes, c.free AS free_bytes,
    c.available AS available_bytes, c.caches AS caches_bytes,
    c.shared AS shared_bytes, c.unevictable AS unevictable_bytes,
    c.swap_in AS swap_in_bytes, c.swap_out AS swap_out_bytes, c.major_faults,
    c.minor_faults, c.hugetlb_allocations, c.hugetlb_failures, c.oom_kills,
    c.alloc_stalls, c.async_scans, c.direct_scans, c.async_reclaims,
    c.direct_reclaims
  FROM vm_guest_change c JOIN vm_machine m ON m.id = c.vm;

CREATE VIEW vm_process_changes AS
  SELECT c.tick, p.vm, c.process, p.pid,
    (SELECT value FROM text WHERE id = c.name) AS name,
    (SELECT value FROM text WHERE id = c.role) AS role, c.rss AS rss_bytes,
    c.page_table AS page_table_bytes
  FROM vm_process_change c JOIN vm_process p ON p.id = c.process;

CREATE VIEW vm_memory_changes AS
  SELECT c.tick, p.vm, p.id AS process, p.pid,
    CASE c.memory % 2 WHEN 0 THEN 'own' ELSE 'guest RAM' END AS memory,
    (SELECT value FROM text WHERE id = c.because) AS unknown_because,
    c.rss * 1024 AS rss_bytes, c.pss * 1024 AS pss_bytes,
    c.pss_dirty * 1024 AS pss_dirty_bytes,
    c.shared_clean * 1024 AS shared_clean_bytes,
    c.shared_dirty * 1024 AS shared_dirty_bytes,
    c.private_clean * 1024 AS private_clean_bytes,
    c.private_dirty * 1024 AS private_dirty_bytes,
    c.referenced * 1024 AS referenced_bytes,
    c.anonymous * 1024 AS anonymous_bytes, c.swap * 1024 AS swap_bytes,
    (SELECT value FROM text WHERE id = c.rare) AS rare_kib
  FROM vm_memory_change c JOIN vm_process p ON p.id = c.memory / 2;

CREATE VIEW vm_image_changes AS
  SELECT c.tick, i.vm, (SELECT value FROM text WHERE id = i.path) AS path,
    c.size AS size_bytes, nullif(max(c.cached, -1), -1) AS cached_bytes
  FROM vm_image_change c JOIN vm_image i ON i.id = c.image;
)sql";

constexpr const char* kVmHeadTables[] = {"vm_tick", "vm_machine", "vm_process",
                                         "vm_image"};

}  // namespace

base::Status create_vm_section(Database& database) {
  return database.execute(squeezed_sql(std::string(kVmTables) + kVmViews));
}

base::Result<bool> has_vm_section(Database& database) {
  std::vector<const char*> names(std::begin(kVmHeadTables),
                                 std::end(kVmHeadTables));
  for (const VmChangeTable& table : kVmChangeTables)
    names.push_back(table.name);
  return has_section(database, names, "the virtual machines");
}

}  // namespace tidemark::store
