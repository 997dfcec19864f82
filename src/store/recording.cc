#include "store/recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "store/change_walk.h"
#include "store/database.h"
#include "store/detail_plan.h"
#include "store/machine_rows.h"
#include "store/recording_info.h"
#include "store/schema.h"
#include "store/timeline_sum.h"

namespace tidemark::store {
namespace {

using model::Process;
using model::ProcessMaxima;
using model::RecordedProcess;
using model::Sample;

constexpr uint64_t kKib = 1024;
constexpr uint64_t kAddressUnit = 4096;
constexpr int64_t kMostResidentKib = int64_t{1} << 42;
constexpr int64_t kLastTick = int64_t{1} << 52;  // more than anybody waits for

std::optional<uint64_t> bytes_of(const Statement& rows, int column) {
  const std::optional<int64_t> kib = rows.maybe_integer(column);
  if (!kib) return std::nullopt;
  return static_cast<uint64_t>(*kib) * kKib;
}

// Calls `visit` for each row.
base::Status for_each(Statement& rows, const std::function<void()>& visit) {
  while (true) {
    base::Result<bool> row = rows.step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    visit();
  }
}

// A mapping's head, which never changes.
struct MappingHead {
  uint64_t start_address = 0;
  uint64_t offset_bytes = 0;
  int64_t object = 0;
};

struct Object {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;
  std::string name;
};

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

class Recording::Reader {
 public:
  explicit Reader(Database database) : database_(std::move(database)) {}

  base::Status load() {
    base::Status status = check_schema(database_);
    // One state of the file for as long as we look, also while it grows.
    if (status) status = database_.execute("BEGIN");
    if (!status) return status;
    base::Result<model::RecordingInfo> info = read_info(database_);
    if (!info) return info.error();
    info_ = std::move(*info);
    if (info_.page_size_bytes == 0) return damaged("pages without a size");
    status = load_ticks();
    if (status) status = load_processes();
    if (status) status = load_images();
    return status;
  }

  base::Result<Sample> sample_at(int64_t tick, const ProcessSet& chosen);
  base::Status walk_samples(int64_t first, int64_t last,
                            const ProcessSet& chosen,
                            const SampleVisitor& visit);
  base::Result<std::optional<int64_t>> detail_tick(int64_t process,
                                                   int64_t tick);
  base::Result<model::Timeline> timeline(const ProcessSet& chosen);
  base::Result<model::Timeline> whole_timeline();
  base::Result<std::vector<model::Series>> series(const ProcessSet& chosen,
                                                  uint64_t least_bytes);
  base::Result<std::vector<model::RecordedGap>> gaps();
  base::Result<std::vector<model::RecordedNote>> notes();
  base::Result<std::vector<ProcessMaxima>> maxima();
  base::Result<std::vector<TableSize>> table_sizes();

  Database database_;
  model::RecordingInfo info_;
  std::vector<model::RecordedTick> ticks_;
  std::vector<RecordedProcess> processes_;

 private:
  base::Error damaged(const std::string& how) const {
    return base::fail(base::ErrorKind::Malformed,
                      database_.path() + ": damaged: " + how);
  }

  using Heads = std::map<int64_t, MappingHead>;

  base::Status load_ticks();
  base::Status load_processes();
  base::Status load_images();
  base::Status load_objects();
  base::Status load_traits();
  base::Status load_keyframes();
  base::Status load_plans();
  base::Result<const Heads*> heads_of(int64_t process);
  base::Status fill_counters(int64_t base_tick, int64_t tick,
                             std::map<int64_t, Process>& processes);
  base::Status fill_states(int64_t base_tick, int64_t tick,
                           std::map<int64_t, Process>& processes);
  base::Status fill_mappings(int64_t tick,
                             std::map<int64_t, Process>& processes);
  base::Result<Process> make_process(const std::map<int64_t, ChangeRow>& rows,
                                     int64_t process_id, Process process);
  struct WalkState;
  base::Status begin_walk(int64_t first, const ProcessSet& chosen,
                          WalkState& state);
  std::map<int64_t, int64_t> keyframes_before(
      int64_t tick, const std::map<int64_t, Process>& processes) const;
  base::Status step_counters(int64_t tick, WalkState& state);
  base::Status step_processes(int64_t tick, WalkState& state);
  base::Status emit_tick(int64_t tick, const SampleVisitor& visit,
                         WalkState& state);
  void fill_tier(int64_t tick, int64_t id, Process& process);
  base::Status fill_machine_at(int64_t tick, Sample& sample);
  base::Status fill_cgroups_at(int64_t tick, Sample& sample);
  base::Status sum_residents(const ProcessSet& chosen, TimelineSum& sum);
  base::Status sum_states(const ProcessSet& chosen, TimelineSum& sum);
  base::Status read_available(model::Timeline& timeline);
  base::Status walk_states(
      const ProcessSet& chosen,
      const std::function<void(const ChangeRow&, bool)>& visit);

