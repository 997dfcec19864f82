#include "store/recorder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "store/change_walk.h"
#include "store/database.h"
#include "store/interned.h"
#include "store/machine_rows.h"
#include "store/process_rows.h"
#include "store/recording_info.h"
#include "store/schema.h"
#include "store/thinning.h"

namespace tidemark::store {
namespace {

using model::Sample;

// Pages the log may reach before it is copied back: few where the disk is
// nearly full, because the log is what fills it then.
constexpr int kUsualCheckpointPages = 1000;
constexpr int kScarceCheckpointPages = 50;
constexpr uint64_t kScarceBytes = uint64_t{32} << 20;

uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size)
                                          : 0;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_scarce(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(folder_of(path).c_str(), &info) != 0) return false;
  return info.f_bavail * info.f_frsize < kScarceBytes;
}

}  // namespace

// What of the file's contents is in memory is loaded anew when a transaction
// was lost, so that the two never disagree; what was read of the processes is
// kept and written again.
class Recorder::Writer {
 public:
  static base::Result<std::unique_ptr<Writer>> create(
      const std::string& path, const model::RecordingInfo& info,
      const RecorderOptions& options) {
    base::Result<Database> database = Database::open(path, OpenMode::Create);
    if (!database) return database.error();
    base::Status status = create_schema(*database);
    if (status) status = write_info(*database, info);
    if (!status) return status.error();
    std::unique_ptr<Writer> writer(
        new Writer(std::move(*database), info, options));
    status = writer->load();
    if (!status) return status.error();
    return writer;
  }

  base::Status accept(const Sample& sample) {
    base::Status status = is_stale_ ? load() : base::Ok{};
    if (status && !database_.is_in_transaction()) status = begin(sample);
    if (status) status = write(sample);
    // After a loss at once: a sample in memory is not yet a disk with room.
    if (status && (is_commit_due(sample) || has_lost_)) status = commit();
    if (!status) give_up();
    if (status && database_.is_in_transaction()) open_.add(sample);
    return status;
  }

  base::Status commit() {
    if (!database_.is_in_transaction()) return base::Ok{};
    base::Status status = database_.execute("COMMIT");
    if (!status) {
      give_up();
      return status;
    }
    has_lost_ = false;
    lost_.clear();
    stored_mappings_.reset();
    open_ = Uncommitted();
    state_.committed_tick_count = state_.tick_count;
    state_.file_bytes =
        size_of(database_.path()) + size_of(database_.path() + "-wal");
    watch_space();
    if (!options_.most_bytes) return base::Ok{};
    // What was committed is safe: without room to thin it is tried again later.
    base::Status smaller = keep_small();
    const bool is_for_later =
        !smaller && smaller.error().kind == base::ErrorKind::NoSpace;
    return is_for_later ? base::Ok{} : smaller;
  }

  void miss(const std::vector<model::MissedTick>& missed) {
    missed_at_end_ = missed;
  }

  base::Status finish() {
    base::Status status = commit();
    base::Status told = write_end();
    if (status && !told && told.error().kind != base::ErrorKind::NoSpace) {
      status = told;
    }
    // Who ends a recording waits for us; a reader that looks on need not go.
    constexpr int kPatienceMs = 200;
    database_.set_patience_ms(kPatienceMs);
    statements_.reset();
    interned_.reset();
    // Rows that came in out of order leave pages half empty; a tenth is gained.
    // Not worth the time, and the room beside it, for a large one. Through the
    // log: the other way a kill would leave a file that only its journal can
    // mend, and a reader without the right to write cannot use that.
    constexpr uint64_t kSmallBytes = uint64_t{32} << 20;
    if (status && size_of(database_.path()) <= kSmallBytes) {
      base::Status smaller = database_.execute("VACUUM");
      (void)smaller;
    }
    base::Status copied = database_.checkpoint(true);
    if (status) status = copied;
    // A plain file can be read from a place nobody may write to. A reader that
    // still has it open keeps the log; then it stays as it is.
    if (status) {
      base::Status plain = database_.execute("PRAGMA journal_mode=DELETE");
      (void)plain;
    }
    state_.file_bytes = size_of(database_.path());
    return status;
  }

  RecorderState state() const { return state_; }

