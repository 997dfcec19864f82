#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "store/machine_rows.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using model::Process;
using model::RecordedProcess;
using model::Sample;

constexpr uint64_t kKib = 1024;

int64_t base_of(int64_t tick) {
  return tick / kTicksPerBase * kTicksPerBase;
}

void fill_times(const model::RecordedTick& tick, Sample& sample) {
  sample.started_realtime_ns = tick.realtime_ns;
  sample.started_monotonic_ns = tick.monotonic_ns;
  sample.ended_monotonic_ns = tick.monotonic_ns + tick.read_ns;
  sample.is_new_high = tick.is_new_high;
}

// Who it is, and under which name at that tick.
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

}  // namespace

base::Status Recording::Reader::fill_counters(
    int64_t base_tick, int64_t tick, std::map<int64_t, Process>& processes) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, resident, shared, minor_faults, "
      "major_faults FROM proc_counter WHERE epoch BETWEEN ? AND ? "
      "ORDER BY epoch, process, tick");
  if (!rows) return rows.error();
  rows->bind(0, base_tick / kTicksPerEpoch);
  rows->bind(1, tick / kTicksPerEpoch);
  return for_each(*rows, [&] {
    auto found = processes.find(rows->integer(0));
    if (found == processes.end() || rows->integer(1) > tick ||
        rows->integer(1) < base_tick) {
      return;
    }
    Process& process = found->second;
    process.statm.reset();
    if (!rows->is_null(2)) {
      process.statm = model::Statm();
      process.statm->resident_pages = static_cast<uint64_t>(rows->integer(2)) *
                                      kKib / info_.page_size_bytes;
      process.statm->shared_pages = static_cast<uint64_t>(rows->integer(3)) *
                                    kKib / info_.page_size_bytes;
    }
    process.stat.minor_fault_count = static_cast<uint64_t>(rows->integer(4));
    process.stat.major_fault_count = static_cast<uint64_t>(rows->integer(5));
  });
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
  base::Result<const Heads*> heads = heads_of(process_id);
  if (!heads) return heads.error();
  struct Headed {
    const MappingHead* head;
    const ChangeRow* row;
  };
  std::vector<Headed> headed;
  headed.reserve(rows.size());
  for (const ChangeRow* row : rows) {
    auto head = (*heads)->find(row->no);
    if (head == (*heads)->end()) return damaged("a mapping without its head");
    headed.push_back({&head->second, row});
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
    mapping.end_address =
        mapping.start_address + static_cast<uint64_t>(row->size_kib) * kKib;
    mapping.offset_bytes = head->offset_bytes;
    const Object& object = objects_[head->object];
    mapping.device_major = object.device_major;
    mapping.device_minor = object.device_minor;
    mapping.inode_id = object.inode_id;
    mapping.name = object.name;
    fill_fields(*row, info_.smaps_fields, mapping.fields);
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

// What the changes since the last keyframe of a process say.
struct Recording::Reader::MappingState {
  struct Newest {
    int64_t tick = -1;
    std::optional<size_t> index;  // into rows; empty: ended, or not read yet
  };
  int64_t start = 0;
  std::unordered_map<int64_t, Newest> seen;  // by the number of the mapping
  std::vector<ChangeRow> rows;

  // Right in any order, cheapest when the newest comes first.
  bool wants(const ChangeKey& key) {
    Newest& newest = seen[key.no];
    if (key.tick < start || key.tick <= newest.tick) return false;
    newest.tick = key.tick;
    return true;
  }
  void take(const ChangeRow& row) {
    Newest& newest = seen[row.no];
    if (row.tick != newest.tick) return;
    newest.index.reset();
    if (row.is_end()) return;
    newest.index = rows.size();
    rows.push_back(row);
  }
};

// True when a pass over all rows between two ticks would read much that newer
// keyframes repeat.
bool Recording::Reader::has_many_keyframes(int64_t first, int64_t last) const {
  size_t process_count = 0;
  size_t overtaken_count = 0;
  for (const auto& [id, frames] : keyframes_) {
    const auto count =
        static_cast<size_t>(std::ranges::upper_bound(frames, last) -
                            std::ranges::lower_bound(frames, first));
    if (count == 0) continue;
    ++process_count;
    overtaken_count += count - 1;
  }
  return overtaken_count > process_count / 4;
}

base::Status Recording::Reader::walk_to(
    int64_t tick, std::map<int64_t, MappingState>& states) {
  auto last_used = states.begin();  // rows come by process
  const auto is_wanted = [&](const ChangeKey& key) {
    if (last_used == states.end() || last_used->first != key.process) {
      last_used = states.find(key.process);
    }
    return last_used != states.end() && last_used->second.wants(key);
  };
  const auto take = [&](const ChangeRow& row) {
    states.at(row.process).take(row);
  };
  int64_t first = tick;
  for (const auto& [id, state] : states)
    first = std::min(first, state.start);
  // One pass is cheaper than a seek for each process and epoch, unless much of
  // what it reads is overtaken.
  constexpr size_t kFew = 4;
  if (states.size() > kFew && !has_many_keyframes(first, tick)) {
    return walk_newest_first(database_, {}, first, tick, is_wanted, take);
  }
  for (const auto& [id, state] : states) {
    base::Status status =
        walk_newest_first(database_, id, state.start, tick, is_wanted, take);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status Recording::Reader::fill_mappings(
    int64_t tick, std::map<int64_t, Process>& processes) {
  std::map<int64_t, MappingState> states;
  for (const auto& [id, start] : keyframes_before(tick, processes))
    states[id].start = start;
  if (states.empty()) return base::Ok{};
  base::Status status = walk_to(tick, states);
  if (!status) return status;
  for (const auto& [id, state] : states) {
    if (state.seen.empty()) continue;
    std::vector<const ChangeRow*> rows;
    for (const auto& [no, newest] : state.seen) {
      if (newest.index) rows.push_back(&state.rows[*newest.index]);
    }
    base::Result<Process> made =
        make_process(rows, id, std::move(processes[id]));
    if (!made) return made.error();
    processes[id] = std::move(*made);
    fill_tier(tick, id, processes[id]);
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

base::Result<Sample> Recording::Reader::sample_at(int64_t tick,
                                                  const ProcessSet& chosen) {
  base::Status status = load_details();
  if (!status) return status.error();
  auto found =
      std::ranges::lower_bound(ticks_, tick, {}, &model::RecordedTick::id);
  if (found == ticks_.end() || found->id != tick) {
    return base::fail(base::ErrorKind::NotFound,
                      database_.path() + ": no tick " + std::to_string(tick));
  }
  Sample sample;
  fill_times(*found, sample);
  std::map<int64_t, Process> processes;
  for (const RecordedProcess& recorded : processes_) {
    if (!lives_at(recorded, tick)) continue;
    if (!chosen.empty() && !chosen.contains(recorded.id)) continue;
    fill_head(recorded, tick, processes[recorded.id]);
  }
  status = fill_counters(base_of(tick), tick, processes);
  if (status) status = fill_states(base_of(tick), tick, processes);
  if (status) status = fill_mappings(tick, processes);
  if (status) status = fill_machine_at(tick, sample);
  if (status) status = fill_cgroups_at(tick, sample);
  if (!status) return status.error();
  for (auto& [id, process] : processes)
    sample.processes.push_back(std::move(process));
  return sample;
}

// What is known of every process at the tick that was visited last.
struct Recording::Reader::WalkState {
  std::map<int64_t, const RecordedProcess*> chosen;
  std::map<int64_t, Process> processes;  // those that live
  std::map<int64_t, std::map<int64_t, ChangeRow>> mappings;
  std::set<int64_t> changed;  // since then
};

// Everything up to `first`, which is then visited like the others.
base::Status Recording::Reader::begin_walk(int64_t first,
                                           const ProcessSet& chosen,
                                           WalkState& state) {
  for (const RecordedProcess& recorded : processes_) {
    if (!chosen.empty() && !chosen.contains(recorded.id)) continue;
    state.chosen[recorded.id] = &recorded;
    if (!lives_at(recorded, first)) continue;
    fill_head(recorded, first, state.processes[recorded.id]);
  }
  base::Status status = fill_counters(base_of(first), first, state.processes);
  if (status) status = fill_states(base_of(first), first, state.processes);
  return status;
}

base::Status Recording::Reader::step_counters(int64_t tick, WalkState& state) {
  std::map<int64_t, model::Statm> before;
  for (const auto& [id, process] : state.processes) {
    if (process.statm) before[id] = *process.statm;
  }
  base::Status status = fill_counters(tick, tick, state.processes);
  // Counters tell two of its numbers; the others stand until a state is told.
  for (const auto& [id, statm] : before) {
    std::optional<model::Statm>& now = state.processes[id].statm;
    if (!now) continue;
    now->size_pages = statm.size_pages;
    now->text_pages = statm.text_pages;
    now->data_pages = statm.data_pages;
  }
  if (status) status = fill_states(tick, tick, state.processes);
  return status;
}

base::Status Recording::Reader::step_processes(int64_t tick, WalkState& state) {
  std::erase_if(state.processes, [&](const auto& entry) {
    return !lives_at(*state.chosen.at(entry.first), tick);
  });
  for (const auto& [id, recorded] : state.chosen) {
    if (!lives_at(*recorded, tick)) continue;
    fill_head(*recorded, tick, state.processes[id]);
  }
  base::Status status = step_counters(tick, state);
  if (!status) return status;
  for (int64_t id : std::exchange(state.changed, {})) {
    auto found = state.processes.find(id);
    if (found == state.processes.end()) continue;
    std::vector<const ChangeRow*> rows;
    for (const auto& [no, row] : state.mappings[id])
      rows.push_back(&row);
    base::Result<Process> made =
        make_process(rows, id, std::move(found->second));
    if (!made) return made.error();
    found->second = std::move(*made);
  }
  for (auto& [id, process] : state.processes) {
    if (!process.mappings) continue;
    fill_tier(tick, id, process);
    process.mappings.unknown_because.clear();
  }
  return base::Ok{};
}

base::Status Recording::Reader::emit_tick(int64_t tick,
                                          const SampleVisitor& visit,
                                          WalkState& state) {
  base::Status status = step_processes(tick, state);
  if (!status) return status;
  const model::RecordedTick& at = ticks_[static_cast<size_t>(tick)];
  Sample sample;
  fill_times(at, sample);
  status = fill_machine_at(tick, sample);
  if (!status) return status;
  // Lent for the length of the visit: most of them are the same at the next.
  for (auto& [id, process] : state.processes)
    sample.processes.push_back(std::move(process));
  status = visit(at, sample);
  size_t index = 0;
  for (auto& [id, process] : state.processes)
    process = std::move(sample.processes[index++]);
  return status;
}

// The last keyframe of each process that lives at the tick; rows before it tell
// nothing of it.
std::map<int64_t, int64_t> Recording::Reader::keyframes_before(
    int64_t tick, const std::map<int64_t, Process>& processes) const {
  std::map<int64_t, int64_t> starts;
  for (const auto& [id, process] : processes) {
    auto frames = keyframes_.find(id);
    if (frames == keyframes_.end()) continue;
    auto next = std::ranges::upper_bound(frames->second, tick);
    if (next != frames->second.begin()) starts[id] = *std::prev(next);
  }
  return starts;
}

base::Status Recording::Reader::walk_samples(int64_t first, int64_t last,
                                             const ProcessSet& chosen,
                                             const SampleVisitor& visit) {
  base::Status status = load_details();
  if (!status) return status;
  WalkState state;
  status = begin_walk(first, chosen, state);
  if (!status) return status;
  if (first < 0 || last >= static_cast<int64_t>(ticks_.size())) {
    return base::fail(base::ErrorKind::NotFound,
                      database_.path() + ": no such ticks");
  }
  const std::map<int64_t, int64_t> starts =
      keyframes_before(first, state.processes);
  int64_t begin = first;
  for (const auto& [id, start] : starts)
    begin = std::min(begin, start);
  int64_t next_tick = first;
  const auto emit_before = [&](int64_t tick) {
    while (status && next_tick < tick && next_tick <= last)
      status = emit_tick(next_tick++, visit, state);
  };
  std::map<int64_t, int64_t> frame_of;  // the last that was begun
  const auto take = [&](const ChangeRow& row) {
    if (!status || !state.chosen.contains(row.process)) return;
    auto start = starts.find(row.process);
    if (row.tick < (start == starts.end() ? first : start->second)) return;
    emit_before(row.tick);
    std::map<int64_t, ChangeRow>& rows = state.mappings[row.process];
    const auto frames = keyframes_.find(row.process);
    if (frames != keyframes_.end() && frame_of[row.process] != row.tick + 1 &&
        std::ranges::binary_search(frames->second, row.tick)) {
      frame_of[row.process] = row.tick + 1;
      rows.clear();
    }
    state.changed.insert(row.process);
    if (row.is_end()) {
      rows.erase(row.no);
    } else {
      rows.insert_or_assign(row.no, row);
    }
  };
  base::Result<ChangeWalk> walk = ChangeWalk::prepare(database_, {});
  if (!walk) return walk.error();
  base::Status walked = walk->walk(begin, last, take);
  emit_before(last + 1);
  return status ? walked : status;
}

}  // namespace tidemark::store
