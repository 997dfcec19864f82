#include <algorithm>
#include <functional>
#include <map>

#include "base/units.h"
#include "store/band_sum.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using model::RecordedProcess;

constexpr int64_t kMostResidentKib = int64_t{1} << 42;

}  // namespace

base::Result<std::optional<int64_t>> Recording::Reader::detail_tick(
    int64_t process, int64_t tick) {
  base::Status status = load_details();
  if (!status) return status.error();
  auto plan = plans_.find(process);
  if (plan == plans_.end()) return std::optional<int64_t>();
  const std::optional<DetailReading> reading = plan->second.last(tick);
  if (!reading) return std::optional<int64_t>();
  return std::optional<int64_t>(reading->tick);
}

bool Recording::Reader::has_swap_pss() const {
  return std::ranges::find(info_.smaps_fields, model::SmapsField::SwapPss) !=
         info_.smaps_fields.end();
}

base::Status Recording::Reader::walk_states(
    const ProcessSet& chosen,
    const std::function<void(const ChangeRow&, bool)>& visit) {
  base::Result<ChangeWalk> walk =
      ChangeWalk::prepare(database_,
                          chosen.size() == 1 ? std::optional(*chosen.begin())
                                             : std::optional<int64_t>(),
                          ChangeColumns::Sums);
  if (!walk) return walk.error();
  if (ticks_.empty()) return base::Ok{};
  std::map<int64_t, size_t> next_frame;
  return walk->walk(0, ticks_.back().id, [&](const ChangeRow& row) {
    if (!chosen.empty() && !chosen.contains(row.process)) return;
    bool is_frame_start = false;
    auto frames = keyframes_.find(row.process);
    if (frames != keyframes_.end()) {
      size_t& next = next_frame[row.process];
      while (next < frames->second.size() && frames->second[next] <= row.tick) {
        is_frame_start |= frames->second[next] == row.tick;
        ++next;
      }
    }
    visit(row, is_frame_start);
  });
}

base::Status Recording::Reader::sum_residents(const ProcessSet& chosen,
                                              TimelineSum& sum) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, resident FROM proc_counter");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    if (!chosen.empty() && !chosen.contains(rows->integer(0))) return;
    const int64_t kib =
        std::clamp<int64_t>(rows->integer(2), 0, kMostResidentKib);
    sum.set_resident(rows->integer(0), rows->integer(1),
                     kib * static_cast<int64_t>(base::kKib));
  });
}

base::Status Recording::Reader::sum_states(const ProcessSet& chosen,
                                           TimelineSum& sum) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, state FROM proc_status");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    if (!chosen.empty() && !chosen.contains(rows->integer(0))) return;
    const auto state = static_cast<model::ProcessState>(rows->integer(2));
    sum.set_alive(rows->integer(0), rows->integer(1),
                  state == model::ProcessState::Ok ||
                      state == model::ProcessState::Denied ||
                      state == model::ProcessState::Failed);
  });
}

base::Status Recording::Reader::read_available(model::Timeline& timeline) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT tick, available, free + buffers + cached - shmem + "
      "coalesce(swap_cached, 0) + slab_reclaimable FROM machine_sample "
      "ORDER BY tick");
  if (!rows) return rows.error();
  auto point = timeline.points.begin();
  return for_each(*rows, [&] {
    while (point != timeline.points.end() && point->tick < rows->integer(0))
      ++point;
    if (point == timeline.points.end() || point->tick != rows->integer(0)) {
      return;
    }
    point->available_bytes = bytes_of(*rows, 1);
    point->available_computed_bytes = bytes_of(*rows, 2);
  });
}

// The sums over all processes are stored as they were written: no mapping needs
// to be looked at.
base::Result<model::Timeline> Recording::Reader::whole_timeline() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT tick, category, rss, pss, private, swap FROM proc_category "
      "ORDER BY tick");
  if (!rows) return rows.error();
  CategoryTimeline sums(ticks_);
  base::Status status = for_each(*rows, [&] {
    const std::optional<model::Category> category =
        model::category_from_token(rows->text(1));
    if (!category) return;
    sums.set(rows->integer(0), *category, bytes_of(*rows, 2).value_or(0),
             bytes_of(*rows, 3).value_or(0), bytes_of(*rows, 4).value_or(0),
             bytes_of(*rows, 5).value_or(0));
  });
  if (!status) return status.error();
  return sums.take();
}

