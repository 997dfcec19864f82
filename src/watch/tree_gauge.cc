#include "watch/tree_gauge.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include "base/clock.h"
#include "model/smaps_fields.h"
#include "source/cgroups.h"

namespace tidemark::watch {
namespace {

using model::RunMethod;

constexpr uint64_t kChargePollNs = 1'000'000;
constexpr uint64_t kSamplePollNs = 2'000'000;
constexpr uint64_t kOutsidePollNs = 10'000'000;

void pause_ns(long nanoseconds) {
  const timespec pause{0, nanoseconds};
  ::nanosleep(&pause, nullptr);
}

bool is_at_or_below(const std::string& path, const std::string& group) {
  return path == group || path.starts_with(group + "/");
}

std::string with_hint(const base::Error& error) {
  return error.hint.empty() ? error.what : error.what + "; " + error.hint;
}

// Who lives in its parent's space is left out: the picture of the parent shows
// it already.
std::vector<source::TreeMember> members_of(
    const std::vector<source::LivingProcess>& living) {
  std::set<int32_t> sharers;
  for (const source::LivingProcess& process : living) {
    if (process.life.has_execed) continue;
    sharers.insert(process.life.pid);
    sharers.insert(process.life.parent_pid);
  }
  std::vector<source::TreeMember> members;
  for (const source::LivingProcess& process : living) {
    if (process.life.shares_space) continue;
    members.push_back({process.life.pid, process.rss_bytes,
                       sharers.contains(process.life.pid)});
  }
  std::ranges::sort(members, std::greater<>(), &source::TreeMember::rss_bytes);
  return members;
}

}  // namespace

void TreeGauge::arrange_group(const source::Roots& roots) {
  roots_ = &roots;
  hierarchy_ = source::CgroupHierarchy::find(roots);
  base::Result<source::GroupPlace> place =
      source::plan_memory_group(roots, hierarchy_);
  if (place) {
    places_.push_back(std::move(*place));
    wants_group_ = true;
  } else {
    notes_.push_back("no cgroup of its own: " + with_hint(place.error()));
  }
}

base::Status TreeGauge::arrange_freezer(const source::Roots& roots) {
  if (wants_group_ && places_.front().version == model::CgroupVersion::V2) {
    freezer_ = places_.front();
    return base::Ok{};
  }
  base::Result<source::GroupPlace> place = source::plan_freezer_group(roots);
  if (!place) return place.error();
  freezer_ = *place;
  places_.push_back(std::move(*place));
  return base::Ok{};
}

base::Status TreeGauge::make_groups() {
  std::vector<int32_t> ours = {::getpid()};
  if (guardian_) ours.push_back(guardian_->pid());
  for (size_t i = 0; i < places_.size(); ++i) {
    base::Status status = source::make_group(places_[i], ours);
    if (status) continue;
    // Only the memory group is optional, unless it shall freeze as well.
    if (i > 0 || !wants_group_ || freezer_ == places_[i]) return status;
    notes_.push_back("no cgroup of its own: " + with_hint(status.error()));
    wants_group_ = false;
    places_.erase(places_.begin());
    --i;
  }
  if (!wants_group_) return base::Ok{};
  base::Result<source::MemoryGroup> group =
      source::MemoryGroup::open(places_.front());
  if (!group) {
    notes_.push_back("no cgroup of its own: " + group.error().what);
    static_cast<void>(source::undo_group(places_.front()));
    places_.erase(places_.begin());
    return base::Ok{};
  }
  group_ = std::move(*group);
  return base::Ok{};
}

void TreeGauge::arrange_bpf(const GaugeOptions& options) {
  source::FollowOptions follow;
  follow.height_is_charge = group_.has_value();
  follow.stops_at_crossing = options.stops_at_crossing;
  follow.sees_page_cache = options.sees_page_cache && group_.has_value();
  follow.times_itself = options.times_bpf;
  base::Result<source::TreeFollower> follower =
      source::TreeFollower::start(follow);
  if (follower) {
    follower_ = std::move(*follower);
  } else {
    notes_.push_back("no BPF: " + with_hint(follower.error()));
  }
}

base::Result<TreeGauge> TreeGauge::arrange(const source::Roots& roots,
                                           const GaugeOptions& options) {
  TreeGauge gauge;
  if (options.may_use_group) gauge.arrange_group(roots);
  if (options.freezes) {
    base::Status status = gauge.arrange_freezer(roots);
    if (!status) return base::within("cannot freeze", status.error());
  }
  if (!gauge.places_.empty()) {
    base::Result<source::Guardian> guardian =
        source::Guardian::start({gauge.places_, options.stops_at_crossing});
    if (!guardian) return guardian.error();
    gauge.guardian_.emplace(std::move(*guardian));
  }
  base::Status status = gauge.make_groups();
  if (!status) return status.error();
  if (gauge.places_.empty()) gauge.guardian_.reset();
  if (options.may_use_bpf) gauge.arrange_bpf(options);
  if (options.stops_at_crossing && (!gauge.follower_ || !gauge.group_)) {
    return base::fail(base::ErrorKind::Unsupported,
                      "cannot stop at the peak: " +
                          (gauge.notes_.empty() ? "it needs BPF and a cgroup"
                                                : gauge.notes_.front()),
                      "leave out --exact-peak");
  }
  if (!gauge.follower_) gauge.arrange_without_bpf(roots);
  return gauge;
}

void TreeGauge::arrange_without_bpf(const source::Roots& roots) {
  sampled_.emplace(roots);
  if (guardian_) sampled_->leave_out(guardian_->pid());
  base::Result<source::ProcessEvents> events = source::ProcessEvents::listen();
  if (events) {
    events_.emplace(std::move(*events));
    return;
  }
  notes_.push_back("not every process is seen: " + with_hint(events.error()));
  // Orphans of the tree come to us and stay in sight.
  if (!group_) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

TreeGauge::~TreeGauge() {
  static_cast<void>(undo());
}

base::Status TreeGauge::undo() {
  base::Status result = base::Ok{};
  for (const source::GroupPlace& place : std::exchange(places_, {})) {
    base::Status status = source::undo_group(place);
    if (!status) result = status;
  }
  return result;
}

RunMethod TreeGauge::method() const {
  if (group_) {
    return follower_ ? RunMethod::ChargeGate : RunMethod::ChargePolled;
  }
  return follower_ ? RunMethod::RssGate : RunMethod::Sampled;
}

void TreeGauge::expect_child() {
  if (follower_) follower_->adopt_next_child();
}

base::Status TreeGauge::take_in(int32_t pid) {
  root_pid_ = pid;
  if (sampled_) sampled_->set_root(pid);
  if (events_) events_->follow(pid);
  for (const source::GroupPlace& place : places_) {
    base::Status status = source::add_to_group(place, pid);
    if (!status) return status;
  }
  if (group_) group_path_ = hierarchy_.path_of(*roots_, pid);
  return base::Ok{};
}

int TreeGauge::wake_fd() const {
  return follower_ ? follower_->wake_fd() : -1;
}

std::optional<uint64_t> TreeGauge::poll_period_ns() const {
  switch (method()) {
    case RunMethod::ChargePolled:
      return kChargePollNs;
    case RunMethod::Sampled:
      return kSamplePollNs;
    default:
      return std::nullopt;
  }
}

uint64_t TreeGauge::height_bytes() {
  uint64_t bytes = 0;
  uint64_t outside = 0;
  const uint64_t now = base::monotonic_ns();
  if (group_) {
    bytes = group_->charged_bytes().value_or(0);
    outside = outside_bytes(now);
  } else if (follower_) {
    bytes = follower_->heights().rss_bytes;
  } else {
    bytes = sampled_->look(
        now, events_ ? events_->living() : std::vector<int32_t>());
  }
  if (bytes > highest_seen_.bytes) highest_seen_ = {bytes, now, {}};
  return bytes + outside;
}

bool TreeGauge::has_left() const {
  return follower_ ? follower_->heights().left_count > 0 : !left_.empty();
}

uint64_t TreeGauge::outside_bytes(uint64_t now_ns) {
  if (follower_) return follower_->heights().outside_bytes;
  if (now_ns >= next_outside_look_ns_) {
    find_outside(now_ns);
    constexpr uint64_t kRest = 20;
    const uint64_t cost = base::monotonic_ns() - now_ns;
    next_outside_look_ns_ = now_ns + std::max(kOutsidePollNs, cost * kRest);
  }
  if (outside_.empty()) return 0;
  // At a time of their own: those of the whole tree may just have been seen.
  return sampled_->look(base::monotonic_ns(), outside_);
}

// In two looks and with memory: v1 shows a process that is just ending in the
// root of all.
void TreeGauge::find_outside(uint64_t now_ns) {
  const std::vector<int32_t> inside = source::group_members(group_->place());
  const std::set<int32_t> before = std::exchange(suspects_, {});
  outside_.clear();
  for (int32_t pid : living_without_follower(now_ns)) {
    if (std::ranges::find(inside, pid) != inside.end()) continue;
    const std::string path = hierarchy_.path_of(*roots_, pid);
    if (path.empty() || is_at_or_below(path, group_path_)) continue;
    suspects_.insert(pid);
    const bool is_living =
        before.contains(pid) && sampled_->look(base::monotonic_ns(), {pid}) > 0;
    if (!is_living) continue;
    outside_.push_back(pid);
    left_.insert(pid);
  }
}

std::vector<int32_t> TreeGauge::living_without_follower(uint64_t now_ns) {
  if (events_) return events_->living();
  static_cast<void>(sampled_->look(now_ns, {}));
  std::vector<int32_t> pids;
  for (const source::TreeMember& member : sampled_->members())
    pids.push_back(member.pid);
  return pids;
}

std::vector<int32_t> TreeGauge::pids_without_follower() const {
  if (!group_) return {};
  std::vector<int32_t> pids = source::group_members(group_->place());
  pids.insert(pids.end(), outside_.begin(), outside_.end());
  return pids;
}

void TreeGauge::set_mark(uint64_t bytes) {
  if (follower_) follower_->set_mark(bytes);
}

void TreeGauge::set_step_permille(uint64_t permille) {
  if (follower_) follower_->set_step_permille(permille);
}

void TreeGauge::drain(
    const std::function<void(const source::NewHigh&)>& new_high,
    const std::function<void(model::ProcessLife)>& ended) {
  if (follower_) follower_->drain(new_high, ended);
  // A failure shows in the count of what was lost.
  if (events_) static_cast<void>(events_->drain(ended));
}

std::vector<source::TreeMember> TreeGauge::members() {
  if (follower_) return members_of(follower_->living());
  if (group_) {
    sampled_->look(base::monotonic_ns(), pids_without_follower());
  }
  return sampled_->members();
}

const source::MemoryGroup* TreeGauge::group() const {
  return group_ ? &*group_ : nullptr;
}

bool TreeGauge::freeze() {
  if (!freezer_) return false;
  guardian_->will_freeze();
  if (!source::set_frozen(*freezer_, true)) return false;
  // Reading again beats waiting: notices come once in 10 ms. Without spinning,
  // because who shall freeze needs the CPU to do so.
  // By the clock and not by tries: on a busy machine, or an emulated one, a
  // task comes to its freezing point only when it gets the CPU.
  constexpr uint64_t kLimitNs = 250'000'000;  // as run_watch.cc tells
  const uint64_t deadline = base::monotonic_ns() + kLimitNs;
  while (!source::is_frozen(*freezer_)) {
    if (base::monotonic_ns() >= deadline) return false;
    pause_ns(20'000);
  }
  return true;
}

void TreeGauge::thaw() {
  if (!freezer_) return;
  static_cast<void>(source::set_frozen(*freezer_, false));
  guardian_->has_thawed();
}

void TreeGauge::learn(const model::Sample& picture) {
  if (!sampled_) return;
  uint64_t sum = 0;
  for (const model::Process& process : picture.processes) {
    if (!process.rollup) continue;
    const uint64_t rss = process.rollup->get_or_zero(model::SmapsField::Rss);
    sampled_->learn(process.id.pid, rss, picture.started_monotonic_ns);
    sum += rss;
  }
  if (!group_ && sum > highest_seen_.bytes) {
    highest_seen_ = {sum, picture.started_monotonic_ns, {}};
  }
}

void TreeGauge::fill_charge(model::RunRecord& record) {
  model::Maximum charge = highest_seen_;
  charge.source = "highest charge seen of its own cgroup";
  if (follower_) {
    const source::Heights heights = follower_->heights();
    if (heights.highest_bytes > charge.bytes) {
      charge.bytes = heights.highest_bytes;
      charge.time_ns = heights.highest_ns;
    }
  }
  if (std::optional<uint64_t> peak = group_->peak_bytes()) {
    charge.bytes = *peak;
    charge.source = group_->peak_name() + " of its own cgroup";
  }
  record.charge = std::move(charge);
  if (std::optional<uint64_t> swap = group_->swap_peak_bytes()) {
    if (*swap > 0) record.swap = {*swap, std::nullopt, "memory.swap.peak"};
  }
}

void TreeGauge::fill_from_follower(model::RunRecord& record) {
  const source::Heights heights = follower_->heights();
  record.rss = {heights.highest_rss_bytes, heights.highest_rss_ns,
                "RSS of all processes, added up at every change"};
  record.lost_count = heights.lost_count;
  record.lists_every_process = heights.lost_count == 0;
  record.peak_error_bytes = follower_->peak_error_bytes();
  record.cost.bpf_ns = follower_->program_ns();
  for (source::LivingProcess& process : follower_->living()) {
    record.lives.push_back(std::move(process.life));
    ++record.left_running_count;
  }
}

void TreeGauge::fill_without_follower(model::RunRecord& record) {
  // A last look: who is there now is left running.
  static_cast<void>(
      sampled_->look(base::monotonic_ns(), pids_without_follower()));
  if (!group_) {
    record.rss = highest_seen_;
    record.rss->source = "RSS of all processes, the highest of many looks";
  }
  if (events_) {
    events_->finish([&](model::ProcessLife life) {
      record.lives.push_back(std::move(life));
    });
    for (model::ProcessLife& life : events_->living_lives()) {
      record.lives.push_back(std::move(life));
      ++record.left_running_count;
    }
    record.lost_count = events_->lost_count();
    record.lists_every_process = record.lost_count == 0;
    return;
  }
  for (model::ProcessLife& life : sampled_->lives()) {
    if (!life.ended_ns) ++record.left_running_count;
    record.lives.push_back(std::move(life));
  }
}

void TreeGauge::fill(model::RunRecord& record) {
  record.method = method();
  record.method_notes = notes_;
  if (group_) fill_charge(record);
  if (follower_) {
    fill_from_follower(record);
  } else {
    fill_without_follower(record);
    for (model::ProcessLife& life : record.lives)
      life.left_group |= left_.contains(life.pid);
  }
}

}  // namespace tidemark::watch
