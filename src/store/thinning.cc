#include "store/thinning.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/schema.h"
#include "store/trace_schema.h"
#include "store/vm_schema.h"

namespace tidemark::store {
namespace {

// Small enough that rewriting one stretch takes well under a second.
constexpr int64_t kStretchTicks = 512;
constexpr size_t kGroup = 4;
constexpr int64_t kLeastTicks = 8;  // a stretch is left this many

struct KeptTick {
  int64_t id = 0;
  int64_t height = 0;
};

base::Result<std::vector<int64_t>> densest_stretch(Database& database,
                                                   int64_t newest) {
  base::Result<Statement> rows = database.prepare(
      "SELECT id / 512, count(*) FROM tick WHERE id < ? GROUP BY 1 ORDER BY 1");
  if (!rows) return rows.error();
  rows->bind(0, newest);
  int64_t best = -1;
  int64_t most = kLeastTicks;
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) break;
    if (rows->integer(1) <= most) continue;
    most = rows->integer(1);
    best = rows->integer(0);
  }
  if (best < 0) return std::vector<int64_t>();
  return std::vector<int64_t>{best * kStretchTicks,
                              std::min((best + 1) * kStretchTicks, newest) - 1};
}

// Sums of categories hold until they change, so a tick's height is carried.
base::Result<std::vector<KeptTick>> heights(Database& database, int64_t first,
                                            int64_t last) {
  base::Result<Statement> ticks = database.prepare(
      "SELECT id FROM tick WHERE id BETWEEN ? AND ? ORDER BY id");
  if (!ticks) return ticks.error();
  base::Result<Statement> sums = database.prepare(
      "SELECT tick, category, pss FROM proc_category "
      "WHERE tick BETWEEN ? AND ? ORDER BY tick");
  if (!sums) return sums.error();
  sums->bind(0, first / kTicksPerBase * kTicksPerBase);
  sums->bind(1, last);
  std::map<int64_t, int64_t> changes;
  std::map<std::string, int64_t> known;
  while (true) {
    base::Result<bool> row = sums->step();
    if (!row) return row.error();
    if (!*row) break;
    int64_t& before = known[std::string(sums->text(1))];
    changes[sums->integer(0)] += sums->integer(2) - before;
    before = sums->integer(2);
  }
  std::vector<KeptTick> kept;
  ticks->bind(0, first);
  ticks->bind(1, last);
  auto change = changes.begin();
  int64_t height = 0;
  while (true) {
    base::Result<bool> row = ticks->step();
    if (!row) return row.error();
    if (!*row) return kept;
    const int64_t id = ticks->integer(0);
    while (change != changes.end() && change->first <= id)
      height += (change++)->second;
    kept.push_back({id, height});
  }
}

// Of each group the highest stays; so do bases, and the last, which closes the
// stretch. Old tick to the one that takes over its changes.
std::vector<std::pair<int64_t, int64_t>> moves(
    const std::vector<KeptTick>& ticks) {
  std::vector<int64_t> stays;
  for (size_t i = 0; i < ticks.size(); i += kGroup) {
    const auto first = ticks.begin() + static_cast<ptrdiff_t>(i);
    const auto last =
        first + static_cast<ptrdiff_t>(std::min(kGroup, ticks.size() - i));
    stays.push_back(
        std::ranges::max_element(first, last, {}, &KeptTick::height)->id);
    for (auto tick = first; tick != last; ++tick) {
      if (tick->id % kTicksPerBase == 0) stays.push_back(tick->id);
    }
  }
  stays.push_back(ticks.back().id);
  std::ranges::sort(stays);
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const KeptTick& tick : ticks) {
    const int64_t next = *std::ranges::lower_bound(stays, tick.id);
    all.emplace_back(tick.id, next);
  }
  return all;
}

