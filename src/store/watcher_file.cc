#include "store/watcher_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "base/units.h"
#include "model/region.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::SmapsField;

// More than any machine has; a recording refuses it, too.
constexpr int64_t kMostKib = int64_t{1} << 42;
constexpr uint64_t kPageKib = 4;  // it multiplies statm by four everywhere

bool is_amount(int64_t kib) {
  return kib >= 0 && kib <= kMostKib;
}

// Addresses of the upper half are negative, or have become floating point.
uint64_t address_of(const Statement& rows, int column) {
  if (!rows.is_real(column)) {
    return static_cast<uint64_t>(rows.integer(column));
  }
  constexpr double kTwoTo64 = 18446744073709551616.0;
  const double value = rows.real(column);
  return value >= 0 && value < kTwoTo64 ? static_cast<uint64_t>(value) : 0;
}

base::Error not_ours(const std::string& path) {
  return base::fail(ErrorKind::Malformed,
                    path + ": not a database of memory-watcher");
}

// Out of the header of the file, big-endian: SQLite itself only calls a short
// file malformed.
base::Status check_length(const std::string& path) {
  std::array<unsigned char, 32> header{};
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) {
    return base::fail_errno(path, errno);
  }
  if (S_ISDIR(info.st_mode)) return base::fail_errno(path, EISDIR);
  const ssize_t got = ::pread(file.get(), header.data(), header.size(), 0);
  if (got != static_cast<ssize_t>(header.size())) return not_ours(path);
  int64_t pages = 0;
  for (size_t i = 28; i < 32; ++i)
    pages = pages << 8 | header[i];
  // The largest page size does not fit and is written as 1.
  const int64_t page_size = header[16] << 8 | header[17];
  const int64_t bytes = pages * (page_size == 1 ? 65'536 : page_size);
  constexpr std::string_view kMagic = "SQLite format 3";
  if (!std::equal(kMagic.begin(), kMagic.end(), header.begin())) {
    return not_ours(path);
  }
  if (info.st_size >= bytes) return base::Ok{};
  return base::fail(ErrorKind::Malformed,
                    path + ": cut short: " + std::to_string(info.st_size) +
                        " of " + std::to_string(bytes) + " bytes");
}

}  // namespace

base::Error WatcherFile::malformed(const std::string& what) const {
  return base::fail(ErrorKind::Malformed, database_.path() + ": " + what);
}

base::Result<WatcherFile> WatcherFile::open(const std::string& path,
                                            WatcherOptions options) {
  base::Status status = check_length(path);
  if (!status) return status.error();
  base::Result<Database> database = Database::open(path, OpenMode::ReadOnly);
  if (!database) return database.error();
  base::Result<int64_t> id = database->integer("PRAGMA application_id");
  if (id && *id == kApplicationId) {
    return base::fail(ErrorKind::Malformed,
                      path + ": a recording of tidemark already");
  }
  WatcherFile file(std::move(*database), std::move(options));
  status = file.prepare();
  if (!status) return status.error();
  return file;
}

base::Result<bool> WatcherFile::has_column(std::string_view table,
                                           std::string_view column) {
  base::Result<Statement> rows =
      database_.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  if (!rows) return rows.error();
  rows->bind(0, table);
  rows->bind(1, column);
  base::Result<bool> found = rows->step();
  rows->reset();
  return found;
}

// The generation is told by what a measurement has: 0.1 opened on an older file
// adds its own tables to it and leaves them empty.
base::Status WatcherFile::prepare() {
  base::Result<bool> has_sums = has_column("measurement", "pss_sum");
  if (!has_sums) return not_ours(database_.path());
  base::Result<bool> has_data = has_column("data", "measurement_id");
  base::Result<bool> processes = has_column("measurement", "process_id");
  base::Result<bool> statm = has_column("measurement", "statm_resident");
  for (const base::Result<bool>* asked : {&has_data, &processes, &statm}) {
    if (!*asked) return asked->error();
  }
  has_processes_ = *processes;
  has_statm_ = *statm;
  base::Result<bool> ranges =
      has_column(has_processes_ ? "memory_range" : "range", "permission");
  if (!ranges) return ranges.error();
  if (!*has_sums || !*has_data || !*ranges) return not_ours(database_.path());
  generation_ = has_processes_ ? "memory-watcher 0.1"
                : has_statm_   ? "memory-watcher of 2018 to 2021"
                               : "memory-watcher of 2018";
  base::Status status = prepare_measurements();
  if (status) status = prepare_ranges();
  if (status) status = prepare_machine();
  if (status && has_processes_) status = load_last_times();
  if (status) status = step_measurement();
  if (status) status = step_machine();
  return status;
}