  bool has_details_ = false;
  std::map<int64_t, Object> objects_;
  std::map<int64_t, Trait> traits_;
  std::map<int64_t, std::vector<int64_t>> keyframes_;  // by process, ascending
  std::map<int64_t, DetailPlan> plans_;
  std::map<int64_t, Heads> heads_;

  base::Status load_details() {
    if (has_details_) return base::Ok{};
    base::Status status = load_objects();
    if (status) status = load_traits();
    if (status) status = load_keyframes();
    if (status) status = load_plans();
    has_details_ = static_cast<bool>(status);
    return status;
  }
};

base::Status Recording::Reader::load_ticks() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT id, state, utc_ns, monotonic_ns, read_ns, oldest_detail, "
      "undetailed, scanned FROM tick ORDER BY id");
  if (!rows) return rows.error();
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    model::RecordedTick tick;
    tick.id = rows->integer(0);
    is_sane &= tick.id >= 0 && tick.id <= kLastTick;
    tick.is_new_high = rows->integer(1) == 1;
    tick.realtime_ns = static_cast<uint64_t>(rows->integer(2));
    tick.monotonic_ns = static_cast<uint64_t>(rows->integer(3));
    tick.read_ns = static_cast<uint64_t>(rows->integer(4));
    tick.oldest_detail_ticks = static_cast<uint64_t>(rows->integer(5));
    tick.undetailed_count = static_cast<uint64_t>(rows->integer(6));
    tick.scanned_count = static_cast<uint64_t>(rows->integer(7));
    ticks_.push_back(tick);
  });
  if (status && !is_sane) return damaged("an absurd tick");
  return status;
}

base::Status Recording::Reader::load_processes() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT p.id, p.pid, p.start_ticks, p.born, e.tick FROM proc_process p "
      "LEFT JOIN proc_end e ON e.process = p.id ORDER BY p.id");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    RecordedProcess process;
    process.id = rows->integer(0);
    process.process.pid = static_cast<int32_t>(rows->integer(1));
    process.process.start_ticks = static_cast<uint64_t>(rows->integer(2));
    process.first_tick = rows->integer(3);
    process.gone_at_tick = rows->maybe_integer(4);
    processes_.push_back(std::move(process));
  });
}

base::Status Recording::Reader::load_images() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT i.process, i.tick, i.parent_pid, c.value, x.value, a.value, "
      "i.user_id, g.value, i.image FROM proc_identity i "
      "LEFT JOIN text c ON c.id = i.comm "
      "LEFT JOIN text x ON x.id = i.executable "
      "LEFT JOIN text a ON a.id = i.command "
      "LEFT JOIN text g ON g.id = i.cgroup ORDER BY i.process, i.tick");
  if (!rows) return rows.error();
  auto process = processes_.begin();
  base::Status status = for_each(*rows, [&] {
    while (process != processes_.end() && process->id < rows->integer(0))
      ++process;
    if (process == processes_.end() || process->id != rows->integer(0)) return;
    model::RecordedImage image;
    image.from_tick = rows->integer(1);
    image.parent_pid = static_cast<int32_t>(rows->integer(2));
    image.comm = rows->text(3);
    image.executable = rows->text(4);
    image.command_line = rows->text(5);
    std::ranges::replace(image.command_line, '\x1f', '\0');
    if (const std::optional<int64_t> user = rows->maybe_integer(6)) {
      image.user_id = static_cast<uint32_t>(*user);
    }
    image.cgroup_path = rows->text(7);
    image.image = rows->integer(8);
    process->images.push_back(std::move(image));
  });
  if (!status) return status;
  for (RecordedProcess& recorded : processes_) {
    if (recorded.images.empty()) recorded.images.emplace_back();
  }
  return base::Ok{};
}

