#include "store/recorder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "store/recorder_writer.h"
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

constexpr uint64_t kMostLogBytes = uint64_t{8} << 20;

// Of what a recording may take, so much is for the log beside the file.
// Thinning rewrites a stretch of samples at once, which is half of a small
// file.
uint64_t log_bytes_of(uint64_t most_bytes) {
  return std::min(most_bytes / 2, kMostLogBytes);
}

// The rest is the file's, but for the index of the log.
uint64_t file_bytes_of(uint64_t most_bytes) {
  constexpr uint64_t kIndexBytes = uint64_t{32} << 10;
  const uint64_t rest = most_bytes - log_bytes_of(most_bytes);
  return rest - std::min(rest / 2, kIndexBytes);
}

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

void Recorder::Writer::Uncommitted::add(const Sample& sample) {
  if (count++ == 0) first_ns = sample.started_monotonic_ns;
  missed.insert(missed.end(), sample.missed_before.begin(),
                sample.missed_before.end());
}

base::Result<std::unique_ptr<Recorder::Writer>> Recorder::Writer::create(
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
  if (status) status = writer->limit_size();
  if (!status) return status.error();
  return writer;
}

// The file itself cannot outgrow its part of the limit, whatever is thinned.
base::Status Recorder::Writer::limit_size() {
  if (!options_.most_bytes) return base::Ok{};
  base::Result<int64_t> page = database_.integer("PRAGMA page_size");
  if (!page) return page.error();
  page_bytes_ = static_cast<uint64_t>(*page);
  const uint64_t file = file_bytes_of(*options_.most_bytes);
  return database_.execute("PRAGMA max_page_count=" +
                           std::to_string(file / page_bytes_));
}

// A reader that stays at an old state keeps the log from being copied back, and
// it would grow for as long.
base::Status Recorder::Writer::limit_log() {
  if (!options_.most_bytes || database_.is_in_transaction()) return base::Ok{};
  const std::string log = database_.path() + "-wal";
  const uint64_t most = log_bytes_of(*options_.most_bytes);
  if (size_of(log) <= most) return base::Ok{};
  // The samples that come meanwhile wait for us.
  constexpr int kPatienceMs = 50;
  database_.set_patience_ms(kPatienceMs);
  base::Status status = database_.checkpoint(true);
  if (status && size_of(log) > most) {
    return base::fail(base::ErrorKind::NoSpace,
                      log + ": at its limit while somebody reads");
  }
  return status;
}

base::Status Recorder::Writer::accept(const Sample& sample) {
  base::Status status = limit_log();
  if (status && is_stale_) status = load();
  if (status && !database_.is_in_transaction()) status = begin(sample);
  if (status) status = write(sample);
  // After a loss at once: a sample in memory is not yet a disk with room.
  if (status && (is_commit_due(sample) || has_lost_)) status = commit();
  if (!status) {
    give_up();
    make_room(status.error());
  }
  if (status && database_.is_in_transaction()) open_.add(sample);
  return status;
}

base::Status Recorder::Writer::commit() {
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

base::Status Recorder::Writer::finish() {
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
  trace_.reset();
  vms_.reset();
  // Rows that came in out of order leave pages half empty; a tenth is gained.
  // Not worth the time, and the room beside it, for a large one. Through the
  // log: the other way a kill would leave a file that only its journal can
  // mend, and a reader without the right to write cannot use that.
  constexpr uint64_t kSmallBytes = uint64_t{32} << 20;
  const uint64_t file_bytes = size_of(database_.path());
  const bool has_room =
      !options_.most_bytes || 2 * file_bytes <= *options_.most_bytes;
  if (status && file_bytes <= kSmallBytes && has_room) {
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

bool Recorder::Writer::is_commit_due(const Sample& sample) const {
  return sample.ended_monotonic_ns >=
         opened_ns_ + options_.commit_every_ns - options_.commit_every_ns / 16;
}

void Recorder::Writer::give_up() {
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

// A transaction that did not fit below the limit fits when there is less.
void Recorder::Writer::make_room(const base::Error& because) {
  if (!options_.most_bytes || because.kind != base::ErrorKind::NoSpace) return;
  base::Status smaller = keep_small();
  (void)smaller;  // the next sample tries again
}

void Recorder::Writer::watch_space() {
  int pages = is_scarce(database_.path()) ? kScarceCheckpointPages
                                          : kUsualCheckpointPages;
  if (options_.most_bytes) {
    // The transaction that comes next must fit behind them.
    const uint64_t some = log_bytes_of(*options_.most_bytes) / 4 / page_bytes_;
    pages = static_cast<int>(
        std::clamp<uint64_t>(some, 1, static_cast<uint64_t>(pages)));
  }
  database_.set_checkpoint_pages(pages);
}

base::Status Recorder::Writer::begin(const Sample& sample) {
  opened_ns_ = sample.started_monotonic_ns;
  return database_.execute("BEGIN IMMEDIATE");
}

base::Status Recorder::Writer::write(const Sample& sample) {
  base::Status status = write_fields(sample);
  if (status) status = write_epoch();
  if (status && sample.has_processes) status = write_processes(sample);
  if (status && sample.has_processes) status = end_missing();
  if (status) status = write_tick(sample);
  if (status) status = write_missed(lost_);
  if (status) status = write_missed(sample.missed_before);
  if (status) status = write_notes(sample);
  if (status) status = write_categories(sample);
  if (status) status = write_machine(sample);
  if (status && sample.has_processes) status = write_cgroups(sample);
  if (status) status = write_trace(sample);
  if (status) status = write_vms(sample);
  if (!status) return status;
  ++next_tick_;
  state_.tick_count = static_cast<uint64_t>(next_tick_);
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
  row.bind(8, sample.own_cpu_ns);
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

// Begins a little early: the file must have room for what comes until the next
// look.
base::Status Recorder::Writer::keep_small() {
  const uint64_t limit = file_bytes_of(*options_.most_bytes) / 16 * 15;
  // What is still needed to understand the next sample is not touched.
  constexpr int64_t kUntouchedTicks = 64;
  for (int round = 0; round < 4; ++round) {
    base::Result<uint64_t> used = used_bytes(database_);
    if (!used) return used.error();
    if (*used <= limit) return base::Ok{};
    // Thinning goes through the log too, and finds it empty then.
    base::Status copied = database_.checkpoint(false);
    if (!copied) return copied.error();
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
