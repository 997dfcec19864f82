#include "store/vm_rows.h"

#include <functional>

#include "store/schema.h"
#include "store/vm_schema.h"

namespace tidemark::store {
namespace {

std::string insert_text(const char* table, size_t column_count) {
  std::string text = "INSERT INTO " + std::string(table) + " VALUES(?";
  for (size_t i = 1; i < column_count; ++i)
    text += ",?";
  return text + ")";
}

base::Status prepare_into(Database& database, const std::string& sql,
                          Statement& statement) {
  base::Result<Statement> made = database.prepare(sql);
  if (!made) return made.error();
  statement = std::move(*made);
  return base::Ok{};
}

int32_t pid_in(const Statement& row, int column) {
  return static_cast<int32_t>(row.integer(column));
}

uint64_t count_in(const Statement& row, int column) {
  return static_cast<uint64_t>(row.integer(column));
}

template <typename Key>
int64_t next_id(const std::map<Key, int64_t>& known) {
  return static_cast<int64_t>(known.size()) + 1;
}

}  // namespace

base::Status VmChanges::prepare(Database& database, VmTable table) {
  const VmChangeTable& wanted = kVmChangeTables[static_cast<size_t>(table)];
  column_count_ = wanted.column_count;
  return prepare_into(database, insert_text(wanted.name, column_count_ + 2),
                      insert_);
}

void VmChanges::begin(int64_t tick, bool is_full) {
  tick_ = tick;
  is_full_ = is_full;
}

base::Status VmChanges::insert(int64_t thing, const VmRow& row) {
  insert_.bind(0, tick_);
  insert_.bind(1, thing);
  for (size_t i = 0; i < column_count_; ++i)
    insert_.bind(static_cast<int>(i) + 2, row[i]);
  return insert_.run();
}

base::Status VmChanges::write(int64_t thing, VmRow row) {
  Known& known = known_[thing];
  const bool is_same = known.seen_tick >= 0 && known.row == row;
  known.seen_tick = tick_;
  if (is_same && !is_full_) return base::Ok{};
  known.row = std::move(row);
  return insert(thing, known.row);
}

base::Status VmChanges::end_missing() {
  for (auto known = known_.begin(); known != known_.end();) {
    if (known->second.seen_tick == tick_) {
      ++known;
      continue;
    }
    base::Status status = insert(known->first, VmRow(column_count_));
    if (!status) return status;
    known = known_.erase(known);
  }
  return base::Ok{};
}

base::Status VmRows::prepare(Database& database) {
  const std::pair<Statement*, std::string> wanted[] = {
      {&tick_row_, insert_text("vm_tick", 6)},
      {&machine_row_, insert_text("vm_machine", 3)},
      {&process_row_, insert_text("vm_process", 4)},
      {&image_row_, insert_text("vm_image", 3)},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Status status = prepare_into(database, sql, *statement);
    if (!status) return status;
  }
  for (size_t i = 0; i < kVmTableCount; ++i) {
    base::Status status =
        changes_[i].prepare(database, static_cast<VmTable>(i));
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status VmRows::load(Database& database) {
  base::Status status =
      each_row(database, "SELECT id, pid, start_ticks FROM vm_machine",
               [&](const Statement& row) {
                 machines_[{pid_in(row, 1), count_in(row, 2)}] = row.integer(0);
               });
  if (!status) return status;
  status = each_row(
      database, "SELECT id, vm, pid, start_ticks FROM vm_process",
      [&](const Statement& row) {
        processes_[{row.integer(1), pid_in(row, 2), count_in(row, 3)}] =
            row.integer(0);
      });
  if (!status) return status;
  return each_row(database, "SELECT id, vm, path FROM vm_image",
                  [&](const Statement& row) {
                    images_[{row.integer(1), row.integer(2)}] = row.integer(0);
                  });
}

base::Result<VmRows> VmRows::open(Database& database) {
  base::Result<bool> is_there = has_vm_section(database);
  if (!is_there) return is_there.error();
  base::Status status =
      *is_there ? base::Status(base::Ok{}) : create_vm_section(database);
  VmRows rows;
  if (status) status = rows.prepare(database);
  if (status && *is_there) status = rows.load(database);
  if (!status) return status.error();
  return rows;
}

base::Result<int64_t> VmRows::machine_id(const model::ProcessId& id) {
  const MachineKey key(id.pid, id.start_ticks);
  if (const auto known = machines_.find(key); known != machines_.end()) {
    return known->second;
  }
  const int64_t number = next_id(machines_);
  machine_row_.bind(0, number);
  machine_row_.bind(1, int64_t{id.pid});
  machine_row_.bind(2, static_cast<int64_t>(id.start_ticks));
  base::Status status = machine_row_.run();
  if (!status) return status.error();
  machines_.emplace(key, number);
  return number;
}

base::Result<int64_t> VmRows::process_id(int64_t machine,
                                         const model::ProcessId& id) {
  const ProcessKey key(machine, id.pid, id.start_ticks);
  if (const auto known = processes_.find(key); known != processes_.end()) {
    return known->second;
  }
  const int64_t number = next_id(processes_);
  process_row_.bind(0, number);
  process_row_.bind(1, machine);
  process_row_.bind(2, int64_t{id.pid});
  process_row_.bind(3, static_cast<int64_t>(id.start_ticks));
  base::Status status = process_row_.run();
  if (!status) return status.error();
  processes_.emplace(key, number);
  return number;
}

base::Result<int64_t> VmRows::image_id(int64_t machine,
                                       const std::string& path) {
  base::Result<int64_t> text = interned_->text(path);
  if (!text) return text;
  const ImageKey key(machine, *text);
  if (const auto known = images_.find(key); known != images_.end()) {
    return known->second;
  }
  const int64_t number = next_id(images_);
  image_row_.bind(0, number);
  image_row_.bind(1, machine);
  image_row_.bind(2, *text);
  base::Status status = image_row_.run();
  if (!status) return status.error();
  images_.emplace(key, number);
  return number;
}

template <typename Fill>
base::Status VmRows::change(VmTable table, int64_t thing, const Fill& fill) {
  VmRowMaker columns(*interned_);
  fill(columns);
  base::Result<VmRow> row = std::move(columns).take();
  if (!row) return row.error();
  return changes_[static_cast<size_t>(table)].write(thing, std::move(*row));
}

base::Status VmRows::write_process(int64_t machine,
                                   const model::VmProcess& process) {
  base::Result<int64_t> id = process_id(machine, process.id);
  if (!id) return id.error();
  base::Status status = change(VmTable::Process, *id, [&](VmRowMaker& columns) {
    pass_process(columns, process);
  });
  if (status) {
    status = change(VmTable::Memory, *id * 2,
                    [&](VmRowMaker& columns) { columns.fields(process.own); });
  }
  if (!status) return status;
  return change(VmTable::Memory, *id * 2 + 1,
                [&](VmRowMaker& columns) { columns.fields(process.ram); });
}

base::Status VmRows::write_image(int64_t machine, const model::VmImage& image) {
  base::Result<int64_t> id = image_id(machine, image.path);
  if (!id) return id.error();
  return change(VmTable::Image, *id,
                [&](VmRowMaker& columns) { pass_image(columns, image); });
}

base::Status VmRows::write_vm(const model::Vm& vm) {
  base::Result<int64_t> id = machine_id(vm.id);
  if (!id) return id.error();
  base::Status status = change(
      VmTable::Vm, *id, [&](VmRowMaker& columns) { pass_vm(columns, vm); });
  if (status) {
    status = change(VmTable::Guest, *id, [&](VmRowMaker& columns) {
      pass_guest(columns, vm.guest);
    });
  }
  for (size_t i = 0; status && i < vm.processes.size(); ++i)
    status = write_process(*id, vm.processes[i]);
  for (size_t i = 0; status && i < vm.images.size(); ++i)
    status = write_image(*id, vm.images[i]);
  return status;
}

base::Status VmRows::write_tick(const model::VmScan& scan, int64_t tick,
                                bool is_full) {
  tick_row_.bind(0, tick);
  tick_row_.bind(1, int64_t{is_full ? 1 : 0});
  tick_row_.bind(2, static_cast<int64_t>(scan.started_realtime_ns));
  tick_row_.bind(3, static_cast<int64_t>(scan.started_monotonic_ns));
  tick_row_.bind(4, static_cast<int64_t>(scan.ended_monotonic_ns -
                                         scan.started_monotonic_ns));
  tick_row_.bind(5, static_cast<int64_t>(scan.unseen_count));
  return tick_row_.run();
}

base::Status VmRows::write(const model::VmScan& scan, int64_t tick,
                           Interned& interned) {
  interned_ = &interned;
  const bool is_full = !full_tick_ || tick - *full_tick_ >= kTicksPerBase;
  if (is_full) full_tick_ = tick;
  base::Status status = write_tick(scan, tick, is_full);
  for (VmChanges& changes : changes_)
    changes.begin(tick, is_full);
  for (size_t i = 0; status && i < scan.vms.size(); ++i)
    status = write_vm(scan.vms[i]);
  for (size_t i = 0; status && i < kVmTableCount; ++i)
    status = changes_[i].end_missing();
  return status;
}

}  // namespace tidemark::store
