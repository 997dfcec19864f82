// The mappings of a process; the rest of it is in process_rows.cc.
#include <algorithm>
#include <utility>

#include "base/units.h"
#include "model/rollup.h"
#include "store/process_rows.h"
#include "store/schema.h"
#include "store/smaps_columns.h"
#include "store/units.h"

namespace tidemark::store {
namespace {

using model::BestShare;
using model::Mapping;
using model::Process;
using model::SmapsField;

// A process is written whole again once its changes outnumber its mappings by
// so much: finding its state at a moment then reads a bounded number of rows.
// At 8 the file grows by a twelfth; idle processes never repeat.
constexpr uint64_t kKeyframeRatio = 8;
constexpr uint64_t kKeyframeSlack = 64;

std::string rare_text(const model::SmapsFields& fields) {
  std::string text;
  const auto add = [&](SmapsField field) {
    text += text.empty() ? "{\"" : ",\"";
    text += model::kSmapsLabels[static_cast<size_t>(field)].kernel_label;
    text += "\":" + std::to_string(fields.get_or_zero(field) / base::kKib);
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
    return fields.get_or_zero(field) / base::kKib;
  };
  model::RollupTotals totals;
  totals.rss = kib_of(SmapsField::Rss);
  totals.pss = kib_of(SmapsField::Pss);
  totals.uss = model::uss_bytes(fields).value_or(0) / base::kKib;
  totals.swap = fields.get(SmapsField::SwapPss)
                    .value_or(fields.get_or_zero(SmapsField::Swap)) /
                base::kKib;
  totals.hugetlb = model::hugetlb_bytes(fields).value_or(0) / base::kKib;
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
  row.bind(5, as_integer(live.mapping.size_bytes() / base::kKib));
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
  constexpr int kColumnCount = 17;
  for (int column = 6; column < kColumnCount; ++column)
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

void ProcessRows::split_categories() {
  best_.split() = {};
  is_scanned_ = false;
  for (const LiveMapping& live : live_) {
    const model::SmapsFields& fields = live.mapping.fields;
    const bool is_scanned = !fields.has(SmapsField::Pss);
    is_scanned_ |= is_scanned;
    model::RollupTotals totals = totals_of(fields);
    const auto add = [&](model::Category category, const BestShare& share,
                         uint64_t anonymous_kib) {
      best_.split()[static_cast<size_t>(category)].add(
          model::SplitShare::of(share, anonymous_kib));
    };
    if (live.kind == model::RegionKind::Rollup) {
      for (const model::RollupShare& share : model::split_rollup(totals)) {
        add(share.category, {share.rss, share.pss, share.uss, share.swap, 0},
            0);
      }
      continue;
    }
    const uint64_t bound = is_scanned ? totals.rss : 0;
    add(model::region_category(live.kind),
        {totals.rss + totals.hugetlb, totals.pss + bound + totals.hugetlb,
         totals.uss + totals.private_hugetlb, totals.swap, bound},
        fields.get_or_zero(SmapsField::Anonymous) / base::kKib);
  }
}

void ProcessRows::update_categories(const Process& process,
                                    const RowContext& context) {
  const std::optional<model::ResidentCounters> now =
      model::resident_counters(process, context.page_size_bytes);
  const bool is_read = last_detail_ == context.tick;
  if (!has_memory_) {
    best_.clear();
  } else if (is_read || now != best_.counters()) {
    best_.set_counters(now);
    if (is_read) split_categories();
    if (is_read) best_.mark_split();
  } else {
    return;
  }
  categories_ = best_.shares();
}

base::Status ProcessRows::write_emptied(const RowContext& context) {
  merge({});
  is_scanned_ = false;
  return write_deaths(context);
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
  return write_changes(context);
}

}  // namespace tidemark::store