 private:
  struct Group {
    int64_t id = 0;
    CgroupRow row;
    bool has_row = false;
    bool is_shown = false;  // its last row in the file tells something
    int64_t seen_tick = -1;
  };
  using ProcessKey = std::pair<int32_t, uint64_t>;  // pid and start time
  struct Live {
    ProcessRows rows;
    int64_t seen_tick = -1;
  };
  // A group that was removed and made anew is another one.
  using GroupKey = std::pair<std::string, uint64_t>;
  // Samples that were taken and are not in the file yet.
  struct Uncommitted {
    uint64_t first_ns = 0;
    uint64_t count = 0;
    std::vector<model::MissedTick> missed;

    void add(const Sample& sample) {
      if (count++ == 0) first_ns = sample.started_monotonic_ns;
      missed.insert(missed.end(), sample.missed_before.begin(),
                    sample.missed_before.end());
    }
  };
  struct Statements {
    ProcessStatements process;
    Statement tick;
    Statement missed;
    Statement epoch;
    Statement note;
    Statement category;
    Statement machine;
    Statement cgroup;
    Statement cgroup_sample;
  };

  Writer(Database database, model::RecordingInfo info, RecorderOptions options)
      : database_(std::move(database)),
        info_(std::move(info)),
        options_(options) {}

  base::Status load();
  base::Status prepare();
  base::Status load_mappings();
  base::Status load_processes();
  base::Status load_totals();
  base::Status begin(const Sample& sample);
  base::Status write(const Sample& sample);
  base::Status write_fields(const Sample& sample);
  base::Status write_epoch();
  base::Status write_processes(const Sample& sample);
  base::Result<ProcessRows*> rows_of(const model::Process& process);
  base::Status end_missing();
  base::Status write_tick(const Sample& sample);
  base::Status write_missed(const std::vector<model::MissedTick>& gaps);
  base::Status write_end();
  base::Status write_notes(const Sample& sample);
  base::Status write_categories();
  base::Status write_machine(const Sample& sample);
  base::Status write_cgroups(const Sample& sample);
  base::Result<Group*> group_of(const model::Cgroup& cgroup);
  base::Status write_group(Group& group, const CgroupRow& values);
  base::Status load_groups();
  base::Status keep_small();

  bool is_commit_due(const Sample& sample) const {
    return sample.ended_monotonic_ns >= opened_ns_ + options_.commit_every_ns -
                                            options_.commit_every_ns / 16;
  }

  void give_up() {
    has_lost_ = true;
    lost_.insert(lost_.end(), open_.missed.begin(), open_.missed.end());
    if (open_.count > 0) {
      lost_.push_back({open_.first_ns, open_.count, "disk full"});
    }
    open_ = Uncommitted();
    // SQLite may have rolled back by itself.
    if (database_.is_in_transaction()) {
      base::Status status = database_.execute("ROLLBACK");
      (void)status;
    }
    is_stale_ = true;
  }

  void watch_space() {
    database_.set_checkpoint_pages(is_scarce(database_.path())
                                       ? kScarceCheckpointPages
                                       : kUsualCheckpointPages);
  }

  Database database_;
  model::RecordingInfo info_;
  RecorderOptions options_;
  RecorderState state_;
  bool is_stale_ = false;
  bool has_lost_ = false;  // since the last commit
  Uncommitted open_;
  std::vector<model::MissedTick> lost_;  // of which the file knows nothing
  std::vector<model::MissedTick> missed_at_end_;
  uint64_t opened_ns_ = 0;  // when the open transaction began

  // From the file.
  std::optional<Statements> statements_;
  std::optional<Interned> interned_;
  int64_t next_tick_ = 0;
  int64_t next_process_ = 1;
  int64_t next_group_ = 1;
  int64_t last_epoch_ = -1;

