#include "store/flat_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/clock.h"

namespace tidemark::store {
namespace {

using model::Mapping;
using model::Process;

std::string hex(uint64_t address) {
  std::array<char, 16> digits{};
  const std::to_chars_result end =
      std::to_chars(digits.data(), digits.data() + digits.size(), address, 16);
  return "0x" + std::string(digits.data(), end.ptr);
}

std::string columns_of(const model::NamedValues& values) {
  std::string sql;
  for (const auto& [name, value] : values)
    sql += ", " + std::string(name) + " INT";
  return sql;
}

constexpr std::string_view kWhen = "tick INT, time TEXT, time_ns INT";

std::string tables() {
  std::string fields;
  for (const model::SmapsLabel& label : model::kSmapsLabels)
    fields += ", " + std::string(label.json_name) + " INT";
  const std::string when(kWhen);
  return "CREATE TABLE recording(name TEXT, value TEXT);"
         "CREATE TABLE processes(" +
         when +
         ", pid INT, start_ticks INT, parent_pid INT, comm TEXT, cmdline TEXT, "
         "cgroup TEXT, state TEXT, detail_tick INT" +
         columns_of(model::process_values({}, 1)) + ");CREATE TABLE mappings(" +
         when +
         ", pid INT, start_ticks INT, comm TEXT, detail_tick INT, start TEXT, "
         "\"end\" TEXT, permissions TEXT, offset_bytes INT, device_major INT, "
         "device_minor INT, inode INT, kind TEXT, category TEXT, name TEXT" +
         fields + ");CREATE TABLE machine(" + when +
         columns_of(model::machine_values({})) + ");CREATE TABLE notes(" +
         when + ", pid INT, text TEXT);";
}

base::Result<Statement> prepare_insert(Database& database,
                                       const std::string& table) {
  base::Result<int64_t> count = database.integer(
      "SELECT count(*) FROM pragma_table_info('" + table + "')");
  if (!count) return count.error();
  std::string sql = "INSERT INTO " + table + " VALUES(?";
  for (int64_t i = 1; i < *count; ++i)
    sql += ",?";
  return database.prepare(sql + ")");
}

void bind_moment(Statement& row, const model::Moment& moment,
                 const std::string& time) {
  row.bind(0, moment.tick.id);
  row.bind(1, std::string_view(time));
  row.bind(2, static_cast<int64_t>(moment.tick.realtime_ns));
}

std::optional<int64_t> detail_of(const model::Moment& moment, size_t index) {
  if (index >= moment.detail_ticks.size()) return std::nullopt;
  return moment.detail_ticks[index];
}

}  // namespace

base::Result<FlatWriter> FlatWriter::create(const std::string& path,
                                            const model::RecordingInfo& info) {
  base::Result<Database> database = Database::open(path, OpenMode::Create);
  if (!database) return database.error();
  FlatWriter writer(std::move(*database));
  base::Status status = writer.prepare(info);
  if (!status) return status.error();
  return writer;
}

base::Status FlatWriter::prepare(const model::RecordingInfo& info) {
  base::Status status = database_.execute(
      "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; BEGIN;" + tables());
  if (!status) return status;
  const std::pair<Statement*, const char*> wanted[] = {
      {&process_, "processes"},
      {&mapping_, "mappings"},
      {&machine_, "machine"},
      {&note_, "notes"},
  };
  for (const auto& [statement, table] : wanted) {
    base::Result<Statement> made = prepare_insert(database_, table);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  base::Result<Statement> row = prepare_insert(database_, "recording");
  if (!row) return row.error();
  const std::pair<std::string_view, const std::string*> texts[] = {
      {"tool", &info.tool},     {"targets", &info.targets},
      {"host", &info.host},     {"kernel", &info.kernel},
      {"origin", &info.origin},
  };
  for (const auto& [name, value] : texts) {
    row->bind(0, name);
    row->bind(1, std::string_view(*value));
    status = row->run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status FlatWriter::add_process(const model::Moment& moment, size_t index,
                                     const std::string& time) {
  const Process& process = moment.sample->processes[index];
  std::string command = process.command_line;
  std::ranges::replace(command, '\0', ' ');
  bind_moment(process_, moment, time);
  process_.bind(3, int64_t{process.id.pid});
  process_.bind(4, static_cast<int64_t>(process.id.start_ticks));
  process_.bind(5, int64_t{process.stat.parent_pid});
  process_.bind(6, std::string_view(process.stat.comm));
  process_.bind(7, std::string_view(command));
  process_.bind(8, std::string_view(process.cgroup_path));
  process_.bind(9, model::process_state_name(process.state));
  process_.bind(10, detail_of(moment, index));
  int column = 11;
  for (const auto& [name, value] :
       model::process_values(process, moment.page_size_bytes)) {
    process_.bind(column++, value);
  }
  return process_.run();
}

base::Status FlatWriter::add_mappings(const model::Moment& moment, size_t index,
                                      const std::string& time) {
  const Process& process = moment.sample->processes[index];
  for (size_t i = 0; i < process.mappings->size(); ++i) {
    const Mapping& mapping = (*process.mappings)[i];
    const model::RegionKind kind = i < process.kinds.size()
                                       ? process.kinds[i]
                                       : model::RegionKind::Anonymous;
    const std::string start = hex(mapping.start_address);
    const std::string end = hex(mapping.end_address);
    const std::string letters = model::permission_letters(mapping.permissions);
    bind_moment(mapping_, moment, time);
    mapping_.bind(3, int64_t{process.id.pid});
    mapping_.bind(4, static_cast<int64_t>(process.id.start_ticks));
    mapping_.bind(5, std::string_view(process.stat.comm));
    mapping_.bind(6, detail_of(moment, index));
    mapping_.bind(7, std::string_view(start));
    mapping_.bind(8, std::string_view(end));
    mapping_.bind(9, std::string_view(letters));
    mapping_.bind(10, static_cast<int64_t>(mapping.offset_bytes));
    mapping_.bind(11, int64_t{mapping.device_major});
    mapping_.bind(12, int64_t{mapping.device_minor});
    mapping_.bind(13, static_cast<int64_t>(mapping.inode_id));
    mapping_.bind(14, model::region_kind_token(kind));
    mapping_.bind(15, model::category_token(model::region_category(kind)));
    mapping_.bind(16, std::string_view(mapping.name));
    for (size_t field = 0; field < model::kSmapsFieldCount; ++field) {
      const std::optional<uint64_t> bytes =
          mapping.fields.get(static_cast<model::SmapsField>(field));
      mapping_.bind(
          static_cast<int>(field) + 17,
          bytes ? std::optional(static_cast<int64_t>(*bytes)) : std::nullopt);
    }
    base::Status status = mapping_.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status FlatWriter::add(const model::Moment& moment) {
  const std::string time = base::rfc3339(moment.tick.realtime_ns);
  base::Status status = base::Ok{};
  for (size_t i = 0; i < moment.sample->processes.size() && status; ++i) {
    status = add_process(moment, i, time);
    if (status && moment.sample->processes[i].mappings) {
      status = add_mappings(moment, i, time);
    }
  }
  if (status && moment.sample->machine) {
    bind_moment(machine_, moment, time);
    int column = 3;
    for (const auto& [name, value] :
         model::machine_values(*moment.sample->machine)) {
      machine_.bind(column++, value);
    }
    status = machine_.run();
  }
  for (const model::ObserverNote& note : moment.notes) {
    if (!status) break;
    bind_moment(note_, moment, time);
    note_.bind(3, note.process.pid == 0
                      ? std::optional<int64_t>()
                      : std::optional<int64_t>(note.process.pid));
    note_.bind(4, std::string_view(note.text));
    status = note_.run();
  }
  return status;
}

base::Status FlatWriter::finish() {
  return database_.execute("COMMIT");
}

}  // namespace tidemark::store