// Each table by its own key: rows of ticks that go are moved, and of several
// that land on one the latest counts.
std::string move_rows(const std::string& table, const std::string& keys,
                      const std::string& columns) {
  const std::string others = keys + (columns.empty() ? "" : ", " + columns);
  return "CREATE TEMP TABLE moved AS SELECT thin.new AS at, " + others +
         ", row_number() OVER (PARTITION BY thin.new, " + keys +
         " ORDER BY thin.old DESC) AS rank FROM " + table +
         " r JOIN temp.thin ON thin.old = r.epoch * 16 + r.tick "
         "WHERE r.epoch BETWEEN (SELECT min(old) / 16 FROM temp.thin) AND "
         "(SELECT max(old) / 16 FROM temp.thin); DELETE FROM " +
         table +
         " WHERE epoch BETWEEN (SELECT min(old) / 16 FROM temp.thin) AND "
         "(SELECT max(old) / 16 FROM temp.thin) AND epoch * 16 + tick IN "
         "(SELECT old FROM temp.thin); INSERT INTO " +
         table + "(epoch, tick, " + others + ") SELECT at / 16, at % 16, " +
         others + " FROM temp.moved WHERE rank = 1; DROP TABLE temp.moved;";
}

std::string move_plain(const std::string& table, const std::string& keys,
                       const std::string& columns) {
  const std::string others = keys + (columns.empty() ? "" : ", " + columns);
  return "CREATE TEMP TABLE moved AS SELECT thin.new AS at, " + others +
         ", row_number() OVER (PARTITION BY thin.new, " + keys +
         " ORDER BY thin.old DESC) AS rank FROM " + table +
         " r JOIN temp.thin ON thin.old = r.tick; DELETE FROM " + table +
         " WHERE tick IN (SELECT old FROM temp.thin); INSERT INTO " + table +
         "(tick, " + others + ") SELECT at, " + others +
         " FROM temp.moved WHERE rank = 1; DROP TABLE temp.moved;";
}

// Of several lists that land on one tick the last.
std::string move_list(const std::string& table, const std::string& columns) {
  return "CREATE TEMP TABLE moved AS SELECT thin.new AS at, n.no, " + columns +
         " FROM " + table +
         " n JOIN temp.thin ON thin.old = n.tick WHERE n.tick = "
         "(SELECT max(o.tick) FROM " +
         table +
         " o JOIN temp.thin t ON t.old = o.tick WHERE t.new = thin.new); "
         "DELETE FROM " +
         table + " WHERE tick IN (SELECT old FROM temp.thin); INSERT INTO " +
         table + " SELECT at, no, " + columns +
         " FROM temp.moved; DROP TABLE temp.moved;";
}

// Peaks are in the rows of the last tick as well as in those of their own.
std::string trace_script(bool has_additions) {
  return move_plain("trace_change", "leaf",
                    "pages, peak, machine_peak, allocations, held_since") +
         move_plain("trace_task_change", "task", "pages, peak") +
         move_plain("trace_fault", "name", "count") +
         move_plain("trace_image", "task", "name, command, flags") +
         move_list("trace_note", "text") +
         move_list("trace_module", "name, image_bytes, flags") +
         (has_additions ? move_plain("trace_slab_sum", "name", "count") +
                              move_plain("trace_slab_change", "site",
                                         "bytes, peak_bytes, objects, "
                                         "allocations, untold")
                        : std::string()) +
         "INSERT OR IGNORE INTO trace_keyframe SELECT new FROM temp.thin "
         "WHERE old IN (SELECT tick FROM trace_keyframe);"
         "DELETE FROM trace_keyframe WHERE tick IN "
         "(SELECT old FROM temp.thin WHERE old <> new);"
         "DELETE FROM trace_tick WHERE tick IN "
         "(SELECT old FROM temp.thin WHERE old <> new);";
}

// The columns of a table behind its key.
base::Result<std::string> columns_behind(Database& database,
                                         const VmChangeTable& table) {
  base::Result<Statement> row =
      database.prepare("SELECT * FROM " + std::string(table.name) + " LIMIT 0");
  if (!row) return row.error();
  std::string names;
  for (int i = 2; i < row->column_count(); ++i)
    names += (names.empty() ? "" : ", ") + row->column_name(i);
  return names;
}

base::Result<std::string> vm_script(Database& database) {
  base::Result<bool> is_there = has_vm_section(database);
  if (!is_there) return is_there.error();
  if (!*is_there) return std::string();
  std::string all;
  for (const VmChangeTable& table : kVmChangeTables) {
    base::Result<std::string> columns = columns_behind(database, table);
    if (!columns) return columns;
    all += move_plain(table.name, table.thing, *columns);
  }
  return all +
         "UPDATE vm_tick SET is_full = 1 WHERE tick IN (SELECT new FROM "
         "temp.thin WHERE old IN (SELECT tick FROM vm_tick WHERE is_full));"
         "DELETE FROM vm_tick WHERE tick IN "
         "(SELECT old FROM temp.thin WHERE old <> new);";
}

