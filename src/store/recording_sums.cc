#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "base/units.h"
#include "store/recording_reader.h"
#include "store/schema.h"
#include "store/trace_schema.h"

namespace tidemark::store {
namespace {

using model::RecordedProcess;

constexpr int64_t kMostResidentKib = int64_t{1} << 42;
// More than any machine has, and its bytes are still a number.
constexpr uint64_t kMostTracedPages = uint64_t{1} << 42;

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

base::Status Recording::Reader::walk_states(const ProcessSet& chosen,
                                            int64_t first, int64_t last,
                                            const StateVisitor& visit) {
  base::Result<ChangeWalk> walk =
      ChangeWalk::prepare(database_,
                          chosen.size() == 1 ? std::optional(*chosen.begin())
                                             : std::optional<int64_t>(),
                          ChangeColumns::Sums);
  if (!walk) return walk.error();
  struct Frames {
    const std::vector<int64_t>* ticks = nullptr;
    size_t next = 0;
  };
  base::NumberMap<Frames> frames_of;
  for (const auto& [process, ticks] : keyframes_)
    frames_of[process].ticks = &ticks;
  base::NumberMap<model::RegionKind> kind_of;
  for (const auto& [trait, what] : traits_)
    kind_of[trait] = what.kind;
  return walk->walk(first, last, [&](const ChangeRow& row) {
    if (!chosen.empty() && !chosen.contains(row.process)) return;
    bool is_frame_start = false;
    if (Frames* frames = frames_of.find(row.process)) {
      while (frames->next < frames->ticks->size() &&
             (*frames->ticks)[frames->next] <= row.tick) {
        is_frame_start |= (*frames->ticks)[frames->next] == row.tick;
        ++frames->next;
      }
    }
    const model::RegionKind* kind = kind_of.find(row.trait);
    visit(row, is_frame_start, kind ? std::optional(*kind) : std::nullopt);
  });
}

base::Status Recording::Reader::sum_counters(const ProcessSet& chosen,
                                             CounterSum& sum) {
  for (const RecordedProcess& process : processes_) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  const auto is_chosen = [&](int64_t process) {
    return chosen.empty() || chosen.contains(process);
  };
  base::Status status = database_.set_filter(
      "take_resident", 4, [&](std::span<const int64_t> row) {
        if (!is_chosen(row[1])) return false;
        const int64_t kib = std::clamp<int64_t>(row[3], 0, kMostResidentKib);
        // Unsigned: a damaged file may say anything.
        const uint64_t tick = static_cast<uint64_t>(row[0]) * kTicksPerEpoch +
                              static_cast<uint64_t>(row[2]);
        sum.set_resident(row[1], static_cast<int64_t>(tick),
                         kib * static_cast<int64_t>(base::kKib));
        return false;
      });
  if (!status) return status;
  status = database_.execute(
      "SELECT epoch FROM proc_counter WHERE "
      "take_resident(epoch, process, tick, resident)");
  if (!status) return status;
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, state FROM proc_status");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    if (!is_chosen(rows->integer(0))) return;
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

// Where it was not read it stands as it was read last.
base::Status Recording::Reader::read_traced(model::Timeline& timeline) {
  base::Result<bool> has_trace = has_trace_section(database_);
  if (!has_trace) return has_trace.error();
  if (!*has_trace) return base::Ok{};
  base::Result<model::Trace> head = read_trace_head();
  if (!head) return head.error();
  base::Result<Statement> rows =
      database_.prepare("SELECT tick, pages FROM trace_tick ORDER BY tick");
  if (!rows) return rows.error();
  auto point = timeline.points.begin();
  std::optional<uint64_t> bytes;
  const auto fill_until = [&](int64_t tick) {
    for (; point != timeline.points.end() && point->tick < tick; ++point)
      point->traced_bytes = bytes;
  };
  base::Status status = for_each(*rows, [&] {
    fill_until(rows->integer(0));
    bytes = std::clamp<uint64_t>(static_cast<uint64_t>(rows->integer(1)), 0,
                                 kMostTracedPages) *
            head->page_size_bytes;
  });
  fill_until(std::numeric_limits<int64_t>::max());
  return status;
}

// The sums over all processes are stored as they were written: no mapping needs
// to be looked at. Told in order of ticks, where they changed.
base::Status Recording::Reader::walk_categories(const CategoryVisitor& visit) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT tick, category, rss, pss, private, swap, bounded, estimated "
      "FROM proc_category ORDER BY tick");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    const std::optional<model::Category> category =
        model::category_from_token(rows->text(1));
    if (!category) return;
    model::BandShares shares;
    shares.rss_bytes = bytes_of(*rows, 2).value_or(0);
    shares.pss_bytes = bytes_of(*rows, 3).value_or(0);
    shares.private_bytes = bytes_of(*rows, 4).value_or(0);
    shares.swap_bytes = bytes_of(*rows, 5).value_or(0);
    shares.bounded_bytes = bytes_of(*rows, 6).value_or(0);
    shares.estimated_bytes = bytes_of(*rows, 7).value_or(0);
    visit(rows->integer(0), *category, shares);
  });
}

