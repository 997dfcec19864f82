#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/shares.h"
#include "store/band_sum.h"
#include "store/counter_walk.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using model::RecordedProcess;

// A part begins with reading what stood before it, which costs as much as a
// thousand ticks or so.
constexpr size_t kLeastPartEpochs = 256;

TickRange range_of(std::span<const int64_t> ticks, int64_t first,
                   int64_t last) {
  const auto index = [&](auto found) {
    return static_cast<size_t>(found - ticks.begin());
  };
  return {index(std::ranges::lower_bound(ticks, first)),
          index(std::ranges::upper_bound(ticks, last))};
}

}  // namespace

// A reader of the same file for another thread, which may not use our
// connection. It knows the mappings alone.
base::Result<std::unique_ptr<Recording::Reader>> Recording::Reader::twin()
    const {
  base::Result<Database> database =
      Database::open(database_.path(), OpenMode::ReadOnly);
  if (!database) return database.error();
  auto reader = std::make_unique<Reader>(std::move(*database));
  reader->info_ = info_;
  reader->ticks_ = ticks_;
  reader->has_all_ticks_ = has_all_ticks_;
  base::Status status = reader->load_details();
  if (!status) return status.error();
  return reader;
}

// The tick that stands for a reading: where ticks were thinned out, the one
// that took it over.
int64_t Recording::Reader::kept_tick(int64_t tick) const {
  if (!has_all_ticks_) return tick;
  auto found =
      std::ranges::lower_bound(ticks_, tick, {}, &model::RecordedTick::id);
  return found == ticks_.end() ? tick : found->id;
}

Recording::Reader::RowNamer Recording::Reader::row_namer(base::Status& status) {
  return [this, &status](
             const ChangeRow& row,
             model::RegionKind kind) -> std::optional<std::string_view> {
    base::Result<const MappingHeads*> heads = heads_of(row.process);
    if (!heads) {
      status = heads.error();
      return std::nullopt;
    }
    const MappingHead* head = (*heads)->find(row.no);
    if (!head) return std::nullopt;
    return name_of(row.process, **heads, *head, kind);
  };
}

// What stood before the part begins.
base::Status Recording::Reader::begin_bands(const BandPart& part,
                                            CounterWalk& counters,
                                            BandSum& sum) {
  const int64_t before = part.first - 1;
  std::map<int64_t, model::Process> living;
  ProcessSet ids;
  for (const RecordedProcess& process : part.processes) {
    if (!lives_at(process, before)) continue;
    if (!part.chosen.empty() && !part.chosen.contains(process.id)) continue;
    living[process.id];
    ids.insert(process.id);
  }
  base::Status status = visit_newest(before, ids, [&](const ChangeRow& row) {
    auto trait = traits_.find(row.trait);
    if (trait != traits_.end()) sum.add(row, false, trait->second.kind);
  });
  if (status) status = fill_counters(base_of(before), before, living);
  if (status) status = fill_states(base_of(before), before, living);
  if (!status) return status;
  for (const auto& [id, process] : living) {
    counters.begin(id, process);
    base::Result<std::optional<int64_t>> read = detail_tick(id, before);
    if (!read) return read.error();
    std::optional<model::ResidentCounters> then;
    if (*read) {
      base::Result<std::optional<model::ResidentCounters>> found =
          counters_at(database_, info_.page_size_bytes, id, **read);
      if (!found) return found.error();
      then = *found;
    }
    sum.begin(id, *read, then,
              model::resident_counters(process, info_.page_size_bytes));
  }
  return base::Ok{};
}

