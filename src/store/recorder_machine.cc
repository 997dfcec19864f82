#include <string_view>
#include <utility>

#include "store/recorder_writer.h"
#include "store/schema.h"

namespace tidemark::store {

using model::Sample;

base::Status Recorder::Writer::write_machine(const Sample& sample) {
  if (!sample.machine) return base::Ok{};
  Statement& row = statements_->machine;
  const MachineRow values = machine_row(*sample.machine);
  row.bind(0, next_tick_);
  for (size_t i = 0; i < values.size(); ++i)
    row.bind(static_cast<int>(i) + 1, values[i]);
  return row.run();
}

base::Status Recorder::Writer::write_trace(const Sample& sample) {
  if (!sample.trace) return base::Ok{};
  if (!trace_) {
    base::Result<TraceRows> rows = TraceRows::open(database_);
    if (!rows) return rows.error();
    trace_ = std::move(*rows);
  }
  return trace_->write(*sample.trace, next_tick_, *interned_);
}

base::Status Recorder::Writer::write_vms(const Sample& sample) {
  if (!sample.vms) return base::Ok{};
  if (!vms_) {
    base::Result<VmRows> rows = VmRows::open(database_);
    if (!rows) return rows.error();
    vms_ = std::move(*rows);
  }
  return vms_->write(*sample.vms, next_tick_, *interned_);
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

}  // namespace tidemark::store
