// Virtual machines of a recording, as they were read.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "store/recording_reader.h"
#include "store/vm_columns.h"
#include "store/vm_schema.h"

namespace tidemark::store {

using model::Vm;
using model::VmScan;

// Not in an unnamed namespace: they are part of Recording::Reader::VmParts.
// Follows one table from a tick in which it is told in full.
class VmTableWalk {
 public:
  base::Status begin(Database& database, VmTable table, int64_t first,
                     int64_t last) {
    const VmChangeTable& read = kVmChangeTables[static_cast<size_t>(table)];
    base::Result<Statement> rows = database.prepare(
        "SELECT * FROM " + std::string(read.name) +
        " WHERE tick BETWEEN ? AND ? ORDER BY tick, " + read.thing);
    if (!rows) return rows.error();
    rows_ = std::move(*rows);
    rows_.bind(0, first);
    rows_.bind(1, last);
    column_count_ = read.column_count;
    return step();
  }

  base::Status advance(int64_t tick, bool is_full) {
    if (is_full) state_.clear();
    while (has_row_ && rows_.integer(0) <= tick) {
      VmRow row(column_count_);
      bool has_any = false;
      for (size_t i = 0; i < column_count_; ++i) {
        row[i] = rows_.maybe_integer(static_cast<int>(i) + 2);
        has_any = has_any || row[i].has_value();
      }
      if (has_any) {
        state_[rows_.integer(1)] = std::move(row);
      } else {
        state_.erase(rows_.integer(1));
      }
      base::Status status = step();
      if (!status) return status;
    }
    return base::Ok{};
  }

  const std::map<int64_t, VmRow>& state() const { return state_; }

 private:
  base::Status step() {
    base::Result<bool> row = rows_.step();
    if (!row) return row.error();
    has_row_ = *row;
    return base::Ok{};
  }

  Statement rows_;
  size_t column_count_ = 0;
  bool has_row_ = false;
  std::map<int64_t, VmRow> state_;
};

// A process or an image of a VM.
struct VmPart {
  int64_t vm = 0;
  model::ProcessId id;
  std::string path;
};

struct VmTick {
  int64_t tick = 0;
  bool is_full = false;
  VmScan scan;  // its head alone
};

// What is read of the section before the ticks are walked.
struct Recording::Reader::VmParts {
  std::map<int64_t, model::ProcessId> machines;
  std::map<int64_t, VmPart> processes;
  std::map<int64_t, VmPart> images;
  std::vector<VmTick> ticks;
  std::array<VmTableWalk, kVmTableCount> tables;
  std::map<int64_t, std::string> words;  // those asked for so far

  const std::map<int64_t, VmRow>& rows(VmTable table) const {
    return tables[static_cast<size_t>(table)].state();
  }
};

base::Status Recording::Reader::load_vm_heads(VmParts& parts) {
  base::Result<Statement> machines =
      database_.prepare("SELECT id, pid, start_ticks FROM vm_machine");
  if (!machines) return machines.error();
  base::Status status = for_each(*machines, [&] {
    parts.machines[machines->integer(0)] = {
        static_cast<int32_t>(machines->integer(1)),
        static_cast<uint64_t>(machines->integer(2))};
  });
  if (!status) return status;
  base::Result<Statement> processes =
      database_.prepare("SELECT id, vm, pid, start_ticks FROM vm_process");
  if (!processes) return processes.error();
  status = for_each(*processes, [&] {
    parts.processes[processes->integer(0)] = {
        processes->integer(1),
        {static_cast<int32_t>(processes->integer(2)),
         static_cast<uint64_t>(processes->integer(3))},
        {}};
  });
  if (!status) return status;
  base::Result<Statement> images = database_.prepare(
      "SELECT i.id, i.vm, t.value FROM vm_image i JOIN text t ON t.id = "
      "i.path");
  if (!images) return images.error();
  return for_each(*images, [&] {
    parts.images[images->integer(0)] = {
        images->integer(1), {}, std::string(images->text(2))};
  });
}

// From the last full tick at or before the first that is asked for.
base::Status Recording::Reader::load_vm_ticks(int64_t first, int64_t last,
                                              VmParts& parts) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT tick, is_full, utc_ns, monotonic_ns, read_ns, unseen FROM "
      "vm_tick WHERE tick <= ?1 AND tick >= coalesce((SELECT max(tick) FROM "
      "vm_tick WHERE is_full AND tick <= ?2), 0) ORDER BY tick");
  if (!rows) return rows.error();
  rows->bind(0, last);
  rows->bind(1, first);
  const auto number = [&](int column) {
    return static_cast<uint64_t>(rows->integer(column));
  };
  base::Status status = for_each(*rows, [&] {
    VmScan head;
    head.started_realtime_ns = number(2);
    head.started_monotonic_ns = number(3);
    head.ended_monotonic_ns = number(3) + number(4);
    head.unseen_count = number(5);
    parts.ticks.push_back(
        {rows->integer(0), rows->integer(1) != 0, std::move(head)});
  });
  if (!status || parts.ticks.empty()) return status;
  if (!parts.ticks.front().is_full) {
    return damaged("virtual machines without a beginning");
  }
  for (size_t i = 0; i < kVmTableCount; ++i) {
    status = parts.tables[i].begin(database_, static_cast<VmTable>(i),
                                   parts.ticks.front().tick, last);
    if (!status) return status;
  }
  return base::Ok{};
}