base::Status WatcherFile::prepare_measurements() {
  base::Result<bool> has_oom = has_column("measurement", "oom_adj");
  if (!has_oom) return has_oom.error();
  std::string sql = "SELECT m.rowid, m.time, m.rss_sum, m.pss_sum, ";
  sql += has_statm_ ? "m.statm_size, m.statm_resident, m.statm_shared, "
                      "m.statm_text, m.statm_data, "
                    : "NULL, NULL, NULL, NULL, NULL, ";
  sql += *has_oom ? "m.oom_adj, m.oom_score, m.oom_score_adj, "
                  : "NULL, NULL, NULL, ";
  sql += has_processes_ ? "p.rowid, p.pid, p.start_time, p.name FROM "
                          "measurement m LEFT JOIN process p "
                          "ON p.id = m.process_id "
                        : "NULL, NULL, NULL, NULL FROM measurement m ";
  base::Result<Statement> rows =
      database_.prepare(sql + "ORDER BY m.time, m.rowid");
  if (!rows) return rows.error();
  measurements_ = std::move(*rows);
  return base::Ok{};
}

// By row number: a key above 2^63 is a floating point number in both tables and
// finds its like there, but would not come back the same through here.
base::Status WatcherFile::prepare_ranges() {
  const std::string table = has_processes_ ? "memory_range" : "range";
  const std::string is_own =
      has_processes_ ? "r.process_id = (SELECT process_id FROM measurement "
                       "WHERE rowid = ?1)"
                     : "1";
  base::Result<Statement> rows = database_.prepare(
      "SELECT r.rowid, r.\"from\", r.\"to\", r.permission, r.name, d.rss, "
      "d.pss, " +
      is_own + " FROM data d LEFT JOIN \"" + table +
      "\" r ON r.id = d.range_id WHERE d.measurement_id = "
      "(SELECT id FROM measurement WHERE rowid = ?1) ORDER BY d.rowid");
  if (!rows) return rows.error();
  ranges_ = std::move(*rows);
  return base::Ok{};
}

base::Status WatcherFile::prepare_machine() {
  base::Result<bool> has_machine = has_column("system_memory", "mem_total");
  if (!has_machine) return has_machine.error();
  has_machine_ = *has_machine;
  if (!has_machine_) return base::Ok{};
  base::Result<Statement> rows = database_.prepare(
      "SELECT time, mem_total, mem_free, mem_available, buffers, cached, "
      "swap_total, swap_free, anon_pages, mapped, shmem, s_reclaimable, slab "
      "FROM system_memory ORDER BY time, rowid");
  if (!rows) return rows.error();
  machine_rows_ = std::move(*rows);
  return base::Ok{};
}

base::Status WatcherFile::load_last_times() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT p.rowid, max(m.time) FROM measurement m JOIN process p "
      "ON p.id = m.process_id GROUP BY p.rowid");
  if (!rows) return rows.error();
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    known_[rows->integer(0)].last_time = rows->text(1);
  }
}

base::Status WatcherFile::step_measurement() {
  measurement_.reset();
  while (true) {
    base::Result<bool> row = measurements_.step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    Measurement next;
    base::Status status = take_head(next);
    if (!status) return status;
    ++counts_.measurement_count;
    if (!next.process) {
      ++counts_.orphan_count;
      continue;
    }
    measurement_ = std::move(next);
    return base::Ok{};
  }
}