base::Status Recording::Reader::load_objects() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT id, device_major, device_minor, inode, name FROM proc_object");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    objects_[rows->integer(0)] = {static_cast<uint32_t>(rows->integer(1)),
                                  static_cast<uint32_t>(rows->integer(2)),
                                  static_cast<uint64_t>(rows->integer(3)),
                                  std::string(rows->text(4))};
  });
}

base::Status Recording::Reader::load_traits() {
  base::Result<std::map<int64_t, Trait>> traits = read_traits(database_);
  if (!traits) return traits.error();
  traits_ = std::move(*traits);
  return base::Ok{};
}

base::Status Recording::Reader::load_keyframes() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, tick FROM proc_keyframe ORDER BY process, tick");
  if (!rows) return rows.error();
  return for_each(
      *rows, [&] { keyframes_[rows->integer(0)].push_back(rows->integer(1)); });
}

base::Status Recording::Reader::load_plans() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, tick, tier, step FROM proc_detail "
      "ORDER BY process, tick");
  if (!rows) return rows.error();
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    const int64_t tick = rows->integer(1);
    const int64_t tier = rows->integer(2);
    const int64_t step = rows->integer(3);
    is_sane &= tick >= 0 && tick <= kLastTick && tier >= 0 &&
               tier <= static_cast<int64_t>(model::DetailTier::Full) &&
               step >= 0 && step <= UINT32_MAX;
    if (!is_sane) return;
    plans_[rows->integer(0)].add(tick, static_cast<model::DetailTier>(tier),
                                 step);
  });
  if (status && !is_sane) return damaged("an absurd reading plan");
  return status;
}

base::Result<const Recording::Reader::Heads*> Recording::Reader::heads_of(
    int64_t process) {
  auto known = heads_.find(process);
  if (known != heads_.end()) return &known->second;
  base::Result<Statement> rows = database_.prepare(
      "SELECT no, start, file_offset, object FROM proc_mapping "
      "WHERE process = ?");
  if (!rows) return rows.error();
  rows->bind(0, process);
  Heads heads;
  base::Status status = for_each(*rows, [&] {
    heads[rows->integer(0)] = {
        static_cast<uint64_t>(rows->integer(1)) * kAddressUnit,
        static_cast<uint64_t>(rows->integer(2)) * kAddressUnit,
        rows->integer(3)};
  });
  if (!status) return status.error();
  return &heads_.emplace(process, std::move(heads)).first->second;
}

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
    const std::map<int64_t, ChangeRow>& rows, int64_t process_id,
    Process process) {
  base::Result<const Heads*> heads = heads_of(process_id);
  if (!heads) return heads.error();
  std::vector<model::Mapping> mappings;
  for (const auto& [no, row] : rows) {
    auto head = (*heads)->find(no);
    auto trait = traits_.find(row.trait);
    if (head == (*heads)->end() || trait == traits_.end()) {
      return damaged("a mapping without its head");
    }
    model::Mapping& mapping = mappings.emplace_back();
    mapping.start_address = head->second.start_address;
    mapping.end_address =
        mapping.start_address + static_cast<uint64_t>(row.size_kib) * kKib;
    mapping.offset_bytes = head->second.offset_bytes;
    const Object& object = objects_[head->second.object];
    mapping.device_major = object.device_major;
    mapping.device_minor = object.device_minor;
    mapping.inode_id = object.inode_id;
    mapping.name = object.name;
    fill_fields(row, info_.smaps_fields, mapping.fields);
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
    process.kinds.push_back(trait->second.kind);
  }
  // By address, as the kernel prints them: numbers follow time.
  std::vector<size_t> order(mappings.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, {},
                    [&](size_t i) { return mappings[i].start_address; });
  std::vector<model::Mapping> sorted;
  std::vector<model::RegionKind> kinds;
  model::SmapsFields sum;
  for (size_t i : order) {
    sum.add(mappings[i].fields);
    sorted.push_back(std::move(mappings[i]));
    kinds.push_back(process.kinds[i]);
  }
  process.kinds = std::move(kinds);
  process.mappings = model::known(std::move(sorted));
  process.rollup = model::known(sum);
  return process;
}