  std::map<ProcessKey, Live> processes_;
  std::optional<std::map<int64_t, std::vector<StoredMapping>>> stored_mappings_;
  std::map<GroupKey, Group> groups_;
  CategorySums totals_{};
};

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
      {&all.tick, "INSERT INTO tick VALUES(?,?,?,?,?,?,?,?)"},
      {&all.missed,
       "INSERT INTO missed_tick(before_tick, monotonic_ns, count, because) "
       "VALUES(?,?,?,?)"},
      {&all.epoch, "INSERT OR IGNORE INTO epoch VALUES(?)"},
      {&all.note, "INSERT INTO note(tick, process, text) VALUES(?,?,?)"},
      {&all.category, "INSERT INTO proc_category VALUES(?,?,?,?,?,?)"},
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
      "SELECT c.category, c.rss, c.pss, c.private, c.swap FROM proc_category c "
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
    CategorySum& sum = totals_[static_cast<size_t>(*category)];
    sum.rss_kib = static_cast<uint64_t>(rows->integer(1));
    sum.pss_kib = static_cast<uint64_t>(rows->integer(2));
    sum.private_kib = static_cast<uint64_t>(rows->integer(3));
    sum.swap_kib = static_cast<uint64_t>(rows->integer(4));
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
  is_stale_ = false;
  return base::Ok{};
}

base::Status Recorder::Writer::begin(const Sample& sample) {
  opened_ns_ = sample.started_monotonic_ns;
  return database_.execute("BEGIN IMMEDIATE");
}

base::Status Recorder::Writer::write(const Sample& sample) {
  base::Status status = write_fields(sample);
  if (status) status = write_epoch();
  if (status) status = write_processes(sample);
  if (status) status = end_missing();
  if (status) status = write_tick(sample);
  if (status) status = write_missed(lost_);
  if (status) status = write_missed(sample.missed_before);
  if (status) status = write_notes(sample);
  if (status) status = write_categories();
  if (status) status = write_machine(sample);
  if (status) status = write_cgroups(sample);
  if (!status) return status;
  ++next_tick_;
  state_.tick_count = static_cast<uint64_t>(next_tick_);
  return base::Ok{};
}

// The first full reading tells which fields this kernel prints.
base::Status Recorder::Writer::write_fields(const Sample& sample) {
  if (!info_.smaps_fields.empty()) return base::Ok{};
  for (const model::Process& process : sample.processes) {
    const bool is_full = process.mappings && !process.mappings->empty() &&
                         process.tier == model::DetailTier::Full;
    if (!is_full) continue;
    for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
      const auto field = static_cast<model::SmapsField>(i);
      if (process.mappings->front().fields.has(field)) {
        info_.smaps_fields.push_back(field);
      }
    }
    return write_info(database_, info_);
  }
  return base::Ok{};
}

base::Status Recorder::Writer::write_epoch() {
  const int64_t epoch = next_tick_ / kTicksPerEpoch;
  if (epoch == last_epoch_) return base::Ok{};
  last_epoch_ = epoch;
  if (next_tick_ % kTicksPerBase == 0) {
    for (auto& [key, group] : groups_)
      group.has_row = group.is_shown = false;
  }
  statements_->epoch.bind(0, epoch);
  return statements_->epoch.run();
}

base::Result<ProcessRows*> Recorder::Writer::rows_of(
    const model::Process& process) {
  const ProcessKey key(process.id.pid, process.id.start_ticks);
  auto known = processes_.find(key);
  if (known == processes_.end()) {
    const int64_t id = next_process_++;
    Statement& row = statements_->process.process;
    row.bind(0, id);
    row.bind(1, int64_t{process.id.pid});
    row.bind(2, static_cast<int64_t>(process.id.start_ticks));
    row.bind(3, next_tick_);
    base::Status status = row.run();
    if (!status) return status.error();
    known = processes_.emplace(key, Live{ProcessRows(id)}).first;
  }
  known->second.seen_tick = next_tick_;
  return &known->second.rows;
}

