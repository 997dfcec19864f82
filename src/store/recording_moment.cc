#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/number_map.h"
#include "base/units.h"
#include "store/machine_rows.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using model::Process;
using model::RecordedProcess;
using model::Sample;

// A moment, and one before it to compare with.
constexpr size_t kMostMoments = 2;

}  // namespace

int64_t base_of(int64_t tick) {
  return tick / kTicksPerBase * kTicksPerBase;
}

void fill_times(const model::RecordedTick& tick, Sample& sample) {
  sample.started_realtime_ns = tick.realtime_ns;
  sample.started_monotonic_ns = tick.monotonic_ns;
  sample.ended_monotonic_ns = tick.monotonic_ns + tick.read_ns;
  sample.is_new_high = tick.is_new_high;
}

void fill_head(const RecordedProcess& recorded, int64_t tick,
               Process& process) {
  process.id = recorded.process;
  process.stat.pid = recorded.process.pid;
  process.stat.start_ticks = recorded.process.start_ticks;
  auto image = std::ranges::upper_bound(recorded.images, tick, {},
                                        &model::RecordedImage::from_tick);
  if (image == recorded.images.begin()) return;
  --image;
  process.stat.comm = image->comm;
  process.stat.parent_pid = image->parent_pid;
  process.executable = model::known(image->executable);
  process.command_line = image->command_line;
  process.cgroup_path = image->cgroup_path;
  process.status.user_id = image->user_id;
  process.tier = model::DetailTier::Counters;
}

bool lives_at(const RecordedProcess& process, int64_t tick) {
  return process.first_tick <= tick &&
         (!process.gone_at_tick || *process.gone_at_tick > tick);
}

base::Status Recording::Reader::fill_counters(
    int64_t base_tick, int64_t tick, std::map<int64_t, Process>& processes) {
  // The newest of each process is what counts, so they are read first and the
  // rest, once all are known, not at all.
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, resident, shared, minor_faults, "
      "major_faults FROM proc_counter WHERE epoch BETWEEN ? AND ? "
      "ORDER BY epoch DESC, process DESC, tick DESC");
  if (!rows) return rows.error();
  rows->bind(0, base_tick / kTicksPerEpoch);
  rows->bind(1, tick / kTicksPerEpoch);
  const auto pages = [&](int column) {
    return static_cast<uint64_t>(rows->integer(column)) * base::kKib /
           info_.page_size_bytes;
  };
  std::unordered_set<int64_t> unknown;
  for (const auto& [id, process] : processes)
    unknown.insert(id);
  while (!unknown.empty()) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) break;
    const int64_t at = rows->integer(1);
    if (at > tick || at < base_tick) continue;
    const int64_t id = rows->integer(0);
    if (unknown.erase(id) == 0) continue;
    Process& process = processes.at(id);
    process.statm.reset();
    if (!rows->is_null(2)) {
      process.statm = model::Statm();
      process.statm->resident_pages = pages(2);
      process.statm->shared_pages = pages(3);
    }
    process.stat.minor_fault_count = static_cast<uint64_t>(rows->integer(4));
    process.stat.major_fault_count = static_cast<uint64_t>(rows->integer(5));
  }
  return base::Ok{};
}