base::Result<model::Timeline> Recording::Reader::timeline(
    const ProcessSet& chosen) {
  if (chosen.empty()) {
    base::Result<model::Timeline> timeline = whole_timeline();
    if (!timeline) return timeline.error();
    TimelineSum counters(ticks_, true);
    for (const RecordedProcess& process : processes_) {
      if (process.gone_at_tick) {
        counters.set_end(process.id, *process.gone_at_tick);
      }
    }
    base::Status status = sum_residents(chosen, counters);
    if (status) status = sum_states(chosen, counters);
    if (!status) return status.error();
    const model::Timeline counted = counters.take();
    for (size_t i = 0; i < ticks_.size(); ++i) {
      model::TimelinePoint& point = timeline->points[i];
      point.resident_bytes = counted.points[i].resident_bytes;
      point.process_count = counted.points[i].process_count;
      point.undetailed_count =
          static_cast<uint32_t>(ticks_[i].undetailed_count);
      point.scanned_count = static_cast<uint32_t>(ticks_[i].scanned_count);
    }
    status = read_available(*timeline);
    if (!status) return status.error();
    return timeline;
  }
  base::Status status = load_details();
  if (!status) return status.error();
  TimelineSum sum(ticks_, has_swap_pss());
  for (const RecordedProcess& process : processes_) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  status = sum_residents(chosen, sum);
  if (status) status = sum_states(chosen, sum);
  if (status) {
    status = walk_states(chosen, [&](const ChangeRow& row, bool is_frame) {
      auto trait = traits_.find(row.trait);
      sum.add(row, is_frame,
              trait == traits_.end() ? model::RegionKind::Anonymous
                                     : trait->second.kind);
    });
  }
  if (!status) return status.error();
  model::Timeline timeline = sum.take();
  status = read_available(timeline);
  if (!status) return status.error();
  return timeline;
}

// What belongs to an image and has no name, its bss, is called like the image:
// the file that was mapped before it.
std::string_view Recording::Reader::name_of(int64_t process,
                                            const MappingHeads& heads,
                                            const MappingHead& head,
                                            model::RegionKind kind) {
  const std::string& name = objects_[head.object].name;
  if (kind != model::RegionKind::Image || !name.empty()) {
    return model::object_name(kind, name);
  }
  auto [known, is_new] =
      image_of_bss_.try_emplace(std::pair(process, head.no), head.object);
  if (!is_new) return objects_[known->second].name;
  const MappingHead* before = nullptr;
  for (const MappingHead& other : heads.sorted) {
    // Later ones only where none came earlier: addresses are used again.
    if (other.no > head.no && before) break;
    const bool is_nearer =
        other.start_address < head.start_address &&
        (!before || other.start_address >= before->start_address);
    if (is_nearer && !objects_[other.object].name.empty()) before = &other;
  }
  if (before) known->second = before->object;
  return objects_[known->second].name;
}

base::Status Recording::Reader::walk_named(const ProcessSet& chosen,
                                           const NamedVisitor& visit) {
  base::Status heads_status = base::Ok{};
  base::Status status =
      walk_states(chosen, [&](const ChangeRow& row, bool is_frame) {
        base::Result<const MappingHeads*> heads = heads_of(row.process);
        if (!heads) {
          heads_status = heads.error();
          return;
        }
        const MappingHead* head = (*heads)->find(row.no);
        auto trait = traits_.find(row.trait);
        if (!head || trait == traits_.end()) return;
        const model::RegionKind kind = trait->second.kind;
        visit(row, is_frame, kind, name_of(row.process, **heads, *head, kind));
      });
  return status ? heads_status : status;
}

base::Result<std::vector<model::Series>> Recording::Reader::series(
    const ProcessSet& chosen, uint64_t least_bytes) {
  base::Status status = load_details();
  if (!status) return status.error();
  SeriesSum sum(ticks_);
  for (const RecordedProcess& process : processes_) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  status =
      walk_named(chosen, [&](const ChangeRow& row, bool is_frame,
                             model::RegionKind kind, std::string_view name) {
        sum.add(row, is_frame, kind, std::string(name));
      });
  if (!status) return status.error();
  return sum.take(least_bytes);
}

base::Result<model::Bands> Recording::Reader::bands(
    const ProcessSet& chosen, std::span<const int64_t> ticks) {
  base::Status status = load_details();
  if (!status) return status.error();
  BandSum sum(ticks, has_swap_pss());
  for (const RecordedProcess& process : processes_) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  status = walk_named(
      chosen,
      [&](const ChangeRow& row, bool is_frame, model::RegionKind kind,
          std::string_view name) { sum.add(row, is_frame, kind, name); });
  if (!status) return status.error();
  return sum.take();
}

}  // namespace tidemark::store
