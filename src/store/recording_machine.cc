#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "store/machine_rows.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using model::Sample;

// Of rows whose first column is the tick.
model::Machine machine_of(const Statement& rows, uint64_t page_size_bytes) {
  MachineRow row;
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = rows.maybe_integer(static_cast<int>(i) + 1);
  model::Machine machine;
  machine.page_size_bytes = page_size_bytes;
  fill_machine(row, machine);
  return machine;
}

// Of rows that begin with path, inode, epoch, group and tick. False when it
// has no values: the group has ended.
bool take_cgroup(const Statement& rows, model::Cgroup& group) {
  group.path = rows.text(0);
  group.inode_id = static_cast<uint64_t>(rows.integer(1));
  CgroupRow row;
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = rows.maybe_integer(static_cast<int>(i) + 5);
  fill_cgroup(row, group);
  return !(row == CgroupRow());
}

}  // namespace

base::Status Recording::Reader::fill_machine_at(int64_t tick, Sample& sample) {
  base::Result<Statement> rows =
      database_.prepare("SELECT * FROM machine_sample WHERE tick = ?");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  return for_each(*rows, [&] {
    sample.machine = machine_of(*rows, info_.page_size_bytes);
  });
}

base::Status Recording::Reader::fill_cgroups_at(int64_t tick, Sample& sample) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT g.path, g.inode, s.* FROM cgroup_sample s "
      "JOIN cgroup_group g ON g.id = s.cgroup "
      "WHERE s.epoch BETWEEN ? AND ? AND s.epoch * 16 + s.tick <= ? "
      "ORDER BY s.epoch, s.cgroup, s.tick");
  if (!rows) return rows.error();
  rows->bind(0, base_of(tick) / kTicksPerEpoch);
  rows->bind(1, tick / kTicksPerEpoch);
  rows->bind(2, tick);
  std::map<std::string, model::Cgroup> groups;
  std::set<std::string> ended;  // by a row without values
  base::Status status = for_each(*rows, [&] {
    model::Cgroup& group = groups[std::string(rows->text(0))];
    if (take_cgroup(*rows, group)) {
      ended.erase(group.path);
    } else {
      ended.insert(group.path);
    }
  });
  for (auto& [path, group] : groups) {
    if (!ended.contains(path)) sample.cgroups.push_back(std::move(group));
  }
  return status;
}

base::Status Recording::Reader::walk_machine(const MachineVisitor& visit) {
  base::Result<Statement> rows =
      database_.prepare("SELECT * FROM machine_sample ORDER BY tick");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    visit(rows->integer(0), machine_of(*rows, info_.page_size_bytes));
  });
}

base::Status Recording::Reader::walk_cgroup(const std::string& path,
                                            const CgroupVisitor& visit) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT g.path, g.inode, s.* FROM cgroup_sample s "
      "JOIN cgroup_group g ON g.id = s.cgroup WHERE g.path = ? "
      // A group may end and be made anew within one tick.
      "ORDER BY s.epoch, s.tick, s.charged IS NOT NULL");
  if (!rows) return rows.error();
  rows->bind(0, std::string_view(path));
  return for_each(*rows, [&] {
    model::Cgroup group;
    take_cgroup(*rows, group);
    visit(rows->integer(2) * kTicksPerEpoch + rows->integer(4), group);
  });
}

}  // namespace tidemark::store