base::Status WatcherFile::take_head(Measurement& next) {
  const Statement& row = measurements_;
  next.row_id = row.integer(0);
  next.time = row.text(1);
  next.rss_kib = row.integer(2);
  next.pss_kib = row.integer(3);
  constexpr int kStatm = 4;
  for (int column = 2; column < kStatm + 5; ++column) {
    if (is_amount(row.integer(column))) continue;
    return malformed("a size out of range in the measurement at " + next.time);
  }
  next.has_statm = !row.is_null(kStatm);
  if (next.has_statm) {
    const auto pages = [&](int column) {
      return static_cast<uint64_t>(row.integer(kStatm + column)) / kPageKib;
    };
    next.head.statm =
        model::Statm{pages(0), pages(1), pages(2), pages(3), pages(4)};
  }
  constexpr int kOom = kStatm + 5;
  if (!row.is_null(kOom)) {
    // The later two are filled only by those who have put it right.
    const bool is_right =
        row.integer(kOom + 1) != 0 || row.integer(kOom + 2) != 0;
    next.head.oom_score_adjustment = row.integer(is_right ? kOom + 2 : kOom);
    if (is_right) next.head.oom_score = row.integer(kOom + 1);
  }
  constexpr int kProcess = kOom + 3;
  model::ProcessId& id = next.head.id;
  if (has_processes_) {
    next.process = row.maybe_integer(kProcess);
    const int64_t pid = row.integer(kProcess + 1);
    if (pid < 0 || pid > std::numeric_limits<int32_t>::max()) {
      return malformed("no process has the pid " + std::to_string(pid));
    }
    id.pid = static_cast<int32_t>(pid);
    id.start_ticks = base::parse_u64(row.text(kProcess + 2)).value_or(0);
    next.head.stat.comm = row.text(kProcess + 3);
  } else {
    next.process = 0;
    id.pid = options_.pid;
    next.head.stat.comm = options_.name;
  }
  next.head.stat.pid = id.pid;
  next.head.stat.start_ticks = id.start_ticks;
  return base::Ok{};
}

base::Status WatcherFile::step_machine() {
  machine_time_.reset();
  if (!has_machine_) return base::Ok{};
  base::Result<bool> row = machine_rows_.step();
  if (!row) return row.error();
  if (*row) {
    machine_time_ = machine_rows_.text(0);
  } else {
    has_machine_ = false;
  }
  return base::Ok{};
}

base::Result<std::vector<WatcherRange>> WatcherFile::read_ranges(
    int64_t measurement) {
  ranges_.bind(0, measurement);
  std::vector<WatcherRange> all;
  while (true) {
    base::Result<bool> row = ranges_.step();
    if (!row) return row.error();
    if (!*row) return all;
    WatcherRange& range = all.emplace_back();
    range.row_id = ranges_.maybe_integer(0).value_or(-1);
    range.is_own = ranges_.integer(7) != 0;
    Mapping& mapping = range.mapping;
    mapping.start_address = address_of(ranges_, 1);
    mapping.end_address = address_of(ranges_, 2);
    mapping.permissions = model::permissions_from_letters(ranges_.text(3));
    mapping.name = ranges_.text(4);
    if (!is_amount(ranges_.integer(5)) || !is_amount(ranges_.integer(6))) {
      ranges_.reset();
      return malformed("a size out of range in 'data'");
    }
    mapping.fields.set(SmapsField::Rss,
                       static_cast<uint64_t>(ranges_.integer(5)) * base::kKib);
    mapping.fields.set(SmapsField::Pss,
                       static_cast<uint64_t>(ranges_.integer(6)) * base::kKib);
  }
}

namespace {

// All zeros: a kernel thread, or a process that waits for its parent. Pages
// and no mappings: the recorder was not allowed to see them.
model::ProcessState state_without_mappings(const model::Process& process,
                                           bool had_memory) {
  if (!process.statm) return model::ProcessState::Ok;
  if (process.statm->resident_pages > 0) return model::ProcessState::Denied;
  return had_memory ? model::ProcessState::Zombie
                    : model::ProcessState::KernelThread;
}

}  // namespace

void WatcherFile::check_sums(const Measurement& measurement,
                             std::vector<WatcherRange>& ranges,
                             model::Sample& sample) {
  const RangeCheck check =
      check_ranges(measurement.rss_kib, measurement.pss_kib, ranges);
  if (check.is_whole) return;
  ++counts_.collided_count;
  if (!check.is_repaired) ++counts_.unrepaired_count;
  sample.notes.push_back(
      {measurement.head.id,
       "collided in the source: " + std::to_string(check.row_count) +
           " rows of " + std::to_string(check.pss_kib) + " KiB PSS where " +
           std::to_string(measurement.pss_kib) + " were measured; " +
           std::to_string(check.row_count - ranges.size()) + " left out" +
           (check.is_repaired ? ", the sums agree now"
                              : ", the sums still differ")});
}

