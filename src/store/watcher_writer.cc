#include "store/watcher_writer.h"

#include <optional>

#include "base/units.h"

namespace tidemark::store {
namespace {

using model::Mapping;
using model::Process;
using model::SmapsField;

constexpr const char* kWatcherTables = R"sql(
CREATE TABLE process(
  id UNSIGNED BIG INT PRIMARY KEY, pid INTEGER NOT NULL, start_time,
  name varchar(255) NULL);
CREATE TABLE memory_range(
  id UNSIGNED BIG INT PRIMARY KEY,
  process_id UNSIGNED BIG INT NOT NULL REFERENCES process(id)
    ON DELETE CASCADE,
  "from" INTEGER NOT NULL, "to" INTEGER NOT NULL,
  permission varchar(255) NULL, name varchar(255) NULL);
CREATE TABLE measurement(
  id UNSIGNED BIG INT PRIMARY KEY,
  process_id UNSIGNED BIG INT NOT NULL REFERENCES process(id)
    ON DELETE CASCADE,
  time datetime NOT NULL, rss_sum INTEGER NOT NULL, pss_sum INTEGER NOT NULL,
  oom_adj INTEGER NOT NULL, oom_score INTEGER NOT NULL,
  oom_score_adj INTEGER NOT NULL, statm_size INTEGER NOT NULL,
  statm_resident INTEGER NOT NULL, statm_shared INTEGER NOT NULL,
  statm_text INTEGER NOT NULL, statm_lib INTEGER NOT NULL,
  statm_data INTEGER NOT NULL, statm_dt INTEGER NOT NULL);
CREATE TABLE data(
  range_id UNSIGNED BIG INT NOT NULL REFERENCES memory_range(id)
    ON DELETE CASCADE,
  measurement_id UNSIGNED BIG INT NOT NULL REFERENCES measurement(id)
    ON DELETE CASCADE,
  rss INTEGER NOT NULL, pss INTEGER NOT NULL);
CREATE INDEX idx_data_measurement_id ON data(measurement_id);
CREATE TABLE system_memory(
  time datetime NOT NULL, mem_total INTEGER NOT NULL,
  mem_free INTEGER NOT NULL, mem_available INTEGER NOT NULL,
  buffers INTEGER NOT NULL, cached INTEGER NOT NULL,
  swap_cache INTEGER NOT NULL, swap_total INTEGER NOT NULL,
  swap_free INTEGER NOT NULL, anon_pages INTEGER NOT NULL,
  mapped INTEGER NOT NULL, shmem INTEGER NOT NULL, slab INTEGER NOT NULL,
  s_reclaimable INTEGER NOT NULL);
)sql";

int64_t kib(std::optional<uint64_t> bytes) {
  return static_cast<int64_t>(bytes.value_or(0) / base::kKib);
}

}  // namespace

base::Result<WatcherWriter> WatcherWriter::create(const std::string& path,
                                                  base::TimeZone zone) {
  base::Result<Database> database = Database::open(path, OpenMode::Create);
  if (!database) return database.error();
  WatcherWriter writer(std::move(*database), std::move(zone));
  base::Status status = writer.prepare();
  if (!status) return status.error();
  return writer;
}

