#include <map>

#include "store/recording_reader.h"

namespace tidemark::store {
namespace {

using model::ProcessMaxima;

}  // namespace

base::Result<std::vector<model::RecordedGap>> Recording::Reader::gaps() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT before_tick, monotonic_ns, count, because FROM missed_tick "
      "ORDER BY id");
  if (!rows) return rows.error();
  std::vector<model::RecordedGap> gaps;
  base::Status status = for_each(*rows, [&] {
    gaps.push_back({rows->integer(0),
                    {static_cast<uint64_t>(rows->integer(1)),
                     static_cast<uint64_t>(rows->integer(2)),
                     std::string(rows->text(3))}});
  });
  if (!status) return status.error();
  return gaps;
}

base::Result<std::vector<model::RecordedNote>> Recording::Reader::notes() {
  base::Result<Statement> rows =
      database_.prepare("SELECT tick, process, text FROM note ORDER BY id");
  if (!rows) return rows.error();
  std::vector<model::RecordedNote> notes;
  base::Status status = for_each(*rows, [&] {
    notes.push_back(
        {rows->integer(0), rows->maybe_integer(1), std::string(rows->text(2))});
  });
  if (!status) return status.error();
  return notes;
}

namespace {

void raise(std::optional<uint64_t> bytes, std::optional<uint64_t>& highest) {
  if (bytes && *bytes > highest.value_or(0)) highest = bytes;
}

}  // namespace

// Added up here: the tables are kept by time, and SQL would sort them first.
base::Result<std::vector<ProcessMaxima>> Recording::Reader::maxima() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, resident, NULL FROM proc_counter UNION ALL "
      "SELECT process, NULL, high_mark FROM proc_status");
  if (!rows) return rows.error();
  std::map<int64_t, ProcessMaxima> by_process;
  base::Status status = for_each(*rows, [&] {
    ProcessMaxima& maxima = by_process[rows->integer(0)];
    maxima.process = rows->integer(0);
    raise(bytes_of(*rows, 1), maxima.resident_bytes);
    const std::optional<uint64_t> mark = bytes_of(*rows, 2);
    raise(mark, maxima.high_mark_bytes);
    if (mark && mark < maxima.first_high_mark_bytes.value_or(UINT64_MAX)) {
      maxima.first_high_mark_bytes = mark;
    }
  });
  if (!status) return status.error();
  std::vector<ProcessMaxima> all;
  all.reserve(by_process.size());
  for (const auto& [id, maxima] : by_process)
    all.push_back(maxima);
  return all;
}

base::Result<std::vector<TableSize>> Recording::Reader::table_sizes() {
  base::Result<Statement> names = database_.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  if (!names) return names.error();
  std::vector<TableSize> sizes;
  base::Status status = for_each(*names, [&] {
    sizes.push_back({std::string(names->text(0)), 0, std::nullopt});
  });
  if (!status) return status.error();
  for (TableSize& table : sizes) {
    base::Result<int64_t> count =
        database_.integer("SELECT count(*) FROM \"" + table.name + "\"");
    if (!count) return count.error();
    table.row_count = static_cast<uint64_t>(*count);
    // A build of SQLite without dbstat cannot tell.
    base::Result<int64_t> bytes = database_.integer(
        "SELECT sum(pgsize) FROM dbstat WHERE name = '" + table.name + "'");
    if (bytes) table.bytes = static_cast<uint64_t>(*bytes);
  }
  return sizes;
}

}  // namespace tidemark::store