base::Status WatcherFile::add_process(model::Sample& sample) {
  base::Result<std::vector<WatcherRange>> ranges =
      read_ranges(measurement_->row_id);
  if (!ranges) return ranges.error();
  check_sums(*measurement_, *ranges, sample);
  std::ranges::stable_sort(*ranges, {}, [](const WatcherRange& range) {
    return range.mapping.start_address;
  });
  Known& known = known_[*measurement_->process];
  known.is_here = true;
  model::Process process = std::move(measurement_->head);
  if (ranges->empty()) {
    process.tier = model::DetailTier::Counters;
    process.state = state_without_mappings(process, known.had_memory);
    process.mappings = model::unknown<std::vector<Mapping>>(
        "no mappings in what it was imported from");
  }
  known.process = process;
  known.process.tier = model::DetailTier::Counters;
  if (!ranges->empty()) {
    known.had_memory = true;
    std::vector<Mapping> mappings;
    mappings.reserve(ranges->size());
    for (WatcherRange& range : *ranges)
      mappings.push_back(std::move(range.mapping));
    process.kinds = watcher_kinds(mappings);
    process.mappings = model::known(std::move(mappings));
  }
  sample.processes.push_back(std::move(process));
  return base::Ok{};
}

// A process that is measured again later has not ended: it stands in between as
// it was, and its mappings count as not read.
void WatcherFile::bridge_missing(const std::string& time,
                                 model::Sample& sample) {
  for (auto& [row_id, known] : known_) {
    const bool is_known = known.process.id.pid != 0;
    if (!std::exchange(known.is_here, false) && is_known &&
        time < known.last_time) {
      ++counts_.bridged_count;
      sample.processes.push_back(known.process);
    }
  }
}

namespace {

void take_machine(const Statement& row, model::MemInfo& info) {
  constexpr std::optional<uint64_t> model::MemInfo::*kColumns[] = {
      &model::MemInfo::total_bytes,
      &model::MemInfo::free_bytes,
      &model::MemInfo::available_bytes,
      &model::MemInfo::buffers_bytes,
      &model::MemInfo::cached_bytes,
      &model::MemInfo::swap_total_bytes,
      &model::MemInfo::swap_free_bytes,
      &model::MemInfo::anon_pages_bytes,
      &model::MemInfo::mapped_bytes,
      &model::MemInfo::shmem_bytes,
      &model::MemInfo::slab_reclaimable_bytes,
  };
  int column = 1;
  for (auto field : kColumns) {
    const int64_t kib = row.integer(column++);
    if (is_amount(kib)) info.*field = static_cast<uint64_t>(kib) * base::kKib;
  }
  const int64_t reclaimable = row.integer(column - 1);
  const int64_t slab = row.integer(column);
  if (is_amount(slab) && is_amount(reclaimable) && slab >= reclaimable) {
    info.slab_unreclaimable_bytes =
        static_cast<uint64_t>(slab - reclaimable) * base::kKib;
  }
}

}  // namespace

base::Result<bool> WatcherFile::next(model::Sample& sample) {
  sample = model::Sample();
  if (!measurement_ && !machine_time_) return false;
  std::string time = measurement_ ? measurement_->time : *machine_time_;
  if (machine_time_) time = std::min(time, *machine_time_);
  const std::optional<uint64_t> realtime = options_.zone.read(time);
  if (!realtime) return malformed("'" + time + "' is no time");
  sample.started_realtime_ns = *realtime;
  // Twice in one millisecond is two samples.
  while (measurement_ && measurement_->time == time &&
         !known_[*measurement_->process].is_here) {
    base::Status status = add_process(sample);
    if (status) status = step_measurement();
    if (!status) return status.error();
  }
  while (machine_time_ == time) {
    sample.machine = model::Machine();
    take_machine(machine_rows_, sample.machine->meminfo);
    base::Status status = step_machine();
    if (!status) return status.error();
  }
  bridge_missing(time, sample);
  return true;
}

}  // namespace tidemark::store