std::optional<std::string> Recording::Reader::vm_word(VmParts& parts,
                                                      int64_t id) {
  if (const auto known = parts.words.find(id); known != parts.words.end()) {
    return known->second;
  }
  base::Result<Statement> row =
      database_.prepare("SELECT value FROM text WHERE id = ?");
  if (!row) return std::nullopt;
  row->bind(0, id);
  base::Result<bool> is_there = row->step();
  if (!is_there || !*is_there) return std::nullopt;
  return parts.words.emplace(id, row->text(0)).first->second;
}

base::Status Recording::Reader::fill_vm_scan(VmParts& parts, VmScan& scan) {
  const VmRowTaker::Words words = [&](int64_t id) {
    return vm_word(parts, id);
  };
  bool is_sane = true;
  // Takes a row apart; false where it is not whole.
  const auto take = [&](const VmRow& row, const auto& fill) {
    VmRowTaker columns(row, words);
    fill(columns);
    is_sane = is_sane && columns.is_sane();
  };
  std::map<int64_t, Vm> vms;
  for (const auto& [id, row] : parts.rows(VmTable::Vm)) {
    Vm& vm = vms[id];
    vm.id = parts.machines[id];
    take(row, [&](VmRowTaker& columns) { pass_vm(columns, vm); });
  }
  for (const auto& [id, row] : parts.rows(VmTable::Guest)) {
    model::GuestAnswer& guest = vms[id].guest;
    take(row, [&](VmRowTaker& columns) { pass_guest(columns, guest); });
  }
  const std::map<int64_t, VmRow>& memory = parts.rows(VmTable::Memory);
  for (const auto& [id, row] : parts.rows(VmTable::Process)) {
    const VmPart& part = parts.processes[id];
    model::VmProcess& process = vms[part.vm].processes.emplace_back();
    process.id = part.id;
    take(row, [&](VmRowTaker& columns) { pass_process(columns, process); });
    const auto own = memory.find(id * 2);
    const auto ram = memory.find(id * 2 + 1);
    is_sane = is_sane && own != memory.end() && ram != memory.end();
    if (!is_sane) break;
    take(own->second,
         [&](VmRowTaker& columns) { columns.fields(process.own); });
    take(ram->second,
         [&](VmRowTaker& columns) { columns.fields(process.ram); });
  }
  for (const auto& [id, row] : parts.rows(VmTable::Image)) {
    const VmPart& part = parts.images[id];
    model::VmImage& image = vms[part.vm].images.emplace_back();
    image.path = part.path;
    take(row, [&](VmRowTaker& columns) { pass_image(columns, image); });
  }
  for (auto& [id, vm] : vms) {
    is_sane = is_sane && vm.id.pid != 0;
    scan.vms.push_back(std::move(vm));
  }
  return is_sane ? base::Status(base::Ok{})
                 : damaged("virtual machines with absurd numbers");
}

namespace {

// As a scan has them: machines by pid, the largest cache first.
void put_in_order(VmScan& scan) {
  std::ranges::sort(scan.vms, {}, [](const Vm& vm) {
    return std::tuple(vm.id.pid, vm.id.start_ticks);
  });
  for (Vm& vm : scan.vms) {
    std::ranges::stable_sort(
        vm.processes, {},
        [](const model::VmProcess& process) { return process.role; });
    std::ranges::stable_sort(vm.images, std::greater<>(),
                             [](const model::VmImage& image) {
                               return image.cached_bytes.value.value_or(0);
                             });
  }
}

}  // namespace

base::Status Recording::Reader::walk_vms(int64_t first, int64_t last,
                                         const VmVisitor& visit) {
  base::Result<bool> is_there = has_vm_section(database_);
  if (!is_there) return is_there.error();
  if (!*is_there) return base::Ok{};
  VmParts parts;
  base::Status status = load_vm_heads(parts);
  if (status) status = load_vm_ticks(first, last, parts);
  if (!status) return status;
  for (VmTick& tick : parts.ticks) {
    for (VmTableWalk& table : parts.tables) {
      status = table.advance(tick.tick, tick.is_full);
      if (!status) return status;
    }
    if (tick.tick < first) continue;
    status = fill_vm_scan(parts, tick.scan);
    if (!status) return status;
    put_in_order(tick.scan);
    status = visit(tick.tick, std::move(tick.scan));
    if (!status) return status;
  }
  return base::Ok{};
}

base::Result<std::optional<model::RecordedVms>> Recording::Reader::vms() {
  base::Result<bool> is_there = has_vm_section(database_);
  if (!is_there) return is_there.error();
  if (!*is_there) return std::optional<model::RecordedVms>();
  base::Result<Statement> row = database_.prepare(
      "SELECT min(tick), max(tick), count(*), (SELECT count(*) FROM "
      "vm_machine) FROM vm_tick");
  if (!row) return row.error();
  base::Result<bool> has_row = row->step();
  if (!has_row) return has_row.error();
  return std::optional<model::RecordedVms>(
      {row->integer(0), row->integer(1), static_cast<uint64_t>(row->integer(2)),
       static_cast<uint64_t>(row->integer(3))});
}

}  // namespace tidemark::store