base::Status Recorder::Writer::write_processes(const Sample& sample) {
  const RowContext context = {statements_->process, *interned_, next_tick_,
                              info_.page_size_bytes, sample.memory_devices};
  for (const model::Process& process : sample.processes) {
    base::Result<ProcessRows*> rows = rows_of(process);
    if (!rows) return rows.error();
    const bool is_base = next_tick_ % kTicksPerBase == 0;
    if (is_base) (*rows)->begin_base();
    base::Status status = (*rows)->write(process, context);
    if (status && is_base) status = (*rows)->write_base(context);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status Recorder::Writer::end_missing() {
  for (auto at = processes_.begin(); at != processes_.end();) {
    if (at->second.seen_tick == next_tick_) {
      ++at;
      continue;
    }
    Statement& row = statements_->process.end;
    row.bind(0, at->second.rows.id());
    row.bind(1, next_tick_);
    base::Status status = row.run();
    if (!status) return status;
    at = processes_.erase(at);
  }
  return base::Ok{};
}

base::Status Recorder::Writer::write_tick(const Sample& sample) {
  int64_t oldest = 0;
  int64_t undetailed = 0;
  int64_t scanned = 0;
  for (const auto& [key, live] : processes_) {
    if (live.rows.is_scanned()) ++scanned;
    if (!live.rows.has_memory()) continue;
    if (!live.rows.has_mappings()) {
      ++undetailed;
    } else if (const auto last = live.rows.last_detail_tick()) {
      oldest = std::max(oldest, next_tick_ - *last);
    }
  }
  Statement& row = statements_->tick;
  row.bind(0, next_tick_);
  row.bind(1, int64_t{sample.is_new_high ? 1 : 0});
  row.bind(2, static_cast<int64_t>(sample.started_realtime_ns));
  row.bind(3, static_cast<int64_t>(sample.started_monotonic_ns));
  row.bind(4, static_cast<int64_t>(sample.ended_monotonic_ns -
                                   sample.started_monotonic_ns));
  row.bind(5, oldest);
  row.bind(6, undetailed);
  row.bind(7, scanned);
  return row.run();
}

base::Status Recorder::Writer::write_missed(
    const std::vector<model::MissedTick>& gaps) {
  Statement& row = statements_->missed;
  for (const model::MissedTick& missed : gaps) {
    row.bind(0, next_tick_);
    row.bind(1, static_cast<int64_t>(missed.due_monotonic_ns));
    row.bind(2, static_cast<int64_t>(missed.count));
    row.bind(3, std::string_view(missed.because));
    base::Status status = row.run();
    if (!status) return status;
  }
  return base::Ok{};
}

// A disk too full for the last samples may have room to say so.
base::Status Recorder::Writer::write_end() {
  if (lost_.empty() && missed_at_end_.empty()) return base::Ok{};
  base::Status status = is_stale_ ? load() : base::Ok{};
  if (status) status = database_.execute("BEGIN IMMEDIATE");
  if (status) status = write_missed(lost_);
  if (status) status = write_missed(missed_at_end_);
  if (status) status = commit();
  if (!status) give_up();
  return status;
}

base::Status Recorder::Writer::write_notes(const Sample& sample) {
  Statement& row = statements_->note;
  for (const model::ObserverNote& note : sample.notes) {
    auto live = processes_.find({note.process.pid, note.process.start_ticks});
    row.bind(0, next_tick_);
    row.bind(1, live == processes_.end()
                    ? std::optional<int64_t>()
                    : std::optional<int64_t>(live->second.rows.id()));
    row.bind(2, std::string_view(note.text));
    base::Status status = row.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status Recorder::Writer::write_categories() {
  CategorySums sums{};
  for (const auto& [key, live] : processes_) {
    const CategorySums& parts = live.rows.categories();
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].rss_kib += parts[i].rss_kib;
      sums[i].pss_kib += parts[i].pss_kib;
      sums[i].private_kib += parts[i].private_kib;
      sums[i].swap_kib += parts[i].swap_kib;
    }
  }
  // A base says all there is; and what there is no more, once.
  const bool is_base = next_tick_ % kTicksPerBase == 0;
  Statement& row = statements_->category;
  for (size_t i = 0; i < sums.size(); ++i) {
    const bool is_repeated = is_base && sums[i] != CategorySum();
    if (sums[i] == totals_[i] && !is_repeated) continue;
    row.bind(0, next_tick_);
    row.bind(1, model::category_token(model::kCategories[i]));
    row.bind(2, static_cast<int64_t>(sums[i].rss_kib));
    row.bind(3, static_cast<int64_t>(sums[i].pss_kib));
    row.bind(4, static_cast<int64_t>(sums[i].private_kib));
    row.bind(5, static_cast<int64_t>(sums[i].swap_kib));
    base::Status status = row.run();
    if (!status) return status;
  }
  totals_ = sums;
  return base::Ok{};
}

base::Status Recorder::Writer::write_machine(const Sample& sample) {
  if (!sample.machine) return base::Ok{};
  Statement& row = statements_->machine;
  const MachineRow values = machine_row(*sample.machine);
  row.bind(0, next_tick_);
  for (size_t i = 0; i < values.size(); ++i)
    row.bind(static_cast<int>(i) + 1, values[i]);
  return row.run();
}

base::Result<Recorder::Writer::Group*> Recorder::Writer::group_of(
    const model::Cgroup& cgroup) {
  const GroupKey key(cgroup.path, cgroup.inode_id);
  auto known = groups_.find(key);
  if (known != groups_.end()) return &known->second;
  Group group;
  group.id = next_group_++;
  Statement& row = statements_->cgroup;
  row.bind(0, group.id);
  row.bind(1, std::string_view(cgroup.path));
  row.bind(2, static_cast<int64_t>(cgroup.inode_id));
  base::Status status = row.run();
  if (!status) return status.error();
  return &groups_.emplace(key, group).first->second;
}

base::Status Recorder::Writer::write_group(Group& group,
                                           const CgroupRow& values) {
  if (group.has_row && group.row == values) return base::Ok{};
  group.row = values;
  group.has_row = true;
  Statement& row = statements_->cgroup_sample;
  row.bind(0, next_tick_ / kTicksPerEpoch);
  row.bind(1, group.id);
  row.bind(2, next_tick_ % kTicksPerEpoch);
  for (size_t i = 0; i < values.size(); ++i)
    row.bind(static_cast<int>(i) + 3, values[i]);
  return row.run();
}

// Nobody we record is in a group that is not in the sample any more, or it is
// gone: a row without values ends it.
base::Status Recorder::Writer::write_cgroups(const Sample& sample) {
  for (const model::Cgroup& cgroup : sample.cgroups) {
    base::Result<Group*> group = group_of(cgroup);
    if (!group) return group.error();
    (*group)->seen_tick = next_tick_;
    (*group)->is_shown = true;
    base::Status status = write_group(**group, cgroup_row(cgroup));
    if (!status) return status;
  }
  for (auto& [key, group] : groups_) {
    if (!group.is_shown || group.seen_tick == next_tick_) continue;
    group.is_shown = false;
    base::Status status = write_group(group, CgroupRow());
    if (!status) return status;
  }
  return base::Ok{};
}

// Begins a little early: the file must have room for what comes until the next
// look.
base::Status Recorder::Writer::keep_small() {
  const uint64_t limit = *options_.most_bytes / 16 * 15;
  // What is still needed to understand the next sample is not touched.
  constexpr int64_t kUntouchedTicks = 64;
  for (int round = 0; round < 4; ++round) {
    base::Result<uint64_t> used = used_bytes(database_);
    if (!used) return used.error();
    if (*used <= limit) return base::Ok{};
    base::Result<uint64_t> gone =
        thin_once(database_, next_tick_ - kUntouchedTicks);
    if (!gone) return gone.error();
    if (*gone == 0) return base::Ok{};
    state_.thinned_tick_count += *gone;
  }
  return base::Ok{};
}

Recorder::Recorder(std::unique_ptr<Writer> writer)
    : writer_(std::move(writer)) {}

Recorder::~Recorder() = default;

base::Result<std::unique_ptr<Recorder>> Recorder::create(
    const std::string& path, const model::RecordingInfo& info,
    const RecorderOptions& options) {
  base::Result<std::unique_ptr<Writer>> writer =
      Writer::create(path, info, options);
  if (!writer) return writer.error();
  return std::unique_ptr<Recorder>(new Recorder(std::move(*writer)));
}

base::Status Recorder::accept(const Sample& sample) {
  return writer_->accept(sample);
}

void Recorder::miss(const std::vector<model::MissedTick>& missed) {
  writer_->miss(missed);
}

base::Status Recorder::finish() {
  return writer_->finish();
}

base::Status Recorder::commit() {
  return writer_->commit();
}

RecorderState Recorder::state() const {
  return writer_->state();
}

}  // namespace tidemark::store
