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
  base::Status status = reader->load_details();
  if (!status) return status.error();
  return reader;
}

base::Result<std::vector<model::Band>> Recording::Reader::sum_bands(
    const BandPart& part) {
  base::Status naming = base::Ok{};
  BandSum sum(part.ticks, range_of(part.ticks, part.first, part.last),
              has_swap_pss(), row_namer(naming));
  for (const RecordedProcess& process : part.processes) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  base::Status status = base::Ok{};
  if (part.first > 0) {
    ProcessSet living;
    for (const RecordedProcess& process : part.processes) {
      if (!lives_at(process, part.first - 1)) continue;
      if (!part.chosen.empty() && !part.chosen.contains(process.id)) continue;
      living.insert(process.id);
    }
    status = visit_newest(part.first - 1, living, [&](const ChangeRow& row) {
      auto trait = traits_.find(row.trait);
      if (trait != traits_.end()) sum.add(row, false, trait->second.kind);
    });
  }
  if (status) {
    status = walk_states(part.chosen, part.first, part.last,
                         [&](const ChangeRow& row, bool is_frame,
                             std::optional<model::RegionKind> kind) {
                           if (kind) sum.add(row, is_frame, *kind);
                         });
  }
  if (status) status = naming;
  if (!status) return status.error();
  return sum.take();
}

base::Result<model::Bands> Recording::Reader::bands(
    const ProcessSet& chosen, std::span<const int64_t> ticks) {
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
        chosen, ticks, processes_, static_cast<int64_t>(begin) * kTicksPerEpoch,
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
  return all.take();
}

}  // namespace tidemark::store
