#include "store/schema.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/text.h"

namespace tidemark::store {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE recording(
  name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- state: 0 by the clock, 1 because memory had reached a new high
CREATE TABLE tick(
  id INTEGER PRIMARY KEY, state INT NOT NULL, utc_ns INT NOT NULL,
  monotonic_ns INT NOT NULL, read_ns INT NOT NULL, oldest_detail INT NOT NULL,
  undetailed INT NOT NULL, scanned INT NOT NULL, cpu_ns INT) STRICT;
CREATE TABLE missed_tick(
  id INTEGER PRIMARY KEY, before_tick INT NOT NULL, monotonic_ns INT NOT NULL,
  count INT NOT NULL, because TEXT NOT NULL) STRICT;
CREATE TABLE epoch(id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE text(id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE note(
  id INTEGER PRIMARY KEY, tick INT NOT NULL, process INT,
  text TEXT NOT NULL) STRICT;

CREATE TABLE proc_process(
  id INTEGER PRIMARY KEY, pid INT NOT NULL, start_ticks INT NOT NULL,
  born INT NOT NULL) STRICT;
CREATE TABLE proc_end(process INTEGER PRIMARY KEY, tick INT NOT NULL) STRICT;
CREATE TABLE proc_identity(
  process INT NOT NULL, tick INT NOT NULL, parent_pid INT NOT NULL,
  comm INT NOT NULL, executable INT, command INT, user_id INT, cgroup INT,
  image INT NOT NULL,
  PRIMARY KEY(process, tick)) STRICT, WITHOUT ROWID;
CREATE TABLE proc_counter(
  epoch INT NOT NULL, process INT NOT NULL, tick INT NOT NULL,
  resident INT, shared INT, minor_faults INT, major_faults INT,
  PRIMARY KEY(epoch, process, tick)) STRICT, WITHOUT ROWID;
CREATE TABLE proc_status(
  epoch INT NOT NULL, process INT NOT NULL, tick INT NOT NULL,
  state INT NOT NULL, because INT, size INT, text INT, data INT, threads INT,
  high_mark INT, swap INT, page_table INT, hugetlb INT, locked INT,
  rss_anon INT, rss_file INT, rss_shmem INT, oom_score INT,
  oom_score_adjustment INT,
  PRIMARY KEY(epoch, process, tick)) STRICT, WITHOUT ROWID;
-- step > 0: from here on read each so many ticks (tier 0: not at all); 0: this
-- tick alone is an exception to it (tier 0: it was not read)
CREATE TABLE proc_detail(
  process INT NOT NULL, tick INT NOT NULL, tier INT NOT NULL,
  step INT NOT NULL, PRIMARY KEY(process, tick)) STRICT, WITHOUT ROWID;
CREATE TABLE proc_object(
  id INTEGER PRIMARY KEY, device_major INT NOT NULL, device_minor INT NOT NULL,
  inode INT NOT NULL, name TEXT NOT NULL) STRICT;
CREATE TABLE proc_trait(
  id INTEGER PRIMARY KEY, permissions TEXT NOT NULL, vm_flags TEXT NOT NULL,
  kernel_page_size INT, mmu_page_size INT, thp_eligible INT NOT NULL,
  kind TEXT NOT NULL, category TEXT NOT NULL) STRICT;
CREATE TABLE proc_mapping(
  process INT NOT NULL, no INT NOT NULL, start INT NOT NULL,
  file_offset INT NOT NULL, object INT NOT NULL, born INT NOT NULL,
  PRIMARY KEY(process, no)) STRICT, WITHOUT ROWID;
-- size 0: the mapping has ended. rss is filled only where it is not the sum of
-- the four parts; all parts are null where pages were only scanned.
CREATE TABLE proc_change(
  epoch INT NOT NULL, process INT NOT NULL, tick INT NOT NULL, no INT NOT NULL,
  trait INT NOT NULL, size INT NOT NULL, pss INT, pss_dirty INT,
  shared_clean INT, shared_dirty INT, private_clean INT, private_dirty INT,
  referenced INT, anonymous INT, swap INT, rss INT, rare TEXT,
  PRIMARY KEY(epoch, process, tick, no)) STRICT, WITHOUT ROWID;
CREATE TABLE proc_keyframe(
  process INT NOT NULL, tick INT NOT NULL,
  PRIMARY KEY(process, tick)) STRICT, WITHOUT ROWID;
-- pss: the best value; of it bounded is resident pages that were never divided
-- by those that share them, and estimated is scaled since it was read
CREATE TABLE proc_category(
  tick INT NOT NULL, category TEXT NOT NULL, rss INT NOT NULL,
  pss INT NOT NULL, private INT NOT NULL, swap INT NOT NULL,
  bounded INT NOT NULL, estimated INT NOT NULL, PRIMARY KEY(tick, category)) STRICT, WITHOUT ROWID;

CREATE TABLE machine_sample(
  tick INTEGER PRIMARY KEY, total INT, free INT, available INT, buffers INT,
  cached INT, swap_cached INT, swap_total INT, swap_free INT, zswap INT,
  anon_pages INT, mapped INT, shmem INT, slab_reclaimable INT,
  slab_unreclaimable INT, kernel_stack INT, page_tables INT,
  secondary_page_tables INT, vmalloc_used INT, percpu INT, hugetlb INT,
  huge_page_size INT, zone_free INT, zone_managed INT, per_cpu_free INT,
  faults INT, major_faults INT, swapped_in INT, swapped_out INT, scanned INT,
  reclaimed INT, stalls INT, refaults_anon INT, refaults_file INT,
  huge_faults INT, compact_stalls INT, oom_kills INT, pressure_some_us INT,
  pressure_full_us INT, zram_stored INT, zram_memory INT) STRICT;

CREATE TABLE cgroup_group(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, inode INT NOT NULL) STRICT;
CREATE TABLE cgroup_sample(
  epoch INT NOT NULL, cgroup INT NOT NULL, tick INT NOT NULL,
  charged INT, peak INT, max INT, anon INT, file INT, shmem INT,
  file_mapped INT, kernel INT, slab INT, page_tables INT, kernel_stack INT,
  percpu INT, socket INT, vmalloc INT, swap INT,
  PRIMARY KEY(epoch, cgroup, tick)) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* kViews = R"sql(
CREATE VIEW ticks AS
  SELECT id AS tick, utc_ns, monotonic_ns, read_ns,
    CASE state WHEN 1 THEN 'new high' ELSE 'clock' END AS taken_by,
    strftime('%Y-%m-%dT%H:%M:%S', utc_ns / 1000000000, 'unixepoch') ||
      printf('.%09dZ', utc_ns % 1000000000) AS utc,
    oldest_detail AS oldest_detail_ticks, undetailed AS undetailed_processes,
    scanned AS scanned_processes, cpu_ns AS recorder_cpu_ns
  FROM tick;

CREATE VIEW missed_ticks AS
  SELECT before_tick, monotonic_ns AS due_monotonic_ns, count, because
  FROM missed_tick;

CREATE VIEW notes AS
  SELECT n.tick, n.process, p.pid, n.text
  FROM note n LEFT JOIN proc_process p ON p.id = n.process;

-- One row per process and image: exec and rename begin a new one.
CREATE VIEW images AS
  SELECT i.process, p.pid, i.tick AS from_tick, i.parent_pid,
    (SELECT value FROM text WHERE id = i.comm) AS comm,
    (SELECT value FROM text WHERE id = i.executable) AS executable,
    replace((SELECT value FROM text WHERE id = i.command), char(31), ' ')
      AS command,
    i.user_id, (SELECT value FROM text WHERE id = i.cgroup) AS cgroup,
    i.image
  FROM proc_identity i JOIN proc_process p ON p.id = i.process;

CREATE VIEW processes AS
  SELECT p.id AS process, p.pid, p.start_ticks, p.born AS first_tick,
    e.tick AS gone_at_tick, i.parent_pid, i.comm, i.executable, i.command,
    i.user_id, i.cgroup
  FROM proc_process p
  LEFT JOIN proc_end e ON e.process = p.id
  LEFT JOIN images i ON i.process = p.id AND i.from_tick =
    (SELECT max(tick) FROM proc_identity WHERE process = p.id);

CREATE VIEW events AS
  SELECT born AS tick, id AS process, pid, 'start' AS event, NULL AS detail
    FROM proc_process
  UNION ALL
  SELECT e.tick, e.process, p.pid, 'end', NULL
    FROM proc_end e JOIN proc_process p ON p.id = e.process
  UNION ALL
  SELECT i.from_tick, i.process, i.pid, 'exec', i.command
    FROM images i WHERE i.image > 0 AND i.image > coalesce(
      (SELECT max(o.image) FROM proc_identity o
       WHERE o.process = i.process AND o.tick < i.from_tick), i.image)
  UNION ALL
  SELECT tick, process, pid, 'note', text FROM notes;

-- A row where a value changed; it holds until the next of the same process.
CREATE VIEW process_counters AS
  SELECT c.process, p.pid, c.epoch * 16 + c.tick AS tick,
    c.resident * 1024 AS rss_bytes, c.shared * 1024 AS shared_bytes,
    c.minor_faults, c.major_faults
  FROM epoch e CROSS JOIN proc_counter c ON c.epoch = e.id
  JOIN proc_process p ON p.id = c.process;

CREATE VIEW process_status AS
  SELECT c.process, p.pid, c.epoch * 16 + c.tick AS tick,
    CASE c.state WHEN 0 THEN 'ok' WHEN 1 THEN 'denied' WHEN 2 THEN 'gone'
      WHEN 3 THEN 'zombie' WHEN 4 THEN 'kernel thread' ELSE 'failed' END
      AS state,
    (SELECT value FROM text WHERE id = c.because) AS because,
    c.size * 1024 AS size_bytes, c.text * 1024 AS text_bytes,
    c.data * 1024 AS data_bytes, c.threads,
    c.high_mark * 1024 AS peak_rss_bytes, c.swap * 1024 AS swap_bytes,
    c.page_table * 1024 AS page_table_bytes,
    c.hugetlb * 1024 AS hugetlb_bytes, c.locked * 1024 AS locked_bytes,
    c.rss_anon * 1024 AS rss_anon_bytes, c.rss_file * 1024 AS rss_file_bytes,
    c.rss_shmem * 1024 AS rss_shmem_bytes, c.oom_score, c.oom_score_adjustment
  FROM epoch e CROSS JOIN proc_status c ON c.epoch = e.id
  JOIN proc_process p ON p.id = c.process;

CREATE VIEW detail_plan AS
  SELECT process, tick AS from_tick,
    CASE tier WHEN 0 THEN 'counters' WHEN 1 THEN 'scan' ELSE 'full' END AS tier,
    step AS every_ticks
  FROM proc_detail;

CREATE VIEW mappings AS
  SELECT m.process, p.pid, m.no, m.start * 4096 AS start_address,
    m.file_offset * 4096 AS offset_bytes, o.device_major, o.device_minor,
    o.inode, o.name, m.born AS first_tick
  FROM proc_mapping m JOIN proc_object o ON o.id = m.object
  JOIN proc_process p ON p.id = m.process;

-- A row where a value changed; size_bytes 0 is the mapping's end.
CREATE VIEW mapping_changes AS
  SELECT c.process, c.epoch * 16 + c.tick AS tick, c.no,
    c.size * 1024 AS size_bytes,
    coalesce(c.rss, c.shared_clean + c.shared_dirty + c.private_clean +
      c.private_dirty) * 1024 AS rss_bytes,
    c.pss * 1024 AS pss_bytes, c.pss_dirty * 1024 AS pss_dirty_bytes,
    c.shared_clean * 1024 AS shared_clean_bytes,
    c.shared_dirty * 1024 AS shared_dirty_bytes,
    c.private_clean * 1024 AS private_clean_bytes,
    c.private_dirty * 1024 AS private_dirty_bytes,
    c.referenced * 1024 AS referenced_bytes,
    c.anonymous * 1024 AS anonymous_bytes, c.swap * 1024 AS swap_bytes,
    c.rare AS rare_kib, t.permissions, t.vm_flags, t.kind, t.category,
    t.kernel_page_size * 1024 AS kernel_page_size_bytes,
    t.mmu_page_size * 1024 AS mmu_page_size_bytes, t.thp_eligible
  FROM epoch e CROSS JOIN proc_change c ON c.epoch = e.id
  JOIN proc_trait t ON t.id = c.trait;

-- The same with the tick it held to (excluded; null: to the end). What is not
-- in a keyframe has ended before it: the end itself was lost with a full disk.
CREATE VIEW mapping_spans AS
  SELECT c.*, m.start_address, m.name, m.pid,
    coalesce(lead(c.tick) OVER (PARTITION BY c.process, c.no ORDER BY c.tick),
      (SELECT min(tick) FROM proc_keyframe
       WHERE process = c.process AND tick > c.tick),
      (SELECT tick FROM proc_end WHERE process = c.process)) AS until_tick
  FROM mapping_changes c
  JOIN mappings m ON m.process = c.process AND m.no = c.no;

-- Sums over all recorded processes; a row where one changed. What was not read
-- in full at a tick is in pss_bytes by its best value; pss_bytes_low leaves out
-- what has no more than an upper bound, of which nobody knows what is private.
CREATE VIEW categories AS
  SELECT c.tick, c.category, c.rss * 1024 AS rss_bytes,
    c.pss * 1024 AS pss_bytes,
    (c.pss - c.bounded) * 1024 AS pss_bytes_low,
    c.pss * 1024 AS pss_bytes_high,
    c.estimated * 1024 AS estimated_bytes,
    iif(c.bounded > 0, NULL, c.private * 1024) AS private_bytes,
    c.swap * 1024 AS swap_bytes
  FROM proc_category c;

CREATE VIEW machine AS
  SELECT tick, total * 1024 AS total_bytes, free * 1024 AS free_bytes,
    available * 1024 AS available_bytes, buffers * 1024 AS buffers_bytes,
    cached * 1024 AS cached_bytes, swap_cached * 1024 AS swap_cached_bytes,
    swap_total * 1024 AS swap_total_bytes, swap_free * 1024 AS swap_free_bytes,
    zswap * 1024 AS zswap_bytes, anon_pages * 1024 AS anon_pages_bytes,
    mapped * 1024 AS mapped_bytes, shmem * 1024 AS shmem_bytes,
    slab_reclaimable * 1024 AS slab_reclaimable_bytes,
    slab_unreclaimable * 1024 AS slab_unreclaimable_bytes,
    kernel_stack * 1024 AS kernel_stack_bytes,
    page_tables * 1024 AS page_tables_bytes,
    secondary_page_tables * 1024 AS secondary_page_tables_bytes,
    vmalloc_used * 1024 AS vmalloc_used_bytes, percpu * 1024 AS percpu_bytes,
    hugetlb * 1024 AS hugetlb_bytes,
    per_cpu_free AS per_cpu_free_pages, zone_free AS zone_free_pages,
    zone_managed AS zone_managed_pages,
    faults, major_faults, swapped_in AS swapped_in_pages,
    swapped_out AS swapped_out_pages, scanned AS scanned_pages,
    reclaimed AS reclaimed_pages, stalls, refaults_anon AS refaults_anon_pages,
    refaults_file AS refaults_file_pages, huge_faults, compact_stalls,
    oom_kills, pressure_some_us * 1000 AS pressure_some_ns,
    pressure_full_us * 1000 AS pressure_full_ns,
    zram_stored * 1024 AS zram_stored_bytes,
    zram_memory * 1024 AS zram_memory_bytes
  FROM machine_sample;

CREATE VIEW cgroups AS
  SELECT c.epoch * 16 + c.tick AS tick, g.path, g.inode,
    c.charged * 1024 AS charged_bytes, c.peak * 1024 AS peak_bytes,
    c.max * 1024 AS limit_bytes, c.anon * 1024 AS anon_bytes,
    c.file * 1024 AS file_bytes, c.shmem * 1024 AS shmem_bytes,
    c.file_mapped * 1024 AS file_mapped_bytes, c.kernel * 1024 AS kernel_bytes,
    c.slab * 1024 AS slab_bytes, c.page_tables * 1024 AS page_tables_bytes,
    c.kernel_stack * 1024 AS kernel_stack_bytes,
    c.percpu * 1024 AS percpu_bytes, c.socket * 1024 AS socket_bytes,
    c.vmalloc * 1024 AS vmalloc_bytes, c.swap * 1024 AS swap_bytes
  FROM epoch e CROSS JOIN cgroup_sample c ON c.epoch = e.id
  JOIN cgroup_group g ON g.id = c.cgroup;
)sql";

// The names and units of memory-watcher 0.1, for scripts written for it. Its
// rows are made anew from the changes, so a whole `data` of a long recording is
// large; filter by process or time. A measurement is a tick in which the
// mappings of the process were read.
constexpr const char* kWatcherViews = R"sql(
CREATE VIEW detail_readings AS
  SELECT p.id AS process, t.id AS tick
  FROM proc_process p
  JOIN tick t ON t.id >= p.born
    AND t.id < coalesce((SELECT tick FROM proc_end WHERE process = p.id),
                        9223372036854775807)
  LEFT JOIN proc_detail x ON x.process = p.id AND x.tick = t.id AND x.step = 0
  LEFT JOIN proc_detail d ON d.process = p.id AND d.step > 0 AND d.tick =
    (SELECT max(tick) FROM proc_detail
     WHERE process = p.id AND tick <= t.id AND step > 0)
  WHERE CASE WHEN x.tick IS NOT NULL THEN x.tier = 2
    ELSE d.tier = 2 AND (t.id - d.tick) % d.step = 0 END;

CREATE VIEW process AS
  SELECT id, pid, start_ticks AS start_time,
    (SELECT value FROM text WHERE id = (SELECT comm FROM proc_identity
     WHERE process = p.id ORDER BY tick DESC LIMIT 1)) AS name
  FROM proc_process p;

CREATE VIEW memory_range AS
  SELECT m.process * 4294967296 + m.no AS id, m.process AS process_id,
    m.start * 4096 AS "from",
    m.start * 4096 + (SELECT max(size) FROM proc_change
      WHERE epoch = m.born / 16 AND process = m.process
        AND tick = m.born % 16 AND no = m.no) * 1024 AS "to",
    (SELECT t.permissions FROM proc_change c JOIN proc_trait t
      ON t.id = c.trait WHERE c.epoch = m.born / 16 AND c.process = m.process
        AND c.tick = m.born % 16 AND c.no = m.no) AS permission, o.name
  FROM proc_mapping m JOIN proc_object o ON o.id = m.object;

CREATE VIEW data AS
  SELECT s.process * 4294967296 + s.no AS range_id,
    r.process * 4294967296 + r.tick AS measurement_id,
    s.rss_bytes / 1024 AS rss, s.pss_bytes / 1024 AS pss
  FROM detail_readings r
  JOIN mapping_spans s ON s.process = r.process AND s.tick <= r.tick
    AND (s.until_tick IS NULL OR s.until_tick > r.tick)
  WHERE s.size_bytes > 0;

CREATE VIEW measurement AS
  SELECT r.process * 4294967296 + r.tick AS id, r.process AS process_id,
    strftime('%Y-%m-%dT%H:%M:%S', t.utc_ns / 1000000000, 'unixepoch',
      'localtime') || printf('.%03d', t.utc_ns / 1000000 % 1000) AS time,
    (SELECT sum(rss) FROM data
      WHERE measurement_id = r.process * 4294967296 + r.tick) AS rss_sum,
    (SELECT sum(pss) FROM data
      WHERE measurement_id = r.process * 4294967296 + r.tick) AS pss_sum,
    NULL AS oom_adj, s.oom_score, s.oom_score_adjustment AS oom_score_adj,
    s.size AS statm_size, c.resident AS statm_resident,
    c.shared AS statm_shared, s.text AS statm_text, 0 AS statm_lib,
    s.data AS statm_data, 0 AS statm_dt
  FROM detail_readings r JOIN tick t ON t.id = r.tick
  LEFT JOIN proc_status s ON s.process = r.process
    AND s.epoch * 16 + s.tick = (SELECT max(epoch * 16 + tick)
      FROM proc_status WHERE process = r.process
        AND epoch * 16 + tick <= r.tick)
    AND s.epoch = (SELECT max(epoch) FROM proc_status
      WHERE process = r.process AND epoch * 16 + tick <= r.tick)
  LEFT JOIN proc_counter c ON c.process = r.process
    AND c.epoch * 16 + c.tick = (SELECT max(epoch * 16 + tick)
      FROM proc_counter WHERE process = r.process
        AND epoch * 16 + tick <= r.tick)
    AND c.epoch = (SELECT max(epoch) FROM proc_counter
      WHERE process = r.process AND epoch * 16 + tick <= r.tick);

CREATE VIEW system_memory AS
  SELECT strftime('%Y-%m-%dT%H:%M:%S', t.utc_ns / 1000000000, 'unixepoch',
      'localtime') || printf('.%03d', t.utc_ns / 1000000 % 1000) AS time,
    m.total AS mem_total, m.free AS mem_free, m.available AS mem_available,
    m.buffers, m.cached, m.swap_cached AS swap_cache, m.swap_total,
    m.swap_free, m.anon_pages, m.mapped, m.shmem,
    m.slab_reclaimable + m.slab_unreclaimable AS slab,
    m.slab_reclaimable AS s_reclaimable
  FROM machine_sample m JOIN tick t ON t.id = m.tick;
)sql";

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
         uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

// What SQLite says of a file that is shorter than its head promises is that it
// is none of its own. Its head tells whether it was one of ours.
std::optional<uint64_t> promised_bytes(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<unsigned char, 100> head{};
  if (::pread(file.get(), head.data(), head.size(), 0) !=
      static_cast<ssize_t>(head.size())) {
    return std::nullopt;
  }
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr size_t kPageSizeAt = 16;
  constexpr size_t kPageCountAt = 28;
  constexpr size_t kApplicationIdAt = 68;
  const std::string_view start(reinterpret_cast<const char*>(head.data()),
                               kMagic.size());
  if (start != kMagic || big_endian(&head[kApplicationIdAt]) != kApplicationId)
    return std::nullopt;
  const uint64_t page_size =
      uint64_t{head[kPageSizeAt]} << 8 | head[kPageSizeAt + 1];
  // 1 stands for the one size that does not fit.
  return (page_size == 1 ? 65536 : page_size) * big_endian(&head[kPageCountAt]);
}

base::Error cut_short(const std::string& path, uint64_t bytes, uint64_t whole) {
  return base::fail(base::ErrorKind::Malformed,
                    path + ": cut short: " + std::to_string(bytes) + " of " +
                        std::to_string(whole) + " bytes");
}

base::Error not_a_recording(const std::string& path) {
  return base::fail(base::ErrorKind::Malformed,
                    path + ": not a recording of tidemark",
                    "`tidemark import` reads other tools' files");
}

}  // namespace

std::string squeezed_sql(std::string_view sql) {
  std::string out;
  while (!sql.empty()) {
    std::string_view line = base::take_line(sql);
    line = base::trim(line.substr(0, line.find("--")));
    if (line.empty()) continue;
    if (!out.empty()) out += ' ';
    out += line;
  }
  return out;
}

base::Status create_schema(Database& database) {
  // Small pages: a commit writes whole ones, and most tables touch one row.
  return database.execute(
      "PRAGMA page_size=1024; PRAGMA application_id=" +
      std::to_string(kApplicationId) +
      "; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE;" +
      squeezed_sql(std::string(kTables) + kViews + kWatcherViews) +
      "PRAGMA user_version=" + std::to_string(kSchemaVersion) + "; COMMIT;");
}

base::Result<bool> has_section(Database& database,
                               std::span<const char* const> tables,
                               std::string_view what) {
  size_t count = 0;
  for (const char* name : tables) {
    base::Result<bool> is_there = database.has_table(name);
    if (!is_there) return is_there.error();
    count += *is_there ? 1 : 0;
  }
  if (count != 0 && count != tables.size()) {
    return base::fail(base::ErrorKind::Malformed,
                      database.path() + ": damaged: a part of " +
                          std::string(what) + " is missing");
  }
  return count != 0;
}

base::Status check_schema(Database& database) {
  struct stat info {};
  if (::stat(database.path().c_str(), &info) == 0 && info.st_size == 0) {
    return base::fail(base::ErrorKind::Malformed,
                      database.path() + ": the file is empty");
  }
  base::Result<int64_t> id = database.integer("PRAGMA application_id");
  if (!id) {
    if (id.error().kind != base::ErrorKind::Malformed) return id.error();
    const std::optional<uint64_t> whole = promised_bytes(database.path());
    const auto size = static_cast<uint64_t>(info.st_size);
    if (!whole) return not_a_recording(database.path());
    if (size < *whole) return cut_short(database.path(), size, *whole);
    return base::fail(
        base::ErrorKind::Malformed,
        database.path() + ": damaged: its head contradicts itself");
  }
  if (*id != kApplicationId) return not_a_recording(database.path());
  base::Result<int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version > kSchemaVersion) {
    return base::fail(
        base::ErrorKind::Unsupported,
        database.path() + ": made by a newer tidemark (recording format " +
            std::to_string(*version) +
            ", known here: " + std::to_string(kSchemaVersion) + ")",
        "use that version, or a newer one");
  }
  if (*version == 0) {
    return base::fail(
        base::ErrorKind::Malformed,
        database.path() + ": the recording was ended before it began");
  }
  base::Result<int64_t> pages = database.integer("PRAGMA page_count");
  base::Result<int64_t> page_size = database.integer("PRAGMA page_size");
  if (!pages) return pages.error();
  if (!page_size) return page_size.error();
  struct stat log {};
  const bool has_log =
      ::stat((database.path() + "-wal").c_str(), &log) == 0 && log.st_size > 0;
  if (!has_log && info.st_size < *pages * *page_size) {
    return cut_short(database.path(), static_cast<uint64_t>(info.st_size),
                     static_cast<uint64_t>(*pages * *page_size));
  }
  return base::Ok{};
}

}  // namespace tidemark::store