base::Result<std::vector<model::Band>> Recording::Reader::sum_bands(
    const BandPart& part) {
  base::Status naming = base::Ok{};
  std::map<int64_t, DetailCursor> cursors;
  for (const auto& [process, plan] : plans_)
    cursors.emplace(process, DetailCursor(plan));
  BandOptions options;
  options.ticks = part.ticks;
  options.range = range_of(part.ticks, part.first, part.last);
  options.has_swap_pss = has_swap_pss();
  options.detail_tick = [&](int64_t process,
                            int64_t tick) -> std::optional<int64_t> {
    auto found = cursors.find(process);
    if (found == cursors.end()) return std::nullopt;
    const std::optional<int64_t> last = found->second.last(tick);
    return last ? std::optional(std::min(tick, kept_tick(*last))) : last;
  };
  if (part.names == BandNames::All) options.name_of = row_namer(naming);
  BandSum sum(std::move(options));
  for (const RecordedProcess& process : part.processes) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  base::Result<CounterWalk> counters = CounterWalk::prepare(
      database_, info_.page_size_bytes, part.chosen, part.first, part.last);
  if (!counters) return counters.error();
  base::Status status = base::Ok{};
  if (part.first > 0) status = begin_bands(part, *counters, sum);
  const auto take_counters = [&](int64_t tick) {
    if (!status) return;
    status = counters->until(
        tick, [&](int64_t process, int64_t at,
                  const std::optional<model::ResidentCounters>& now) {
          sum.set_counters(process, at, now);
        });
  };
  if (status) {
    base::Status walked =
        walk_states(part.chosen, part.first, part.last,
                    [&](const ChangeRow& row, bool is_frame,
                        std::optional<model::RegionKind> kind) {
                      take_counters(row.tick);
                      if (kind) sum.add(row, is_frame, *kind);
                    });
    if (status) status = walked;
  }
  take_counters(part.last);
  if (status) status = naming;
  if (!status) return status.error();
  return sum.take();
}

base::Result<std::vector<model::SharedLimits>> Recording::Reader::shared_limits(
    std::span<const int64_t> ticks) {
  std::vector<model::SharedLimits> limits;
  base::Result<Statement> rows = database_.prepare(
      "SELECT tick, mapped, shmem FROM machine_sample ORDER BY tick");
  if (!rows) return rows.error();
  model::SharedLimits last;
  base::Status status = for_each(*rows, [&] {
    while (limits.size() < ticks.size() &&
           ticks[limits.size()] < rows->integer(0)) {
      limits.push_back(last);
    }
    last = {bytes_of(*rows, 1), bytes_of(*rows, 2)};
  });
  if (!status) return status.error();
  limits.resize(ticks.size(), last);
  return limits;
}

base::Result<model::Bands> Recording::Reader::bands(
    const ProcessSet& chosen, std::span<const int64_t> ticks) {
  return bands_at(chosen, ticks, BandNames::All);
}

base::Result<model::Bands> Recording::Reader::bands_at(
    const ProcessSet& chosen, std::span<const int64_t> ticks, BandNames names) {
  base::Status status = check_all_ticks();
  if (status) status = load_details();
  if (!status) return status.error();
  using Part = base::Result<std::vector<model::Band>>;
  std::mutex mutex;
  std::map<size_t, std::pair<TickRange, Part>> parts;  // by the first epoch
  const size_t epoch_count =
      static_cast<size_t>(last_tick() / kTicksPerEpoch) + 1;
  const auto sum_part = [&](size_t begin, size_t end) {
    const BandPart part = {
        chosen,
        ticks,
        processes_,
        names,
        static_cast<int64_t>(begin) * kTicksPerEpoch,
        std::min(static_cast<int64_t>(end) * kTicksPerEpoch - 1, last_tick())};
    const auto summed = [&]() -> Part {
      if (begin == 0) return sum_bands(part);
      base::Result<std::unique_ptr<Reader>> other = twin();
      if (!other) return other.error();
      return (*other)->sum_bands(part);
    };
    Part bands = summed();
    const std::lock_guard lock(mutex);
    parts.emplace(begin, std::pair(range_of(ticks, part.first, part.last),
                                   std::move(bands)));
  };
  // While it grows, another connection would see another state of the file.
  if (database_.is_unchanging()) {
    base::in_shares(epoch_count, kLeastPartEpochs, sum_part);
  } else {
    sum_part(0, epoch_count);
  }
  BandJoin all;
  for (auto& [begin, part] : parts) {
    if (!part.second) return part.second.error();
    all.add(std::move(*part.second), part.first);
  }
  model::Bands bands = all.take();
  base::Result<std::vector<model::SharedLimits>> limits = shared_limits(ticks);
  if (!limits) return limits.error();
  limit_shared(*limits, bands);
  return bands;
}

}  // namespace tidemark::store