base::Status Recording::Reader::fill_mappings(
    int64_t tick, std::map<int64_t, Process>& processes) {
  std::map<int64_t, std::map<int64_t, ChangeRow>> states;
  const std::map<int64_t, int64_t> starts = keyframes_before(tick, processes);
  if (starts.empty()) return base::Ok{};
  const auto take = [&](const ChangeRow& row) {
    auto start = starts.find(row.process);
    if (start == starts.end() || row.tick < start->second) return;
    if (row.is_end()) {
      states[row.process].erase(row.no);
    } else {
      states[row.process].insert_or_assign(row.no, row);
    }
  };
  // One pass over everything since the base is cheaper than a seek for each
  // process and epoch as soon as there are several.
  constexpr size_t kFew = 4;
  if (starts.size() <= kFew) {
    for (const auto& [id, start] : starts) {
      base::Result<ChangeWalk> walk = ChangeWalk::prepare(database_, id);
      if (!walk) return walk.error();
      base::Status status = walk->walk(start, tick, take);
      if (!status) return status;
    }
  } else {
    int64_t first = tick;
    for (const auto& [id, start] : starts)
      first = std::min(first, start);
    base::Result<ChangeWalk> walk = ChangeWalk::prepare(database_, {});
    if (!walk) return walk.error();
    base::Status status = walk->walk(first, tick, take);
    if (!status) return status;
  }
  for (const auto& [id, rows] : states) {
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
    found->second.kinds.clear();
    base::Result<Process> made =
        make_process(state.mappings[id], id, std::move(found->second));
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
                     kib * static_cast<int64_t>(kKib));
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
  const bool has_swap_pss =
      std::ranges::find(info_.smaps_fields, model::SmapsField::SwapPss) !=
      info_.smaps_fields.end();
  TimelineSum sum(ticks_, has_swap_pss);
  for (const RecordedProcess& process : processes_) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  status = sum_residents(chosen, sum);
  if (status) status = sum_states(chosen, sum);
  if (status) {
    status = walk_states(chosen, [&](const ChangeRow& row, bool is_frame) {
      auto trait = traits_.find(row.trait);
      const model::Category category =
          trait == traits_.end() ? model::Category::Anon
                                 : model::region_category(trait->second.kind);
      sum.add(row, is_frame, category);
    });
  }
  if (!status) return status.error();
  model::Timeline timeline = sum.take();
  status = read_available(timeline);
  if (!status) return status.error();
  return timeline;
}

base::Result<std::vector<model::Series>> Recording::Reader::series(
    const ProcessSet& chosen, uint64_t least_bytes) {
  base::Status status = load_details();
  if (!status) return status.error();
  SeriesSum sum(ticks_);
  for (const RecordedProcess& process : processes_) {
    if (process.gone_at_tick) sum.set_end(process.id, *process.gone_at_tick);
  }
  base::Status heads_status = base::Ok{};
  status = walk_states(chosen, [&](const ChangeRow& row, bool is_frame) {
    base::Result<const Heads*> heads = heads_of(row.process);
    if (!heads) {
      heads_status = heads.error();
      return;
    }
    auto head = (*heads)->find(row.no);
    auto trait = traits_.find(row.trait);
    if (head == (*heads)->end() || trait == traits_.end()) return;
    const model::RegionKind kind = trait->second.kind;
    sum.add(row, is_frame, model::region_category(kind),
            model::object_name(kind, objects_[head->second.object].name));
  });
  if (status) status = heads_status;
  if (!status) return status.error();
  return sum.take(least_bytes);
}

base::Result<std::vector<model::RecordedGap>> Recording::Reader::gaps() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT before_tick, monotonic_ns, count, because FROM missed_tick "
      "ORDER BY id");
  if (!rows) return rows.error();
  std::vector<model::RecordedGap> gaps;
  base::Status status = for_each(*rows, [&] {
    gaps.push_back({rows->integer(0),
                    {static_cast<uint64_t>(rows->integer(1)),
                     static_cast<uint64_t>(rows->integer(2)),
                     std::string(rows->text(3))}});
  });
  if (!status) return status.error();
  return gaps;
}

