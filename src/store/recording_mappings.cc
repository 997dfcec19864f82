#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/number_map.h"
#include "base/shares.h"
#include "base/units.h"
#include "store/recording_moment.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

// A moment, and one before it to compare with.
constexpr size_t kMostMoments = 2;

}  // namespace

// Rows before it tell nothing of the tick.
std::optional<int64_t> Recording::Reader::keyframe_before(
    int64_t tick, int64_t process) const {
  auto frames = keyframes_.find(process);
  if (frames == keyframes_.end()) return std::nullopt;
  auto next = std::ranges::upper_bound(frames->second, tick);
  if (next == frames->second.begin()) return std::nullopt;
  return *std::prev(next);
}

// Of each process that lives at the tick.
std::map<int64_t, int64_t> Recording::Reader::keyframes_before(
    int64_t tick, const std::map<int64_t, model::Process>& processes) const {
  std::map<int64_t, int64_t> starts;
  for (const auto& [id, process] : processes) {
    const std::optional<int64_t> start = keyframe_before(tick, id);
    if (start) starts[id] = *start;
  }
  return starts;
}

base::Result<model::Process> Recording::Reader::make_process(
    const std::vector<const ChangeRow*>& rows, int64_t process_id,
    model::Process process) {
  base::Result<const MappingHeads*> heads = heads_of(process_id);
  if (!heads) return heads.error();
  struct Headed {
    const MappingHead* head;
    const ChangeRow* row;
  };
  std::vector<Headed> headed;
  headed.reserve(rows.size());
  for (const ChangeRow* row : rows) {
    const MappingHead* head = (*heads)->find(row->no);
    if (!head) return damaged("a mapping without its head");
    headed.push_back({head, row});
  }
  // By address, as the kernel prints them: numbers follow time.
  std::ranges::sort(headed, {}, [](const Headed& mapping) {
    return std::pair(mapping.head->start_address, mapping.row->no);
  });
  std::vector<model::Mapping> mappings(headed.size());
  process.kinds.clear();
  model::SmapsFields sum;
  for (size_t i = 0; i < headed.size(); ++i) {
    const auto& [head, row] = headed[i];
    auto trait = traits_.find(row->trait);
    if (trait == traits_.end()) return damaged("a mapping without its traits");
    model::Mapping& mapping = mappings[i];
    mapping.start_address = head->start_address;
    mapping.end_address = mapping.start_address +
                          static_cast<uint64_t>(row->size_kib) * base::kKib;
    mapping.offset_bytes = head->offset_bytes;
    const Object& object = objects_[head->object];
    mapping.device_major = object.device_major;
    mapping.device_minor = object.device_minor;
    mapping.inode_id = object.inode_id;
    mapping.name = object.name;
    fill_fields(*row, present_, mapping.fields);
    mapping.permissions = trait->second.permissions;
    mapping.vm_flags = trait->second.vm_flags;
    mapping.is_thp_eligible = trait->second.is_thp_eligible;
    if (trait->second.kernel_page_bytes) {
      mapping.fields.set(model::SmapsField::KernelPageSize,
                         *trait->second.kernel_page_bytes);
    }
    if (trait->second.mmu_page_bytes) {
      mapping.fields.set(model::SmapsField::MmuPageSize,
                         *trait->second.mmu_page_bytes);
    }
    sum.add(mapping.fields);
    process.kinds.push_back(trait->second.kind);
  }
  process.mappings = model::known(std::move(mappings));
  process.rollup = model::known(sum);
  return process;
}

// Rows of these ticks, both included, tell of a moment: from its keyframe on.
struct Recording::Reader::Span {
  int64_t first = 0;
  int64_t last = -1;

  // Those that are not empty, the latest first; those that meet in an epoch are
  // one, since it would be read twice.
  static std::vector<Span> joined(const std::array<Span, kMostMoments>& spans);
};

