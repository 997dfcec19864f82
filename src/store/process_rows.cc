#include "store/process_rows.h"

#include <algorithm>
#include <utility>

#include "model/rollup.h"
#include "store/schema.h"
#include "store/smaps_columns.h"

namespace tidemark::store {
namespace {

using model::DetailTier;
using model::Mapping;
using model::Process;
using model::SmapsField;

constexpr uint64_t kKib = 1024;
constexpr uint64_t kAddressUnit = 4096;  // of every page size a multiple

// A process is written whole again once its changes outnumber its mappings by
// so much: finding its state at a moment then reads a bounded number of rows.
// At 8 the file grows by a twelfth; idle processes never repeat.
constexpr uint64_t kKeyframeRatio = 8;
constexpr uint64_t kKeyframeSlack = 64;

std::optional<int64_t> kib(std::optional<uint64_t> bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<int64_t>(*bytes / kKib);
}

// Signed 64-bit is all SQLite has; counters of the kernel never get there.
int64_t as_integer(uint64_t value) {
  return static_cast<int64_t>(value);
}

std::string rare_text(const model::SmapsFields& fields) {
  std::string text;
  const auto add = [&](SmapsField field) {
    text += text.empty() ? "{\"" : ",\"";
    text += model::kSmapsLabels[static_cast<size_t>(field)].kernel_label;
    text += "\":" + std::to_string(fields.get_or_zero(field) / kKib);
  };
  for (SmapsField field : kRareFields) {
    if (fields.get_or_zero(field) != 0) add(field);
  }
  for (SmapsField field : kRollupFields) {
    if (fields.has(field)) add(field);
  }
  return text.empty() ? text : text + "}";
}

uint64_t sum_of_parts(const model::SmapsFields& fields) {
  return fields.get_or_zero(SmapsField::SharedClean) +
         fields.get_or_zero(SmapsField::SharedDirty) +
         fields.get_or_zero(SmapsField::PrivateClean) +
         fields.get_or_zero(SmapsField::PrivateDirty);
}

model::RollupTotals totals_of(const model::SmapsFields& fields) {
  const auto kib_of = [&](SmapsField field) {
    return fields.get_or_zero(field) / kKib;
  };
  model::RollupTotals totals;
  totals.rss = kib_of(SmapsField::Rss);
  totals.pss = kib_of(SmapsField::Pss);
  totals.uss = model::uss_bytes(fields).value_or(0) / kKib;
  totals.swap = fields.get(SmapsField::SwapPss)
                    .value_or(fields.get_or_zero(SmapsField::Swap)) /
                kKib;
  totals.hugetlb = model::hugetlb_bytes(fields).value_or(0) / kKib;
  totals.private_hugetlb = kib_of(SmapsField::PrivateHugetlb);
  totals.pss_anon = kib_of(SmapsField::PssAnon);
  totals.pss_file = kib_of(SmapsField::PssFile);
  totals.pss_shmem = kib_of(SmapsField::PssShmem);
  return totals;
}

// The same memory as before, however much of it is there now.
bool is_same_mapping(const Mapping& a, const Mapping& b) {
  return a.start_address == b.start_address && a.inode_id == b.inode_id &&
         a.device_major == b.device_major && a.device_minor == b.device_minor &&
         a.offset_bytes == b.offset_bytes && a.name == b.name;
}

bool has_same_shape(const Mapping& a, const Mapping& b) {
  return a.end_address == b.end_address && a.permissions == b.permissions &&
         a.vm_flags == b.vm_flags && a.is_thp_eligible == b.is_thp_eligible;
}

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
  rows.sum_categories();
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
  // Its arguments lie elsewhere: it has become another program.
  if (identity_ && identity_->argument_address != now.argument_address) {
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
    return as_integer(count * context.page_size_bytes / kKib);
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
      return as_integer(count * context.page_size_bytes / kKib);
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

bool ProcessRows::merge_from(size_t old_index,
                             const std::vector<Mapping>& mappings,
                             size_t new_index) {
  next_.clear();
  next_.reserve(mappings.size());
  for (size_t i = 0; i < old_index; ++i)
    next_.push_back(std::move(live_[i]));
  size_t i = old_index;
  for (size_t j = new_index; j < mappings.size(); ++j) {
    const Mapping& mapping = mappings[j];
    while (i < live_.size() &&
           live_[i].mapping.start_address < mapping.start_address) {
      dead_.push_back(std::move(live_[i++]));
    }
    if (i < live_.size() && is_same_mapping(live_[i].mapping, mapping)) {
      LiveMapping& kept = next_.emplace_back(std::move(live_[i++]));
      if (kept.mapping == mapping) continue;
      kept.mapping = mapping;
      kept.is_changed = true;
      continue;
    }
    LiveMapping born;
    born.mapping = mapping;
    born.is_changed = true;
    next_.push_back(std::move(born));
  }
  while (i < live_.size())
    dead_.push_back(std::move(live_[i++]));
  std::swap(live_, next_);
  return true;
}

bool ProcessRows::merge(const std::vector<Mapping>& mappings) {
  bool is_reshaped = false;
  size_t i = 0;
  for (; i < mappings.size() && i < live_.size(); ++i) {
    LiveMapping& live = live_[i];
    if (live.mapping == mappings[i]) continue;
    if (!is_same_mapping(live.mapping, mappings[i])) break;
    if (!has_same_shape(live.mapping, mappings[i])) is_reshaped = true;
    live.mapping = mappings[i];
    live.is_changed = true;
  }
  if (i == mappings.size() && i == live_.size()) return is_reshaped;
  return merge_from(i, mappings, i);
}

base::Status ProcessRows::retrait(const Process& process,
                                  const RowContext& context) {
  std::vector<model::RegionKind> kinds = process.kinds;
  if (kinds.size() != live_.size()) {
    kinds.assign(live_.size(), model::RegionKind::Anonymous);
    const std::vector<model::Region> regions = model::find_regions(
        *process.mappings,
        model::region_hints(process, context.memory_devices));
    for (const model::Region& region : regions) {
      std::fill_n(kinds.begin() + static_cast<ptrdiff_t>(region.first_index),
                  region.mapping_count, region.kind);
    }
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    LiveMapping& live = live_[i];
    base::Result<int64_t> trait =
        context.interned.trait(live.mapping, kinds[i]);
    if (!trait) return trait.error();
    if (*trait == live.trait) continue;
    live.trait = *trait;
    live.kind = kinds[i];
    live.is_changed = true;
  }
  has_kinds_ = true;
  return base::Ok{};
}

base::Status ProcessRows::write_births(const RowContext& context) {
  Statement& row = context.statements.mapping;
  for (LiveMapping& live : live_) {
    if (live.no != 0) continue;
    live.no = next_no_++;
    base::Result<int64_t> object = context.interned.object(live.mapping);
    if (!object) return object.error();
    row.bind(0, id_);
    row.bind(1, live.no);
    row.bind(2, as_integer(live.mapping.start_address / kAddressUnit));
    row.bind(3, as_integer(live.mapping.offset_bytes / kAddressUnit));
    row.bind(4, *object);
    row.bind(5, context.tick);
    base::Status status = row.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status ProcessRows::write_change(const LiveMapping& live,
                                       const RowContext& context) {
  const model::SmapsFields& fields = live.mapping.fields;
  Statement& row = context.statements.change;
  row.bind(0, context.tick / kTicksPerEpoch);
  row.bind(1, id_);
  row.bind(2, context.tick % kTicksPerEpoch);
  row.bind(3, live.no);
  row.bind(4, live.trait);
  row.bind(5, as_integer(live.mapping.size_bytes() / kKib));
  int column = 6;
  for (SmapsField field : kColumnFields)
    row.bind(column++, kib(fields.get(field)));
  const std::optional<uint64_t> rss = fields.get(SmapsField::Rss);
  const bool is_told =
      fields.has(SmapsField::PrivateDirty) && rss == sum_of_parts(fields);
  row.bind(column++, is_told ? std::nullopt : kib(rss));
  const std::string rare = rare_text(fields);
  if (rare.empty()) {
    row.bind_null(column);
  } else {
    row.bind(column, std::string_view(rare));
  }
  ++rows_since_keyframe_;
  return row.run();
}

base::Status ProcessRows::write_changes(const RowContext& context) {
  const bool is_keyframe =
      !has_keyframe_ ||
      rows_since_keyframe_ > kKeyframeRatio * live_.size() + kKeyframeSlack;
  if (is_keyframe) {
    Statement& row = context.statements.keyframe;
    row.bind(0, id_);
    row.bind(1, context.tick);
    base::Status status = row.run();
    if (!status) return status;
    has_keyframe_ = true;
    rows_since_keyframe_ = 0;
  }
  for (LiveMapping& live : live_) {
    if (!live.is_changed && !is_keyframe) continue;
    live.is_changed = false;
    base::Status status = write_change(live, context);
    if (!status) return status;
  }
  if (is_keyframe) rows_since_keyframe_ = 0;
  return base::Ok{};
}

base::Status ProcessRows::write_death(const StoredMapping& dead,
                                      const RowContext& context) {
  Statement& row = context.statements.change;
  row.bind(0, context.tick / kTicksPerEpoch);
  row.bind(1, id_);
  row.bind(2, context.tick % kTicksPerEpoch);
  row.bind(3, dead.no);
  row.bind(4, dead.trait);
  row.bind(5, int64_t{0});
  constexpr int kColumns = 17;
  for (int column = 6; column < kColumns; ++column)
    row.bind_null(column);
  ++rows_since_keyframe_;
  return row.run();
}

base::Status ProcessRows::write_deaths(const RowContext& context) {
  for (const LiveMapping& dead : dead_) {
    if (dead.no == 0) continue;  // never got into the file
    base::Status status = write_death({dead.no, dead.trait}, context);
    if (!status) return status;
  }
  dead_.clear();
  // Without its end a mapping would come back where thinning puts its last row
  // and the keyframe into one tick.
  for (const StoredMapping& dead : std::exchange(stored_, {})) {
    base::Status status = write_death(dead, context);
    if (!status) return status;
  }
  return base::Ok{};
}

void ProcessRows::sum_categories() {
  categories_ = {};
  is_scanned_ = false;
  const auto add = [this](model::Category category, const CategorySum& part) {
    CategorySum& sum = categories_[static_cast<size_t>(category)];
    sum.rss_kib += part.rss_kib;
    sum.pss_kib += part.pss_kib;
    sum.private_kib += part.private_kib;
    sum.swap_kib += part.swap_kib;
  };
  for (const LiveMapping& live : live_) {
    is_scanned_ |= !live.mapping.fields.has(SmapsField::Pss);
    const model::RollupTotals totals = totals_of(live.mapping.fields);
    if (live.kind == model::RegionKind::Rollup) {
      for (const model::RollupShare& share : model::split_rollup(totals))
        add(share.category, {share.rss, share.pss, share.uss, share.swap});
      continue;
    }
    add(model::region_category(live.kind),
        {totals.rss + totals.hugetlb, totals.pss + totals.hugetlb,
         totals.uss + totals.private_hugetlb, totals.swap});
  }
}

base::Status ProcessRows::write_emptied(const RowContext& context) {
  merge({});
  base::Status status = write_deaths(context);
  if (status) sum_categories();
  return status;
}

base::Status ProcessRows::write_resumed(const RowContext& context) {
  is_resumed_ = false;
  for (LiveMapping& live : live_) {
    base::Result<int64_t> trait =
        context.interned.trait(live.mapping, live.kind);
    if (!trait) return trait.error();
    live.trait = *trait;
  }
  base::Status status = write_births(context);
  if (status) status = write_deaths(context);
  if (status) status = write_changes(context);
  return status;
}

base::Status ProcessRows::write_mappings(const Process& process,
                                         const RowContext& context) {
  last_detail_ = context.tick;
  bool is_reshaped = merge(*process.mappings);
  is_reshaped |= std::exchange(is_resumed_, false);
  if (is_reshaped) has_kinds_ = false;
  // A thread that is new may have made a stack of what was plain memory.
  if (!process.kinds.empty() || threads_ != process.threads) {
    threads_ = process.threads;
    is_reshaped = true;
  }
  if (is_reshaped) {
    base::Status status = retrait(process, context);
    if (status) status = write_births(context);
    if (status) status = write_deaths(context);
    if (!status) return status;
  }
  base::Status status = write_changes(context);
  if (status) sum_categories();
  return status;
}

}  // namespace tidemark::store