base::Status Recording::Reader::fill_states(
    int64_t base_tick, int64_t tick, std::map<int64_t, Process>& processes) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, state, t.value, size, text, data, "
      "threads, high_mark, swap, page_table, hugetlb, locked, rss_anon, "
      "rss_file, rss_shmem, oom_score, oom_score_adjustment FROM proc_status s "
      "LEFT JOIN text t ON t.id = s.because WHERE epoch BETWEEN ? AND ? "
      "ORDER BY epoch, process, tick");
  if (!rows) return rows.error();
  rows->bind(0, base_tick / kTicksPerEpoch);
  rows->bind(1, tick / kTicksPerEpoch);
  const auto pages = [&](int column) {
    return bytes_of(*rows, column).value_or(0) / info_.page_size_bytes;
  };
  return for_each(*rows, [&] {
    auto found = processes.find(rows->integer(0));
    if (found == processes.end() || rows->integer(1) > tick ||
        rows->integer(1) < base_tick) {
      return;
    }
    Process& process = found->second;
    process.state = static_cast<model::ProcessState>(rows->integer(2));
    process.mappings.unknown_because = rows->text(3);
    // Whether statm is known at all is told with the counters.
    if (process.statm && !rows->is_null(4)) {
      process.statm->size_pages = pages(4);
      process.statm->text_pages = pages(5);
      process.statm->data_pages = pages(6);
    }
    process.stat.thread_count = static_cast<uint64_t>(rows->integer(7));
    model::ProcessStatus& status = process.status;
    status.thread_count = process.stat.thread_count;
    status.peak_rss_bytes = bytes_of(*rows, 8);
    status.swap_bytes = bytes_of(*rows, 9);
    status.page_table_bytes = bytes_of(*rows, 10);
    status.hugetlb_bytes = bytes_of(*rows, 11);
    status.locked_bytes = bytes_of(*rows, 12);
    status.rss_anon_bytes = bytes_of(*rows, 13);
    status.rss_file_bytes = bytes_of(*rows, 14);
    status.rss_shmem_bytes = bytes_of(*rows, 15);
    process.oom_score = rows->maybe_integer(16);
    process.oom_score_adjustment = rows->maybe_integer(17);
  });
}