// What the changes of one process say of each moment.
struct Recording::Reader::MappingState {
  struct Newest {
    int64_t tick = -1;
    std::optional<uint32_t> index;  // into rows; empty: ended, or not read yet
  };
  std::array<Span, kMostMoments> spans;
  // By the number of the mapping.
  base::NumberMap<std::array<Newest, kMostMoments>> seen;
  std::vector<ChangeRow> rows;

  // Right in any order, cheapest when the newest comes first.
  bool wants(const ChangeKey& key) {
    bool is_wanted = false;
    std::array<Newest, kMostMoments>& newest = seen[key.no];
    for (size_t i = 0; i < kMostMoments; ++i) {
      if (key.tick < spans[i].first || key.tick > spans[i].last ||
          key.tick <= newest[i].tick) {
        continue;
      }
      newest[i].tick = key.tick;
      is_wanted = true;
    }
    return is_wanted;
  }
  void take(const ChangeRow& row) {
    for (Newest& newest : seen[row.no]) {
      if (newest.tick != row.tick) continue;
      newest.index.reset();
      if (!row.is_end()) newest.index = static_cast<uint32_t>(rows.size());
    }
    if (!row.is_end()) rows.push_back(row);
  }
  std::vector<const ChangeRow*> rows_at(size_t moment) const {
    std::vector<const ChangeRow*> found;
    found.reserve(rows.size());
    seen.for_each([&](int64_t, const std::array<Newest, kMostMoments>& newest) {
      if (newest[moment].index) {
        found.push_back(&rows[*newest[moment].index]);
      }
    });
    return found;
  }
};

std::vector<Recording::Reader::Span> Recording::Reader::Span::joined(
    const std::array<Span, kMostMoments>& spans) {
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (span.first <= span.last) all.push_back(span);
  }
  std::ranges::sort(all, std::ranges::greater(), &Span::last);
  if (all.size() == 2 &&
      all[1].last / kTicksPerEpoch >= all[0].first / kTicksPerEpoch) {
    all[0].first = std::min(all[0].first, all[1].first);
    all.pop_back();
  }
  return all;
}

// What one pass over all of them has to read for each moment.
std::vector<Recording::Reader::Span> Recording::Reader::spans_of_all(
    const std::map<int64_t, MappingState>& states) {
  std::array<Span, kMostMoments> all;
  all.fill({std::numeric_limits<int64_t>::max(), -1});
  for (const auto& [id, state] : states) {
    for (size_t i = 0; i < kMostMoments; ++i) {
      const Span& span = state.spans[i];
      if (span.last < span.first) continue;
      all[i].first = std::min(all[i].first, span.first);
      all[i].last = std::max(all[i].last, span.last);
    }
  }
  return Span::joined(all);
}

base::Status Recording::Reader::walk_to(
    std::map<int64_t, MappingState>& states) {
  auto last_used = states.begin();  // rows come by process
  const auto is_wanted = [&](const ChangeKey& key) {
    if (last_used == states.end() || last_used->first != key.process) {
      last_used = states.find(key.process);
    }
    return last_used != states.end() && last_used->second.wants(key);
  };
  // Only what was just wanted is visited.
  const auto take = [&](const ChangeRow& row) { last_used->second.take(row); };
  int64_t told_ticks = 0;
  for (const auto& [id, state] : states) {
    for (const Span& span : Span::joined(state.spans))
      told_ticks += span.last - span.first + 1;
  }
  const std::vector<Span> passes = spans_of_all(states);
  int64_t passed_ticks = 0;
  for (const Span& pass : passes)
    passed_ticks += pass.last - pass.first + 1;
  passed_ticks *= static_cast<int64_t>(states.size());
  // One pass is cheaper than a seek for each process and epoch, unless much of
  // what it reads lies before the keyframes of most.
  constexpr size_t kFew = 4;
  if (states.size() > kFew && passed_ticks / 2 <= told_ticks) {
    const ProcessRange whole = {states.begin()->first, states.rbegin()->first};
    for (const Span& pass : passes) {
      base::Status status = walk_newest_first(database_, whole, pass.first,
                                              pass.last, is_wanted, take);
      if (!status) return status;
    }
    return base::Ok{};
  }
  for (const auto& [id, state] : states) {
    for (const Span& span : Span::joined(state.spans)) {
      base::Status status = walk_newest_first(database_, {id, id}, span.first,
                                              span.last, is_wanted, take);
      if (!status) return status;
    }
  }
  return base::Ok{};
}

