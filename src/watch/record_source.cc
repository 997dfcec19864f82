#include "watch/record_source.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/page_size.h"
#include "base/units.h"
#include "source/machine_reader.h"
#include "source/page_scan.h"
#include "source/process_source.h"

namespace tidemark::watch {
namespace {

using base::ErrorKind;
using model::DetailTier;
using model::Mapping;
using model::ProcessState;
using model::SmapsField;

constexpr uint64_t kMountRefresh = 64;

bool lies_in(std::string_view path, std::string_view group) {
  if (group == "/") return true;
  return path.starts_with(group) &&
         (path.size() == group.size() || path[group.size()] == '/');
}

bool can_have_detail(ProcessState state) {
  return state != ProcessState::Zombie && state != ProcessState::KernelThread;
}

uint64_t small_bytes(const Mapping& mapping) {
  const model::SmapsFields& fields = mapping.fields;
  const uint64_t resident = fields.get_or_zero(SmapsField::Rss);
  return resident -
         std::min(resident, fields.get_or_zero(SmapsField::AnonHugePages) +
                                fields.get_or_zero(SmapsField::ShmemPmdMapped) +
                                fields.get_or_zero(SmapsField::FilePmdMapped));
}

bool has_memory(ProcessState state) {
  return can_have_detail(state) && state != ProcessState::Gone;
}

}  // namespace

RecordSource::RecordSource(const source::Roots& roots,
                           RecordSelection selection,
                           const BudgetOptions& budget)
    : roots_(roots),
      selection_(std::move(selection)),
      budget_options_(budget),
      cgroups_(source::CgroupHierarchy::find(roots)),
      reader_(roots_, cgroups_, {}),
      budget_(budget) {
  // Before the first process is not read: what is noted then must be true.
  if (!source::can_scan_pages(roots.proc)) budget_.forget_scan();
}

std::vector<int32_t> RecordSource::pids() const {
  std::vector<int32_t> all;
  for (const auto& [pid, tracked] : tracked_)
    all.push_back(pid);
  return all;
}

void RecordSource::add(int32_t pid, bool is_target) {
  auto known = tracked_.find(pid);
  if (known != tracked_.end()) {
    known->second.is_target |= is_target;
    return;
  }
  base::Result<source::TrackedProcess> process =
      source::TrackedProcess::open(roots_, pid);
  if (!process) return;  // it has ended meanwhile
  tracked_.emplace(pid, Tracked(std::move(*process), is_target));
}

base::Status RecordSource::add_all() {
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (!pids) return pids.error();
  for (int32_t pid : *pids)
    add(pid, true);
  return base::Ok{};
}

// A pid that was looked at and is someone else's name is not looked at again
// until it is gone from the list.
base::Status RecordSource::add_named() {
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (!pids) return pids.error();
  std::set<int32_t> strangers;
  for (int32_t pid : *pids) {
    if (tracked_.contains(pid)) continue;
    if (roots_.is_live && pid == ::getpid()) continue;
    if (strangers_.contains(pid)) {
      strangers.insert(pid);
      continue;
    }
    const bool is_meant =
        std::ranges::any_of(selection_.names, [&](const std::string& name) {
          return source::is_called(roots_, pid, name);
        });
    if (is_meant) {
      add(pid, true);
    } else {
      strangers.insert(pid);
    }
  }
  // A program is called by its new name only some time after its fork.
  if (collect_count_ % 2 == 0) strangers.clear();
  strangers_ = std::move(strangers);
  return base::Ok{};
}

base::Status RecordSource::add_in_groups() {
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (!pids) return pids.error();
  for (int32_t pid : *pids) {
    if (tracked_.contains(pid)) continue;
    const std::string path = cgroups_.path_of(roots_, pid);
    const bool is_meant = std::ranges::any_of(
        selection_.cgroups,
        [&](const std::string& group) { return lies_in(path, group); });
    if (is_meant) add(pid, true);
  }
  return base::Ok{};
}

void RecordSource::add_descendants() {
  std::vector<int32_t> open = pids();
  for (size_t i = 0; i < open.size(); ++i) {
    base::Result<std::vector<int32_t>> children = reader_.children(open[i]);
    if (!children) continue;
    for (int32_t child : *children) {
      if (tracked_.contains(child)) continue;
      add(child, false);
      open.push_back(child);
    }
  }
}

base::Status RecordSource::find_processes() {
  if (selection_.everything) return add_all();
  if (selection_.members) {
    for (int32_t pid : selection_.members())
      add(pid, true);
    return base::Ok{};
  }
  if (collect_count_ == 0) {
    for (const model::ProcessId& target : selection_.targets) {
      add(target.pid, true);
      auto known = tracked_.find(target.pid);
      // The pid belongs to someone else by now.
      if (known != tracked_.end() && known->second.process.id() != target) {
        tracked_.erase(known);
      }
    }
  }
  base::Status status = base::Ok{};
  if (!selection_.names.empty()) status = add_named();
  if (status && !selection_.cgroups.empty()) status = add_in_groups();
  if (status && selection_.with_descendants) add_descendants();
  return status;
}

bool RecordSource::has_target() const {
  return std::ranges::any_of(tracked_, [](const auto& entry) {
    return entry.second.is_target &&
           entry.second.process.process().state != ProcessState::Zombie;
  });
}

// Counters first, of all: they must be of one moment, and they tell whose
// detail is wanted.
void RecordSource::read_counters(model::Sample& sample) {
  for (auto at = tracked_.begin(); at != tracked_.end();) {
    base::Status status = at->second.process.read_counters(cgroups_);
    if (status) {
      const std::optional<model::Statm>& statm =
          at->second.process.process().statm;
      const uint64_t page = base::page_bytes();
      at->second.detail.resident_bytes =
          statm ? statm->resident_pages * page : 0;
      at->second.detail.size_bytes = statm ? statm->size_pages * page : 0;
      ++at;
    } else {
      count(at->second, gone_);
      at = tracked_.erase(at);
    }
  }
  sample.processes.resize(tracked_.size());
}

void RecordSource::note_stall(Tracked& tracked, model::Sample& sample) const {
  if (tracked.detail.is_expensive == tracked.was_expensive) return;
  tracked.was_expensive = tracked.detail.is_expensive;
  std::string said = "smaps is read as usual: it would stall it no longer";
  if (tracked.was_expensive) {
    said = "smaps is read seldom: one read would stall it " +
           base::long_duration(budget_.predicted_hold_ns(tracked.detail)) +
           ", allowed are " + base::long_duration(budget_options_.stall_ns) +
           "; between it is estimated by its counters";
  }
  sample.notes.push_back({tracked.process.id(), std::move(said)});
}

// One remark for all: with many processes each has its own step.
void RecordSource::note_plan(const std::vector<DetailState*>& states,
                             model::Sample& sample) {
  uint32_t largest = 1;
  size_t count = 0;
  for (const DetailState* state : states) {
    largest = std::max(largest, state->step);
    if (state->step > 1) ++count;
  }
  if (largest == noted_step_) return;
  noted_step_ = largest;
  const std::string period = base::long_duration(budget_options_.period_ns);
  std::string said = "smaps of all processes every " + period;
  if (largest > 1) {
    said = "smaps of " + std::to_string(count) + " of " +
           std::to_string(states.size()) + " processes less often than every " +
           period + ", up to every " +
           base::long_duration(largest * budget_options_.period_ns) +
           ": budget of CPU time";
  }
  sample.notes.push_back({{}, std::move(said)});
}

// Once for all, and again when they have become many more.
void RecordSource::note_unreadable(model::Sample& sample) {
  uint64_t unreadable = 0;
  uint64_t all = 0;
  for (const auto& [pid, tracked] : tracked_) {
    all += tracked.has_memory ? 1 : 0;
    unreadable += tracked.is_unreadable ? 1 : 0;
  }
  if (unreadable <= 2 * noted_unreadable_) return;
  noted_unreadable_ = unreadable;
  sample.notes.push_back(
      {{},
       "only counters of " + std::to_string(unreadable) + " of " +
           std::to_string(all) +
           " processes are recorded: " + unreadable_because_});
}

void RecordSource::count(const Tracked& tracked, DetailTally& tally) {
  if (!tracked.has_memory) return;
  ++tally.process_count;
  if (tracked.is_unreadable) {
    ++tally.unreadable_count;
  } else if (tracked.was_seldom) {
    ++tally.seldom_count;
  }
}

DetailTally RecordSource::tally() const {
  DetailTally tally = gone_;
  for (const auto& [pid, tracked] : tracked_)
    count(tracked, tally);
  return tally;
}

bool RecordSource::is_denied() const {
  bool is_any = false;
  for (const auto& [pid, tracked] : tracked_) {
    if (!tracked.is_target || !tracked.has_memory) continue;
    if (tracked.process.process().state != ProcessState::Denied) return false;
    is_any = true;
  }
  return is_any;
}

void RecordSource::plan_detail(model::Sample& sample) {
  if (!budget_.is_plan_due(tracked_.size())) return;
  std::vector<DetailState*> states;
  for (auto& [pid, tracked] : tracked_) {
    if (can_have_detail(tracked.process.process().state)) {
      states.push_back(&tracked.detail);
    }
  }
  budget_.plan(states);
  if (budget_options_.prefers_whole && budget_.is_whole() != was_whole_) {
    was_whole_ = budget_.is_whole();
    sample.notes.push_back(
        {{},
         was_whole_
             ? "all is read in full at every tick again"
             : "reading all in full takes more than 10 % of the interval: "
               "within the budget from here on"});
  }
  note_plan(states, sample);
}

void RecordSource::read_detail(Tracked& tracked, DetailTier tier,
                               model::Process& out) {
  base::Status status = tier == DetailTier::Full
                            ? tracked.process.read_full(smaps_, out)
                            : tracked.process.read_scan(out);
  if (!status) {
    if (tier == DetailTier::Scan &&
        status.error().kind == ErrorKind::Unsupported) {
      budget_.forget_scan();
    }
    const ProcessState state = tracked.process.process().state;
    tracked.is_unreadable =
        state == ProcessState::Denied || state == ProcessState::Failed;
    if (tracked.is_unreadable && unreadable_because_.empty()) {
      unreadable_because_ = status.error().what;
    }
    if (!out.mappings) return;
    out.mappings = model::unknown<std::vector<Mapping>>(status.error().what);
    return;
  }
  tracked.is_unreadable = false;
  DetailMeasure measure;
  measure.cpu_ns = tracked.process.last_cpu_ns();
  measure.mapping_count = out.mappings->size();
  uint64_t pss = 0;
  for (const Mapping& mapping : *out.mappings) {
    const uint64_t small = small_bytes(mapping);
    measure.small_bytes += small;
    measure.largest_bytes = std::max(measure.largest_bytes, small);
    pss += mapping.fields.get_or_zero(SmapsField::Pss) +
           model::hugetlb_bytes(mapping.fields).value_or(0);
  }
  tracked.pss_bytes = pss;
  budget_.measured(tracked.detail, tier, measure);
}

void RecordSource::read_process(Tracked& tracked, model::Process& out,
                                model::Sample& sample) {
  const model::Process& process = tracked.process.process();
  const bool is_urgent = is_new_high_ || tracked.process.has_new_image();
  DetailTier tier = DetailTier::Counters;
  if (can_have_detail(process.state)) {
    tier = budget_.choose(tracked.detail, is_urgent);
    note_stall(tracked, sample);
    tracked.has_memory = true;
    tracked.was_seldom |= tier != DetailTier::Full;
  }
  if (tier != DetailTier::Counters) {
    read_detail(tracked, tier, out);
  } else {
    // Not read now, for no fault of its own.
    out.mappings = {};
  }
  // The rest is copied after it: reading may have changed the state.
  const model::Process& now = tracked.process.process();
  out.id = now.id;
  out.stat = now.stat;
  out.state = now.state;
  out.command_line = now.command_line;
  out.executable = now.executable;
  out.cgroup_path = now.cgroup_path;
  out.status = now.status;
  out.statm = now.statm;
  out.oom_score = now.oom_score;
  out.oom_score_adjustment = now.oom_score_adjustment;
  out.detail_step = tracked.detail.step;
  out.kinds.clear();
  if (!out.mappings) out.tier = DetailTier::Counters;
}

void RecordSource::read_machine_parts(model::Sample& sample) {
  sample.machine.reset();
  base::Result<model::Machine> machine = source::read_machine(roots_, cgroups_);
  if (machine) {
    source::read_pressure(roots_, *machine);
    sample.machine = std::move(*machine);
  }
  if (collect_count_ % kMountRefresh == 0 || memory_devices_.empty()) {
    const int32_t first = tracked_.empty() ? 0 : tracked_.begin()->first;
    memory_devices_ = source::read_memory_devices(roots_, first);
  }
  sample.memory_devices = memory_devices_;
  std::set<std::string> paths;
  for (const auto& [pid, tracked] : tracked_) {
    const std::string& path = tracked.process.process().cgroup_path;
    if (!path.empty()) paths.insert(path);
  }
  sample.cgroups.clear();
  for (const std::string& path : paths)
    sample.cgroups.push_back(cgroups_.read_with_stat(path));
}

base::Status RecordSource::collect(model::Sample& sample) {
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.is_new_high = is_new_high_;
  sample.reader_is_root = ::geteuid() == 0;
  sample.notes.clear();
  sample.missed_before.clear();
  base::Status status = find_processes();
  if (!status) return status;
  read_counters(sample);
  has_had_target_ |= has_target();
  const bool is_over = selection_.until_exit && !selection_.everything &&
                       !has_target() &&
                       (has_had_target_ || selection_.names.empty());
  if (is_over) {
    return base::fail(ErrorKind::Gone, "all chosen processes have ended");
  }
  budget_.begin_tick(base::monotonic_ns(), base::own_cpu_ns());
  plan_detail(sample);
  size_t index = 0;
  pss_bytes_ = 0;
  unreadable_because_.clear();
  for (auto& [pid, tracked] : tracked_) {
    read_process(tracked, sample.processes[index++], sample);
    // What has ended holds nothing any more, though it is still listed.
    if (!has_memory(tracked.process.process().state)) tracked.pss_bytes = 0;
    pss_bytes_ += tracked.pss_bytes;
  }
  note_unreadable(sample);
  read_machine_parts(sample);
  sample.ended_monotonic_ns = base::monotonic_ns();
  ++collect_count_;
  is_new_high_ = false;
  return base::Ok{};
}

}  // namespace tidemark::watch