base::Result<Process> Recording::Reader::make_process(
    const std::vector<const ChangeRow*>& rows, int64_t process_id,
    Process process) {
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

// One of the two instants that are asked for together, the later one first.
struct Recording::Reader::Moment {
  int64_t tick = 0;
  Sample sample;
  std::map<int64_t, Process> processes;
};

// What the changes of one process say of each moment.
struct Recording::Reader::MappingState {
  // Rows of these ticks, both included, tell of the moment: from its keyframe
  // on.
  struct Span {
    int64_t first = 0;
    int64_t last = -1;
  };
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
  const auto whole_span = [](const MappingState& state) {
    MappingState::Span whole = {std::numeric_limits<int64_t>::max(), -1};
    for (const MappingState::Span& span : state.spans) {
      if (span.last < span.first) continue;
      whole.first = std::min(whole.first, span.first);
      whole.last = std::max(whole.last, span.last);
    }
    return whole;
  };
  MappingState::Span all = whole_span(states.begin()->second);
  int64_t told_ticks = 0;
  for (const auto& [id, state] : states) {
    const MappingState::Span whole = whole_span(state);
    all.first = std::min(all.first, whole.first);
    all.last = std::max(all.last, whole.last);
    told_ticks += whole.last - whole.first + 1;
  }
  // One pass is cheaper than a seek for each process and epoch, unless much of
  // what it reads lies before the keyframes of most.
  constexpr size_t kFew = 4;
  const int64_t passed_ticks =
      (all.last - all.first + 1) * static_cast<int64_t>(states.size());
  if (states.size() > kFew && passed_ticks / 2 <= told_ticks) {
    return walk_newest_first(database_, {}, all.first, all.last, is_wanted,
                             take);
  }
  for (const auto& [id, state] : states) {
    const MappingState::Span whole = whole_span(state);
    base::Status status = walk_newest_first(database_, id, whole.first,
                                            whole.last, is_wanted, take);
    if (!status) return status;
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

base::Status Recording::Reader::fill_mappings(std::vector<Moment>& moments) {
  std::map<int64_t, MappingState> states;
  for (size_t i = 0; i < moments.size(); ++i) {
    const Moment& moment = moments[i];
    for (const auto& [id, start] :
         keyframes_before(moment.tick, moment.processes)) {
      states[id].spans[i] = {start, moment.tick};
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
      Process& process = moments[i].processes[id];
      base::Result<Process> made =
          make_process(state.rows_at(i), id, std::move(process));
      if (!made) return made.error();
      process = std::move(*made);
      fill_tier(moments[i].tick, id, process);
    }
  }
  return base::Ok{};
}

void Recording::Reader::fill_tier(int64_t tick, int64_t id, Process& process) {
  auto plan = plans_.find(id);
  if (plan == plans_.end()) return;
  const std::optional<DetailReading> reading = plan->second.last(tick);
  if (reading) process.tier = reading->tier;
}

base::Status Recording::Reader::fill_machine_at(int64_t tick, Sample& sample) {
  base::Result<Statement> rows =
      database_.prepare("SELECT * FROM machine_sample WHERE tick = ?");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  return for_each(*rows, [&] {
    MachineRow row;
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = rows->maybe_integer(static_cast<int>(i) + 1);
    sample.machine = model::Machine();
    sample.machine->page_size_bytes = info_.page_size_bytes;
    fill_machine(row, *sample.machine);
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
    group.path = rows->text(0);
    group.inode_id = static_cast<uint64_t>(rows->integer(1));
    CgroupRow row;
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = rows->maybe_integer(static_cast<int>(i) + 5);
    fill_cgroup(row, group);
    if (row == CgroupRow()) {
      ended.insert(group.path);
    } else {
      ended.erase(group.path);
    }
  });
  for (auto& [path, group] : groups) {
    if (!ended.contains(path)) sample.cgroups.push_back(std::move(group));
  }
  return status;
}

base::Result<Recording::Reader::Moment> Recording::Reader::begin_moment(
    int64_t tick, const ProcessSet& chosen) {
  auto found =
      std::ranges::lower_bound(ticks_, tick, {}, &model::RecordedTick::id);
  if (found == ticks_.end() || found->id != tick) {
    return base::fail(base::ErrorKind::NotFound,
                      database_.path() + ": no tick " + std::to_string(tick));
  }
  Moment moment;
  moment.tick = tick;
  fill_times(*found, moment.sample);
  for (const RecordedProcess& recorded : processes_) {
    if (!lives_at(recorded, tick)) continue;
    if (!chosen.empty() && !chosen.contains(recorded.id)) continue;
    fill_head(recorded, tick, moment.processes[recorded.id]);
  }
  base::Status status = fill_counters(base_of(tick), tick, moment.processes);
  if (status) status = fill_states(base_of(tick), tick, moment.processes);
  if (status) status = fill_machine_at(tick, moment.sample);
  if (status) status = fill_cgroups_at(tick, moment.sample);
  if (!status) return status.error();
  return moment;
}

base::Result<std::vector<Sample>> Recording::Reader::samples_at(
    std::span<const int64_t> ticks, const ProcessSet& chosen) {
  base::Status status = load_details();
  if (!status) return status.error();
  std::vector<Moment> moments;
  for (int64_t tick : ticks) {
    base::Result<Moment> moment = begin_moment(tick, chosen);
    if (!moment) return moment.error();
    moments.push_back(std::move(*moment));
  }
  status = fill_mappings(moments);
  if (!status) return status.error();
  std::vector<Sample> samples;
  for (Moment& moment : moments) {
    for (auto& [id, process] : moment.processes)
      moment.sample.processes.push_back(std::move(process));
    samples.push_back(std::move(moment.sample));
  }
  return samples;
}

base::Result<Sample> Recording::Reader::sample_at(int64_t tick,
                                                  const ProcessSet& chosen) {
  base::Result<std::vector<Sample>> samples =
      samples_at(std::array{tick}, chosen);
  if (!samples) return samples.error();
  return std::move(samples->front());
}

base::Result<Recording::Pair> Recording::Reader::pair_at(
    int64_t tick, int64_t earlier_tick, const ProcessSet& chosen) {
  base::Result<std::vector<Sample>> samples =
      samples_at(std::array{tick, earlier_tick}, chosen);
  if (!samples) return samples.error();
  return Pair{std::move((*samples)[0]), std::move((*samples)[1])};
}

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
    int64_t tick, const std::map<int64_t, Process>& processes) const {
  std::map<int64_t, int64_t> starts;
  for (const auto& [id, process] : processes) {
    const std::optional<int64_t> start = keyframe_before(tick, id);
    if (start) starts[id] = *start;
  }
  return starts;
}

}  // namespace tidemark::store
