#include <algorithm>
#include <map>
#include <utility>

#include "store/change_walk.h"
#include "store/recorder_writer.h"
#include "store/recording_info.h"

namespace tidemark::store {

base::Status Recorder::Writer::prepare() {
  Statements all;
  base::Result<ProcessStatements> process =
      ProcessStatements::prepare(database_);
  if (!process) return process.error();
  all.process = std::move(*process);
  std::string machine = "INSERT INTO machine_sample VALUES(?";
  for (size_t i = 0; i < kMachineColumns; ++i)
    machine += ",?";
  std::string cgroup = "INSERT INTO cgroup_sample VALUES(?,?,?";
  for (size_t i = 0; i < kCgroupColumns; ++i)
    cgroup += ",?";
  const std::pair<Statement*, std::string> wanted[] = {
      {&all.tick, "INSERT INTO tick VALUES(?,?,?,?,?,?,?,?,?)"},
      {&all.missed,
       "INSERT INTO missed_tick(before_tick, monotonic_ns, count, because) "
       "VALUES(?,?,?,?)"},
      {&all.epoch, "INSERT OR IGNORE INTO epoch VALUES(?)"},
      {&all.note, "INSERT INTO note(tick, process, text) VALUES(?,?,?)"},
      {&all.category, "INSERT INTO proc_category VALUES(?,?,?,?,?,?,?,?)"},
      {&all.machine, machine + ")"},
      {&all.cgroup, "INSERT INTO cgroup_group VALUES(?,?,?)"},
      {&all.cgroup_sample, cgroup + ")"},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Result<Statement> made = database_.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  statements_ = std::move(all);
  return base::Ok{};
}

// The mappings that live as far as the file knows. Asked for once a loss: a
// disk that stays full would have it read the same again every tick.
base::Status Recorder::Writer::load_mappings() {
  if (stored_mappings_) return base::Ok{};
  base::Result<Statement> frames = database_.prepare(
      "SELECT process, max(tick) FROM proc_keyframe WHERE process NOT IN "
      "(SELECT process FROM proc_end) GROUP BY process");
  if (!frames) return frames.error();
  std::map<int64_t, int64_t> starts;
  int64_t first = next_tick_;
  while (true) {
    base::Result<bool> row = frames->step();
    if (!row) return row.error();
    if (!*row) break;
    starts[frames->integer(0)] = frames->integer(1);
    first = std::min(first, frames->integer(1));
  }
  base::Result<ChangeWalk> walk =
      ChangeWalk::prepare(database_, {}, ChangeColumns::Sums);
  if (!walk) return walk.error();
  std::map<int64_t, std::map<int64_t, int64_t>> traits;  // by process and no
  base::Status status =
      walk->walk(first, next_tick_, [&](const ChangeRow& row) {
        const auto start = starts.find(row.process);
        if (start == starts.end() || row.tick < start->second) return;
        if (row.is_end()) {
          traits[row.process].erase(row.no);
        } else {
          traits[row.process][row.no] = row.trait;
        }
      });
  if (!status) return status;
  stored_mappings_.emplace();
  for (const auto& [process, mappings] : traits) {
    for (const auto& [no, trait] : mappings)
      (*stored_mappings_)[process].push_back({no, trait});
  }
  return base::Ok{};
}

// Processes that have not ended go on under their number, with what was last
// read of them.
base::Status Recorder::Writer::load_processes() {
  base::Status status = load_mappings();
  if (!status) return status;
  base::Result<Statement> rows = database_.prepare(
      "SELECT p.id, p.pid, p.start_ticks, coalesce((SELECT max(no) FROM "
      "proc_mapping WHERE process = p.id), 0), coalesce((SELECT max(image) "
      "FROM proc_identity WHERE process = p.id), 0) FROM proc_process p "
      "WHERE p.id NOT IN (SELECT process FROM proc_end)");
  if (!rows) return rows.error();
  std::map<ProcessKey, Live> lost = std::exchange(processes_, {});
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    const ProcessKey key(static_cast<int32_t>(rows->integer(1)),
                         static_cast<uint64_t>(rows->integer(2)));
    StoredProcess stored;
    stored.id = rows->integer(0);
    stored.next_mapping_no = rows->integer(3) + 1;
    stored.image = rows->integer(4);
    stored.last_tick = next_tick_ - 1;
    if (const auto mappings = stored_mappings_->find(stored.id);
        mappings != stored_mappings_->end()) {
      stored.mappings = mappings->second;
    }
    auto known = lost.find(key);
    processes_.emplace(
        key, Live{ProcessRows::resumed(std::move(stored),
                                       known == lost.end()
                                           ? ProcessRows(0)
                                           : std::move(known->second.rows))});
  }
}

base::Status Recorder::Writer::load_totals() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT c.category, c.rss, c.pss, c.private, c.swap, c.bounded, "
      "c.estimated FROM proc_category c "
      "WHERE c.tick = (SELECT max(tick) FROM proc_category WHERE category = "
      "c.category)");
  if (!rows) return rows.error();
  totals_ = {};
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    const auto category = model::category_from_token(rows->text(0));
    if (!category) continue;
    const auto kib = [&](int column) {
      return static_cast<uint64_t>(rows->integer(column));
    };
    totals_[static_cast<size_t>(*category)] = {kib(1), kib(2), kib(3),
                                               kib(4), kib(5), kib(6)};
  }
}

base::Status Recorder::Writer::load_groups() {
  base::Result<Statement> rows =
      database_.prepare("SELECT id, path, inode FROM cgroup_group");
  if (!rows) return rows.error();
  groups_.clear();
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    Group group;
    group.id = rows->integer(0);
    group.is_shown = true;
    groups_.emplace(GroupKey(std::string(rows->text(1)),
                             static_cast<uint64_t>(rows->integer(2))),
                    group);
  }
}

base::Status Recorder::Writer::load() {
  base::Status status = prepare();
  if (!status) return status;
  base::Result<Interned> interned = Interned::load(database_);
  if (!interned) return interned.error();
  interned_ = std::move(*interned);
  base::Result<model::RecordingInfo> info = read_info(database_);
  if (!info) return info.error();
  info_ = std::move(*info);
  const std::pair<int64_t*, const char*> counters[] = {
      {&next_tick_, "SELECT coalesce(max(id), -1) + 1 FROM tick"},
      {&next_process_, "SELECT coalesce(max(id), 0) + 1 FROM proc_process"},
      {&next_group_, "SELECT coalesce(max(id), 0) + 1 FROM cgroup_group"},
      {&last_epoch_, "SELECT coalesce(max(id), -1) FROM epoch"},
  };
  for (const auto& [counter, sql] : counters) {
    base::Result<int64_t> value = database_.integer(sql);
    if (!value) return value.error();
    *counter = *value;
  }
  status = load_processes();
  if (status) status = load_totals();
  if (status) status = load_groups();
  if (!status) return status;
  state_.tick_count = static_cast<uint64_t>(next_tick_);
  state_.committed_tick_count = state_.tick_count;
  trace_.reset();
  vms_.reset();
  is_stale_ = false;
  return base::Ok{};
}

}  // namespace tidemark::store