base::Status WatcherWriter::prepare() {
  // It is made whole or thrown away, so nothing has to survive a crash.
  base::Status status = database_.execute(
      std::string("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY;") +
      kWatcherTables + "BEGIN;");
  if (!status) return status;
  const std::pair<Statement*, std::string_view> wanted[] = {
      {&process_, "INSERT INTO process VALUES(?,?,?,?)"},
      {&range_, "INSERT INTO memory_range VALUES(?,?,?,?,?,?)"},
      {&measurement_,
       "INSERT INTO measurement VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
      {&data_, "INSERT INTO data VALUES(?,?,?,?)"},
      {&machine_,
       "INSERT INTO system_memory VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Result<Statement> made = database_.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  return base::Ok{};
}

base::Result<int64_t> WatcherWriter::process_key(const Process& process) {
  auto [known, is_new] = processes_.try_emplace(
      {process.id.pid, process.id.start_ticks}, next_key_);
  if (!is_new) return known->second;
  const std::string start = std::to_string(process.id.start_ticks);
  process_.bind(0, next_key_++);
  process_.bind(1, int64_t{process.id.pid});
  process_.bind(2, std::string_view(start));
  process_.bind(3, std::string_view(process.stat.comm));
  base::Status status = process_.run();
  if (!status) return status.error();
  return known->second;
}

base::Result<int64_t> WatcherWriter::range_key(int64_t process,
                                               const Mapping& mapping) {
  const std::string letters = model::permission_letters(mapping.permissions);
  auto [known, is_new] =
      ranges_.try_emplace(RangeKey(process, mapping.start_address,
                                   mapping.end_address, letters, mapping.name),
                          next_key_);
  if (!is_new) return known->second;
  range_.bind(0, next_key_++);
  range_.bind(1, process);
  range_.bind(2, static_cast<int64_t>(mapping.start_address));
  range_.bind(3, static_cast<int64_t>(mapping.end_address));
  range_.bind(4, std::string_view(letters));
  range_.bind(5, std::string_view(mapping.name));
  base::Status status = range_.run();
  if (!status) return status.error();
  return known->second;
}

base::Status WatcherWriter::add_measurement(int64_t key, int64_t process_key,
                                            const Process& process,
                                            const model::Moment& moment,
                                            const std::string& time) {
  const model::Statm statm = process.statm.value_or(model::Statm());
  const auto pages = [&](uint64_t count) {
    return static_cast<int64_t>(count * moment.page_size_bytes / base::kKib);
  };
  int64_t rss = 0;
  int64_t pss = 0;
  if (process.mappings) {
    for (const Mapping& mapping : *process.mappings) {
      rss += kib(mapping.fields.get(SmapsField::Rss));
      pss += kib(mapping.fields.get(SmapsField::Pss));
    }
  }
  measurement_.bind(0, key);
  measurement_.bind(1, process_key);
  measurement_.bind(2, std::string_view(time));
  int column = 3;
  for (const int64_t value :
       {rss, pss, int64_t{0}, process.oom_score.value_or(0),
        process.oom_score_adjustment.value_or(0), pages(statm.size_pages),
        pages(statm.resident_pages), pages(statm.shared_pages),
        pages(statm.text_pages), int64_t{0}, pages(statm.data_pages),
        int64_t{0}}) {
    measurement_.bind(column++, value);
  }
  return measurement_.run();
}

base::Status WatcherWriter::add_process(const Process& process,
                                        const model::Moment& moment,
                                        const std::string& time) {
  base::Result<int64_t> owner = process_key(process);
  if (!owner) return owner.error();
  const int64_t key = next_key_++;
  base::Status status = add_measurement(key, *owner, process, moment, time);
  ++measurement_count_;
  if (!status || !process.mappings) return status;
  for (const Mapping& mapping : *process.mappings) {
    base::Result<int64_t> range = range_key(*owner, mapping);
    if (!range) return range.error();
    data_.bind(0, *range);
    data_.bind(1, key);
    data_.bind(2, kib(mapping.fields.get(SmapsField::Rss)));
    data_.bind(3, kib(mapping.fields.get(SmapsField::Pss)));
    status = data_.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status WatcherWriter::add_machine(const model::Machine& machine,
                                        const std::string& time) {
  const model::MemInfo& info = machine.meminfo;
  machine_.bind(0, std::string_view(time));
  int column = 1;
  for (const std::optional<uint64_t>& bytes :
       {info.total_bytes, info.free_bytes, info.available_bytes,
        info.buffers_bytes, info.cached_bytes, info.swap_cached_bytes,
        info.swap_total_bytes, info.swap_free_bytes, info.anon_pages_bytes,
        info.mapped_bytes, info.shmem_bytes}) {
    machine_.bind(column++, kib(bytes));
  }
  machine_.bind(column++, kib(info.slab_reclaimable_bytes) +
                              kib(info.slab_unreclaimable_bytes));
  machine_.bind(column, kib(info.slab_reclaimable_bytes));
  return machine_.run();
}

base::Status WatcherWriter::add(const model::Moment& moment) {
  const std::string time = zone_.write(moment.tick.realtime_ns);
  for (size_t i = 0; i < moment.sample->processes.size(); ++i) {
    const Process& process = moment.sample->processes[i];
    const bool is_denied = process.state == model::ProcessState::Denied;
    if (!moment.is_detailed(i) && !is_denied) continue;
    // Its columns cannot say that PSS was not read.
    if (process.mappings && process.rollup &&
        !process.rollup->has(SmapsField::Pss)) {
      continue;
    }
    base::Status status = add_process(process, moment, time);
    if (!status) return status;
  }
  if (!moment.sample->machine) return base::Ok{};
  return add_machine(*moment.sample->machine, time);
}

base::Status WatcherWriter::finish() {
  return database_.execute("COMMIT");
}

}  // namespace tidemark::store