std::string script(const std::string& of_sections) {
  return "BEGIN IMMEDIATE;" + of_sections +
         move_rows("proc_change", "process, no",
                   "trait, size, pss, pss_dirty, shared_clean, shared_dirty, "
                   "private_clean, private_dirty, referenced, anonymous, swap, "
                   "rss, rare") +
         move_rows("proc_counter", "process",
                   "resident, shared, minor_faults, major_faults") +
         move_rows("proc_status", "process",
                   "state, because, size, text, data, threads, high_mark, "
                   "swap, page_table, hugetlb, locked, rss_anon, rss_file, "
                   "rss_shmem, oom_score, oom_score_adjustment") +
         move_rows("cgroup_sample", "cgroup",
                   "charged, peak, max, anon, file, shmem, file_mapped, "
                   "kernel, slab, page_tables, kernel_stack, percpu, socket, "
                   "vmalloc, swap") +
         move_plain("proc_category", "category",
                    "rss, pss, private, swap, bounded, estimated") +
         move_plain("proc_keyframe", "process", "") +
         move_plain("proc_identity", "process",
                    "parent_pid, comm, executable, command, user_id, cgroup, "
                    "image") +
         "UPDATE proc_process SET born = (SELECT new FROM temp.thin "
         "WHERE old = born) WHERE born IN (SELECT old FROM temp.thin);"
         "UPDATE proc_end SET tick = (SELECT new FROM temp.thin "
         "WHERE old = tick) WHERE tick IN (SELECT old FROM temp.thin);"
         "UPDATE note SET tick = (SELECT new FROM temp.thin "
         "WHERE old = tick) WHERE tick IN (SELECT old FROM temp.thin);"
         "DELETE FROM machine_sample WHERE tick IN "
         "(SELECT old FROM temp.thin WHERE old <> new);"
         "DELETE FROM tick WHERE id IN "
         "(SELECT old FROM temp.thin WHERE old <> new);"
         "COMMIT;";
}

}  // namespace

base::Result<uint64_t> used_bytes(Database& database) {
  uint64_t numbers[3] = {};
  const char* pragmas[] = {"PRAGMA page_count", "PRAGMA freelist_count",
                           "PRAGMA page_size"};
  for (size_t i = 0; i < 3; ++i) {
    base::Result<int64_t> number = database.integer(pragmas[i]);
    if (!number) return number.error();
    numbers[i] = static_cast<uint64_t>(*number);
  }
  return (numbers[0] - numbers[1]) * numbers[2];
}

base::Result<uint64_t> thin_once(Database& database, int64_t newest) {
  base::Result<std::vector<int64_t>> stretch =
      densest_stretch(database, newest);
  if (!stretch) return stretch.error();
  if (stretch->empty()) return uint64_t{0};
  base::Result<std::vector<KeptTick>> ticks =
      heights(database, (*stretch)[0], (*stretch)[1]);
  if (!ticks) return ticks.error();
  base::Status status = database.execute(
      "DROP TABLE IF EXISTS temp.thin; "
      "CREATE TEMP TABLE thin(old INTEGER PRIMARY KEY, new INT NOT NULL)");
  if (!status) return status.error();
  base::Result<Statement> insert =
      database.prepare("INSERT INTO temp.thin VALUES(?,?)");
  if (!insert) return insert.error();
  uint64_t gone = 0;
  for (const auto& [old_tick, new_tick] : moves(*ticks)) {
    insert->bind(0, old_tick);
    insert->bind(1, new_tick);
    status = insert->run();
    if (!status) return status.error();
    if (old_tick != new_tick) ++gone;
  }
  if (gone == 0) return gone;
  base::Result<bool> has_trace = has_trace_section(database);
  if (!has_trace) return has_trace.error();
  base::Result<bool> has_additions = has_trace_additions(database);
  if (!has_additions) return has_additions.error();
  base::Result<std::string> of_vms = vm_script(database);
  if (!of_vms) return of_vms.error();
  status = database.execute(script(
      (*has_trace ? trace_script(*has_additions) : std::string()) + *of_vms));
  if (!status) {
    if (database.is_in_transaction()) {
      base::Status undone = database.execute("ROLLBACK");
      (void)undone;
    }
    return status.error();
  }
  return gone;
}

}  // namespace tidemark::store