base::Status Recording::Reader::visit_newest(
    int64_t tick, const ProcessSet& living,
    const std::function<void(const ChangeRow&)>& visit) {
  std::map<int64_t, MappingState> states;
  for (int64_t id : living) {
    const std::optional<int64_t> start = keyframe_before(tick, id);
    if (start) states[id].spans[0] = {*start, tick};
  }
  if (states.empty()) return base::Ok{};
  base::Status status = walk_to(states);
  if (!status) return status;
  for (const auto& [id, state] : states) {
    for (const ChangeRow* row : state.rows_at(0))
      visit(*row);
  }
  return base::Ok{};
}

// Each process is put together by itself, by threads where there are many: only
// where nobody writes, as for bands().
base::Status Recording::Reader::fill_mappings(std::vector<Moment>& moments) {
  ProcessSet all;
  for (const Moment& moment : moments) {
    for (const auto& [id, process] : moment.processes)
      all.insert(id);
  }
  const std::vector<int64_t> ids(all.begin(), all.end());
  std::mutex mutex;
  base::Status status = base::Ok{};
  const auto fill = [&](size_t begin, size_t end) {
    const std::span some(ids.begin() + static_cast<ptrdiff_t>(begin),
                         ids.begin() + static_cast<ptrdiff_t>(end));
    const auto filled = [&]() -> base::Status {
      if (begin == 0) return fill_mappings_of(some, moments);
      base::Result<std::unique_ptr<Reader>> other = twin();
      if (!other) return other.error();
      return (*other)->fill_mappings_of(some, moments);
    };
    base::Status done = filled();
    const std::lock_guard lock(mutex);
    if (status) status = std::move(done);
  };
  // Fewer are not worth another connection.
  constexpr size_t kLeastProcesses = 32;
  if (database_.is_unchanging()) {
    base::in_shares(ids.size(), kLeastProcesses, fill);
  } else {
    fill(0, ids.size());
  }
  return status;
}

base::Status Recording::Reader::fill_mappings_of(
    std::span<const int64_t> processes, std::vector<Moment>& moments) {
  std::map<int64_t, MappingState> states;
  for (int64_t id : processes) {
    for (size_t i = 0; i < moments.size(); ++i) {
      if (!moments[i].processes.contains(id)) continue;
      const std::optional<int64_t> start = keyframe_before(moments[i].tick, id);
      if (start) states[id].spans[i] = {*start, moments[i].tick};
    }
  }
  if (states.empty()) return base::Ok{};
  for (auto& [id, state] : states) {
    base::Result<const MappingHeads*> heads = heads_of(id);
    if (!heads) return heads.error();
    // Of those that were ever mapped most may be long gone.
    constexpr size_t kMostExpected = 4096;
    const size_t expected = std::min((*heads)->sorted.size(), kMostExpected);
    state.seen.reserve(expected);
    state.rows.reserve(expected * moments.size());
  }
  base::Status status = walk_to(states);
  if (!status) return status;
  for (size_t i = 0; i < moments.size(); ++i) {
    for (const auto& [id, state] : states) {
      if (state.spans[i].last < state.spans[i].first || state.seen.empty()) {
        continue;
      }
      model::Process& process = moments[i].processes.at(id);
      base::Result<model::Process> made =
          make_process(state.rows_at(i), id, std::move(process));
      if (!made) return made.error();
      process = std::move(*made);
      status = bring_to_tick(moments[i].tick, id, process);
      if (!status) return status;
    }
  }
  return base::Ok{};
}

}  // namespace tidemark::store