base::Result<std::vector<model::RecordedNote>> Recording::Reader::notes() {
  base::Result<Statement> rows =
      database_.prepare("SELECT tick, process, text FROM note ORDER BY id");
  if (!rows) return rows.error();
  std::vector<model::RecordedNote> notes;
  base::Status status = for_each(*rows, [&] {
    notes.push_back(
        {rows->integer(0), rows->maybe_integer(1), std::string(rows->text(2))});
  });
  if (!status) return status.error();
  return notes;
}

base::Result<std::vector<ProcessMaxima>> Recording::Reader::maxima() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, max(resident), NULL, NULL FROM proc_counter "
      "GROUP BY process UNION ALL SELECT process, NULL, max(high_mark), "
      "min(high_mark) FROM proc_status GROUP BY process");
  if (!rows) return rows.error();
  std::map<int64_t, ProcessMaxima> by_process;
  base::Status status = for_each(*rows, [&] {
    ProcessMaxima& maxima = by_process[rows->integer(0)];
    maxima.process = rows->integer(0);
    if (!rows->is_null(1)) maxima.resident_bytes = bytes_of(*rows, 1);
    if (!rows->is_null(2)) maxima.high_mark_bytes = bytes_of(*rows, 2);
    if (!rows->is_null(3)) maxima.first_high_mark_bytes = bytes_of(*rows, 3);
  });
  if (!status) return status.error();
  std::vector<ProcessMaxima> all;
  for (const auto& [id, maxima] : by_process)
    all.push_back(maxima);
  return all;
}

base::Result<std::vector<TableSize>> Recording::Reader::table_sizes() {
  base::Result<Statement> names = database_.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  if (!names) return names.error();
  std::vector<TableSize> sizes;
  base::Status status = for_each(*names, [&] {
    sizes.push_back({std::string(names->text(0)), 0, std::nullopt});
  });
  if (!status) return status.error();
  for (TableSize& table : sizes) {
    base::Result<int64_t> count =
        database_.integer("SELECT count(*) FROM \"" + table.name + "\"");
    if (!count) return count.error();
    table.row_count = static_cast<uint64_t>(*count);
    // A build of SQLite without dbstat cannot tell.
    base::Result<int64_t> bytes = database_.integer(
        "SELECT sum(pgsize) FROM dbstat WHERE name = '" + table.name + "'");
    if (bytes) table.bytes = static_cast<uint64_t>(*bytes);
  }
  return sizes;
}

Recording::Recording(std::unique_ptr<Reader> reader)
    : reader_(std::move(reader)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

base::Result<Recording> Recording::open(const std::string& path) {
  base::Result<Database> database = Database::open(path, OpenMode::ReadOnly);
  if (!database) return database.error();
  auto reader = std::make_unique<Reader>(std::move(*database));
  base::Status status = reader->load();
  if (!status) return status.error();
  return Recording(std::move(reader));
}

const std::string& Recording::path() const {
  return reader_->database_.path();
}
const model::RecordingInfo& Recording::info() const {
  return reader_->info_;
}
const std::vector<model::RecordedTick>& Recording::ticks() const {
  return reader_->ticks_;
}
const std::vector<RecordedProcess>& Recording::processes() const {
  return reader_->processes_;
}
base::Result<std::vector<model::RecordedGap>> Recording::gaps() const {
  return reader_->gaps();
}
base::Result<std::vector<model::RecordedNote>> Recording::notes() const {
  return reader_->notes();
}
base::Result<std::vector<ProcessMaxima>> Recording::maxima() const {
  return reader_->maxima();
}
base::Result<std::vector<TableSize>> Recording::table_sizes() const {
  return reader_->table_sizes();
}
base::Result<Sample> Recording::sample_at(int64_t tick,
                                          const ProcessSet& processes) const {
  return reader_->sample_at(tick, processes);
}
base::Status Recording::walk_samples(int64_t first, int64_t last,
                                     const ProcessSet& processes,
                                     const SampleVisitor& visit) const {
  return reader_->walk_samples(first, last, processes, visit);
}
base::Result<std::optional<int64_t>> Recording::detail_tick(
    int64_t process, int64_t tick) const {
  return reader_->detail_tick(process, tick);
}
base::Result<model::Timeline> Recording::timeline(
    const ProcessSet& processes) const {
  return reader_->timeline(processes);
}
base::Result<std::vector<model::Series>> Recording::series(
    const ProcessSet& processes, uint64_t least_bytes) const {
  return reader_->series(processes, least_bytes);
}

}  // namespace tidemark::store