base::Result<model::Timeline> Recording::Reader::whole_timeline() {
  CategoryTimeline sums(ticks_);
  base::Status status =
      walk_categories([&](int64_t tick, model::Category category,
                          const model::BandShares& shares) {
        sums.set(tick, category, shares);
      });
  if (!status) return status.error();
  return sums.take();
}

base::Result<std::vector<model::Band>> Recording::Reader::kinds(
    std::span<const int64_t> ticks) {
  base::Status status = check_all_ticks();
  if (!status) return status.error();
  if (!has_best_sums_) {
    base::Result<model::Bands> bands = this->bands({}, ticks);
    if (!bands) return bands.error();
    return std::move(bands->by_process);
  }
  std::array<model::Band, model::kCategoryCount> bands;
  status = walk_categories([&](int64_t tick, model::Category category,
                               const model::BandShares& shares) {
    // It belongs to the first asked tick that knows of it; the last wins.
    const auto at = std::ranges::lower_bound(ticks, tick);
    if (at == ticks.end()) return;
    model::Band& band = bands[static_cast<size_t>(category)];
    band.category = category;
    const auto index = static_cast<size_t>(at - ticks.begin());
    if (!band.points.empty() && band.points.back().tick_index == index) {
      band.points.pop_back();
    }
    band.points.push_back({index, shares});
  });
  if (!status) return status.error();
  std::vector<model::Band> told;
  for (model::Band& band : bands) {
    const auto is_same = [](const model::BandPoint& one,
                            const model::BandPoint& next) {
      return one.shares == next.shares;
    };
    band.points.erase(
        std::unique(band.points.begin(), band.points.end(), is_same),
        band.points.end());
    if (!band.points.empty()) told.push_back(std::move(band));
  }
  return told;
}

// Of the bands of its processes, at every tick.
base::Result<model::Timeline> Recording::Reader::chosen_timeline(
    const ProcessSet& chosen) {
  std::vector<int64_t> ticks;
  for (const model::RecordedTick& tick : ticks_)
    ticks.push_back(tick.id);
  base::Result<model::Bands> bands =
      bands_at(chosen, ticks, BandNames::ByProcessAlone);
  if (!bands) return bands.error();
  CategoryTimeline sums(ticks_);
  BandSteps steps(bands->by_process);
  std::vector<uint32_t> bounded_counts(ticks_.size());
  for (size_t i = 0; i < ticks_.size(); ++i) {
    for (const auto& [category, shares] : steps.changed_at(i))
      sums.set(ticks_[i].id, category, shares);
    bounded_counts[i] = steps.bounded_process_count();
  }
  model::Timeline timeline = sums.take();
  for (size_t i = 0; i < ticks_.size(); ++i)
    timeline.points[i].undetailed_count = bounded_counts[i];
  return timeline;
}

base::Result<model::Timeline> Recording::Reader::timeline(
    const ProcessSet& chosen) {
  base::Status status = check_all_ticks();
  if (!status) return status.error();
  base::Result<model::Timeline> timeline = chosen.empty() && has_best_sums_
                                               ? whole_timeline()
                                               : chosen_timeline(chosen);
  if (!timeline) return timeline.error();
  CounterSum counters(ticks_);
  status = sum_counters(chosen, counters);
  if (!status) return status.error();
  counters.fill(timeline->points);
  for (size_t i = 0; i < ticks_.size(); ++i) {
    model::TimelinePoint& point = timeline->points[i];
    if (chosen.empty()) {
      point.undetailed_count =
          static_cast<uint32_t>(ticks_[i].undetailed_count);
      point.scanned_count = static_cast<uint32_t>(ticks_[i].scanned_count);
    }
  }
  status = read_available(*timeline);
  if (status) status = read_traced(*timeline);
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

}  // namespace tidemark::store
