#include "store/process_rows.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "store/schema.h"
#include "store/units.h"

namespace tidemark::store {
namespace {

using model::DetailTier;
using model::Process;

}  // namespace

base::Result<ProcessStatements> ProcessStatements::prepare(Database& database) {
  ProcessStatements all;
  const std::pair<Statement*, std::string_view> wanted[] = {
      {&all.process, "INSERT INTO proc_process VALUES(?,?,?,?)"},
      {&all.end, "INSERT INTO proc_end VALUES(?,?)"},
      {&all.identity, "INSERT INTO proc_identity VALUES(?,?,?,?,?,?,?,?,?)"},
      {&all.counter, "INSERT INTO proc_counter VALUES(?,?,?,?,?,?,?)"},
      {&all.status,
       "INSERT INTO proc_status VALUES"
       "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
      {&all.detail, "INSERT INTO proc_detail VALUES(?,?,?,?)"},
      {&all.mapping, "INSERT INTO proc_mapping VALUES(?,?,?,?,?,?)"},
      {&all.change,
       "INSERT INTO proc_change VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
      {&all.keyframe, "INSERT INTO proc_keyframe VALUES(?,?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Result<Statement> made = database.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  return all;
}

ProcessRows ProcessRows::resumed(StoredProcess stored, ProcessRows lost) {
  ProcessRows rows(stored.id);
  rows.next_no_ = stored.next_mapping_no;
  rows.image_ = stored.image;
  rows.has_unknown_plan_ = true;
  rows.is_resumed_ = true;
  rows.stored_ = std::move(stored.mappings);
  if (!lost.last_detail_ || !lost.has_kinds_) return rows;
  // The tick it was read in may be one of the lost: then the file's last is the
  // nearest that is not too young.
  rows.last_detail_ = std::min(*lost.last_detail_, stored.last_tick);
  rows.live_ = std::move(lost.live_);
  for (LiveMapping& live : rows.live_) {
    live.no = 0;
    live.trait = 0;
  }
  rows.has_kinds_ = true;
  rows.threads_ = std::move(lost.threads_);
  rows.best_ = lost.best_;
  rows.categories_ = lost.categories_;
  rows.is_scanned_ = lost.is_scanned_;
  return rows;
}

base::Status ProcessRows::write(const Process& process,
                                const RowContext& context) {
  has_memory_ = process.state == model::ProcessState::Ok ||
                process.state == model::ProcessState::Denied ||
                process.state == model::ProcessState::Failed;
  base::Status status = write_identity(process, context);
  if (status) status = write_counters(process, context);
  if (status) status = write_status(process, context);
  if (status) status = write_plan(process, context);
  if (status && process.mappings) status = write_mappings(process, context);
  if (status && !has_memory_ && !(live_.empty() && stored_.empty())) {
    status = write_emptied(context);
  }
  if (status && is_resumed_ && !live_.empty()) status = write_resumed(context);
  if (status) update_categories(process, context);
  return status;
}

void ProcessRows::begin_base() {
  counters_.reset();
  status_.reset();
  has_keyframe_ = false;
}

base::Status ProcessRows::write_base(const RowContext& context) {
  if (has_keyframe_ || !last_detail_) return base::Ok{};
  return write_changes(context);
}

base::Status ProcessRows::write_identity(const Process& process,
                                         const RowContext& context) {
  Identity now = {process.stat.parent_pid,
                  process.stat.comm,
                  process.executable ? *process.executable : std::string(),
                  process.command_line,
                  process.cgroup_path,
                  process.status.user_id,
                  process.stat.argument_address};
  if (identity_ && *identity_ == now) return base::Ok{};
  // Its arguments lie elsewhere: it has become another program. They lie
  // nowhere when it has ended, or when we may not know.
  if (identity_ && identity_->argument_address != 0 &&
      now.argument_address != 0 &&
      identity_->argument_address != now.argument_address) {
    ++image_;
  }
  std::string command = now.command_line;
  std::ranges::replace(command, '\0', '\x1f');
  Statement& row = context.statements.identity;
  row.bind(0, id_);
  row.bind(1, context.tick);
  row.bind(2, int64_t{now.parent_pid});
  int column = 3;
  for (const std::string* text : {&now.comm, &now.executable, &command}) {
    base::Result<int64_t> text_id = context.interned.text(*text);
    if (!text_id) return text_id.error();
    row.bind(column++, *text_id);
  }
  row.bind(6, now.user_id ? std::optional<int64_t>(*now.user_id)
                          : std::optional<int64_t>());
  base::Result<int64_t> cgroup = context.interned.text(now.cgroup_path);
  if (!cgroup) return cgroup.error();
  row.bind(7, *cgroup);
  row.bind(8, image_);
  identity_ = std::move(now);
  return row.run();
}

base::Status ProcessRows::write_counters(const Process& process,
                                         const RowContext& context) {
  const auto pages = [&](uint64_t count) {
    return as_integer(count * context.page_size_bytes / base::kKib);
  };
  CounterRow now;
  if (process.statm) {
    now[0] = pages(process.statm->resident_pages);
    now[1] = pages(process.statm->shared_pages);
  }
  now[2] = as_integer(process.stat.minor_fault_count);
  now[3] = as_integer(process.stat.major_fault_count);
  if (counters_ == now) return base::Ok{};
  counters_ = now;
  Statement& row = context.statements.counter;
  row.bind(0, context.tick / kTicksPerEpoch);
  row.bind(1, id_);
  row.bind(2, context.tick % kTicksPerEpoch);
  for (size_t i = 0; i < now.size(); ++i)
    row.bind(static_cast<int>(i) + 3, now[i]);
  return row.run();
}

base::Status ProcessRows::write_status(const Process& process,
                                       const RowContext& context) {
  const model::ProcessStatus& status = process.status;
  StatusRow now;
  now[0] = static_cast<int64_t>(process.state);
  if (!process.mappings && !process.mappings.unknown_because.empty()) {
    base::Result<int64_t> because =
        context.interned.text(process.mappings.unknown_because);
    if (!because) return because.error();
    now[1] = *because;
  }
  if (process.statm) {
    const auto pages = [&](uint64_t count) {
      return as_integer(count * context.page_size_bytes / base::kKib);
    };
    now[2] = pages(process.statm->size_pages);
    now[3] = pages(process.statm->text_pages);
    now[4] = pages(process.statm->data_pages);
  }
  now[5] = as_integer(process.stat.thread_count);
  now[6] = kib(status.peak_rss_bytes);
  now[7] = kib(status.swap_bytes);
  now[8] = kib(status.page_table_bytes);
  now[9] = kib(status.hugetlb_bytes);
  now[10] = kib(status.locked_bytes);
  now[11] = kib(status.rss_anon_bytes);
  now[12] = kib(status.rss_file_bytes);
  now[13] = kib(status.rss_shmem_bytes);
  now[14] = process.oom_score;
  now[15] = process.oom_score_adjustment;
  if (status_ == now) return base::Ok{};
  status_ = now;
  Statement& row = context.statements.status;
  row.bind(0, context.tick / kTicksPerEpoch);
  row.bind(1, id_);
  row.bind(2, context.tick % kTicksPerEpoch);
  for (size_t i = 0; i < now.size(); ++i)
    row.bind(static_cast<int>(i) + 3, now[i]);
  return row.run();
}

base::Status ProcessRows::write_plan_row(DetailTier tier, int64_t step,
                                         const RowContext& context) {
  Statement& row = context.statements.detail;
  row.bind(0, id_);
  row.bind(1, context.tick);
  row.bind(2, static_cast<int64_t>(tier));
  row.bind(3, step);
  return row.run();
}

// Only what departs from the plan is a row: a tick in which it was read though
// it was not due, or the other way round, or another plan.
base::Status ProcessRows::write_plan(const Process& process,
                                     const RowContext& context) {
  const bool was_read = process.mappings.value.has_value();
  const DetailTier tier = was_read ? process.tier : DetailTier::Counters;
  const auto step = std::max<int64_t>(process.detail_step, 1);
  // What has no memory is not read until further notice: one row, not one for
  // each tick that a zombie waits. Nor is what we know no plan of.
  if (!was_read && (has_unknown_plan_ || (planned_tier_ && !has_memory_))) {
    if (planned_tier_ == DetailTier::Counters) return base::Ok{};
    planned_tier_ = DetailTier::Counters;
    has_unknown_plan_ = false;
    return write_plan_row(DetailTier::Counters, 1, context);
  }
  has_unknown_plan_ = false;
  const bool is_due = planned_tier_ && *planned_tier_ != DetailTier::Counters &&
                      (context.tick - planned_from_) % planned_step_ == 0;
  const bool is_other_plan =
      was_read && (planned_tier_ != tier || planned_step_ != step);
  if (is_other_plan) {
    planned_tier_ = tier;
    planned_step_ = step;
    planned_from_ = context.tick;
    return write_plan_row(tier, step, context);
  }
  if (was_read == is_due) return base::Ok{};
  return write_plan_row(tier, 0, context);
}

}  // namespace tidemark::store
