#include "watch/top_replay.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "analysis/maps_report.h"
#include "analysis/peak_report.h"
#include "analysis/process_filter.h"
#include "analysis/recorded_filter.h"
#include "base/clock.h"
#include "base/text.h"
#include "watch/top_digest.h"

namespace tidemark::watch {
namespace {

constexpr size_t kReplayPoints = 60;
constexpr double kLeastSpeed = 1.0 / 16;
constexpr double kMostSpeed = 1024;

// 0 when there is no such file.
uint64_t inode_of(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 ? file.st_ino : 0;
}

// Since it was first seen at those ticks. Nothing is known of what was only
// bounded at an end: being read is no growth, and no fall.
int64_t growth_of(const model::Band& band, size_t tick_count) {
  if (band.points.empty() || band.points.front().tick_index >= tick_count)
    return 0;
  const model::BandShares& first = band.points.front().shares;
  const model::BandShares& last = band.points.back().shares;
  if (first.bounded_bytes > 0 || last.bounded_bytes > 0) return 0;
  return static_cast<int64_t>(last.pss_bytes) -
         static_cast<int64_t>(first.pss_bytes);
}

}  // namespace

base::Result<std::unique_ptr<TopReplay>> TopReplay::start(
    store::Recording recording, size_t first_index, FindMoment find) {
  base::Result<WakeUp> wake = WakeUp::make();
  if (!wake) return wake.error();
  std::unique_ptr<TopReplay> replay(new TopReplay(
      std::move(recording), first_index, std::move(find), std::move(*wake)));
  const AllSignalsBlocked blocked;
  replay->thread_ = std::thread([raw = replay.get()] { raw->run(); });
  return replay;
}

TopReplay::TopReplay(store::Recording recording, size_t first_index,
                     FindMoment find, WakeUp wake)
    : recording_(std::move(recording)),
      find_(std::move(find)),
      wake_(std::move(wake)),
      tick_count_(recording_.ticks().size()) {
  wishes_.index = std::min(first_index, tick_count_ - 1);
}

TopReplay::~TopReplay() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.is_stopping = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

TopReplay::Snapshot TopReplay::take() {
  wake_.clear();
  const std::lock_guard<std::mutex> lock(mutex_);
  return newest_;
}

void TopReplay::want_maps(std::optional<model::ProcessId> process) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.maps = process;
  }
  changed_.notify_one();
}

void TopReplay::want(const analysis::TopNeeds& needs) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.needs = needs;
  }
  changed_.notify_one();
}

void TopReplay::move_by(int64_t ticks) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.index = static_cast<size_t>(
        std::clamp<int64_t>(static_cast<int64_t>(wishes_.index) + ticks, 0,
                            static_cast<int64_t>(tick_count_) - 1));
    wishes_.is_playing = false;
  }
  changed_.notify_one();
}

void TopReplay::go_to(std::string word) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.word = std::move(word);
  }
  changed_.notify_one();
}

bool TopReplay::go_to_peak(bool is_next) {
  std::optional<size_t> found;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!timeline_) return true;  // not known yet
    for (size_t peak : timeline_->peaks) {
      if (is_next && peak > wishes_.index && !found) found = peak;
      if (!is_next && peak < wishes_.index) found = peak;
    }
    if (!found) return false;
    wishes_.index = *found;
    wishes_.is_playing = false;
  }
  changed_.notify_one();
  return true;
}

void TopReplay::play_or_pause() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.is_playing = !wishes_.is_playing;
    // At its end it begins anew.
    if (wishes_.is_playing && wishes_.index + 1 >= tick_count_)
      wishes_.index = 0;
  }
  changed_.notify_one();
}

void TopReplay::change_speed(bool is_faster) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.speed = std::clamp(wishes_.speed * (is_faster ? 2.0 : 0.5),
                               kLeastSpeed, kMostSpeed);
  }
  changed_.notify_one();
}

uint64_t TopReplay::time_of(size_t index) const {
  return recording_.ticks()[index].monotonic_ns;
}

// What is asked of every moment is read once.
void TopReplay::load() {
  const std::vector<model::RecordedTick>& ticks = recording_.ticks();
  machines_.resize(ticks.size());
  machine_ticks_.resize(ticks.size());
  size_t next = 0;
  base::Status walked = recording_.walk_machine([&](int64_t tick,
                                                    const model::Machine&
                                                        machine) {
    while (next < ticks.size() && ticks[next].id < tick)
      ++next;
    if (next == ticks.size() || ticks[next].id != tick) return;
    model::Sample sample;
    sample.machine = machine;
    const std::optional<analysis::SystemReport> report =
        analysis::make_system_report(sample);
    if (report)
      machines_[next] = analysis::top_machine(*report, machine.meminfo);
    machine_ticks_[next] = {machine.vmstat.oom_kill_count, machine.pressure};
  });
  if (!walked) note_ = walked.error().what;
  base::Result<std::optional<model::RecordedTrace>> traced = recording_.trace();
  if (traced) recorded_trace_ = *traced;
  const base::Result<std::optional<model::RecordedVms>> vms = recording_.vms();
  has_vms_ = vms && vms->has_value();
  file_id_ = inode_of(recording_.path());
  make_timeline({});
}

store::ProcessSet TopReplay::matching(const std::string& text) const {
  const base::Result<analysis::ProcessFilter> filter =
      analysis::ProcessFilter::parse(text);
  if (!filter) return {};
  std::vector<int64_t> ticks;
  if (filter->has_sizes()) {
    for (const model::RecordedTick& tick : recording_.ticks())
      ticks.push_back(tick.id);
  }
  base::Result<model::Bands> bands = model::Bands();
  if (!ticks.empty()) bands = recording_.bands({}, ticks);
  return analysis::ever_matching(*filter, recording_.processes(),
                                 bands ? *bands : model::Bands());
}

// Only of a group that all of them are in, at the highest moment.
std::optional<uint64_t> TopReplay::group_mark(
    const model::Timeline& timeline, size_t highest,
    const store::ProcessSet& chosen) const {
  if (timeline.points.empty()) return std::nullopt;
  const base::Result<model::Sample> sample =
      recording_.sample_at(recording_.ticks()[highest].id, chosen);
  if (!sample) return std::nullopt;
  const std::optional<std::string> path = analysis::common_group(*sample);
  if (!path) return std::nullopt;
  analysis::GroupMarks marks;
  const base::Status walked = recording_.walk_cgroup(
      *path, [&](int64_t, const model::Cgroup& group) { marks.add(group); });
  if (!walked) return std::nullopt;
  return analysis::own_group_mark(marks, timeline.points.front().pss_bytes);
}

void TopReplay::make_timeline(const analysis::TopTimelineOf& of) {
  timeline_of_ = of;
  store::ProcessSet chosen;
  if (!of.filter.empty()) chosen = matching(of.filter);
  analysis::TopTimelineOf shown = {of.filter, {}};
  std::string name = of.filter;
  for (const model::RecordedProcess& process : recording_.processes()) {
    if (of.is_all()) break;
    if (of.filter.empty() && of.has(process.process)) {
      chosen.insert(process.id);
      name = process.images.back().comm;
    }
    if (chosen.contains(process.id)) shown.processes.push_back(process.process);
  }
  std::ranges::sort(shown.processes, {}, &model::ProcessId::pid);
  if (!of.is_all() && chosen.empty()) {
    // No process: to the recording that would mean all of them.
    analysis::TopTimeline none;
    none.of = name;
    none.chosen = shown;
    const std::lock_guard<std::mutex> lock(mutex_);
    timeline_ = std::make_shared<const analysis::TopTimeline>(std::move(none));
    return;
  }
  base::Result<model::Timeline> timeline = recording_.timeline(chosen);
  base::Result<std::vector<model::RecordedGap>> gaps = recording_.gaps();
  if (!timeline) {
    note_ = timeline.error().what;
    return;
  }
  analysis::TopTimeline made = analysis::make_top_timeline(
      *timeline, recording_.ticks(),
      gaps ? *gaps : std::vector<model::RecordedGap>{});
  made.of = name;
  made.chosen = shown;
  made.events = analysis::recorded_events(
      recording_.ticks(), recording_.processes(), machine_ticks_, chosen);
  // One line for all of it: that of the last moment.
  if (!recording_.ticks().empty()) {
    const base::Result<model::Sample> last =
        recording_.sample_at(recording_.ticks().back().id, {});
    if (last) made.limit_bytes = analysis::limit_of(*last, shown);
  }
  made.mark_bytes = group_mark(*timeline, made.highest, chosen);
  const std::lock_guard<std::mutex> lock(mutex_);
  timeline_ = std::make_shared<const analysis::TopTimeline>(std::move(made));
}

void TopReplay::add_processes(const std::vector<int64_t>& ticks,
                              const model::Bands& bands,
                              analysis::TopHistory& history) const {
  std::map<int64_t, model::ProcessId> ids;
  for (const model::RecordedProcess& process : recording_.processes())
    ids.emplace(process.id, process.process);
  for (const model::Band& band : bands.by_process) {
    auto id = band.process ? ids.find(*band.process) : ids.end();
    if (id == ids.end()) continue;
    analysis::TopSeries& series =
        history.processes[{id->second.pid, id->second.start_ticks}];
    series.resize(ticks.size());
    // Each point holds until the next.
    for (size_t i = 0; i < band.points.size(); ++i) {
      const size_t end = i + 1 < band.points.size()
                             ? band.points[i + 1].tick_index
                             : ticks.size();
      const model::BandShares& shares = band.points[i].shares;
      for (size_t k = band.points[i].tick_index; k < end; ++k) {
        series[k] = series[k].value_or(0) + shares.pss_bytes;
      }
    }
  }
}

// Kinds of each process that grew, and shared objects, which grow once for all
// that map them.
void TopReplay::add_growth(const model::Bands& bands, size_t tick_count,
                           analysis::TopSnapshot& snapshot) const {
  std::map<std::pair<int32_t, uint64_t>, size_t> shown;
  for (size_t i = 0; i < snapshot.sample.processes.size(); ++i) {
    const model::ProcessId& id = snapshot.sample.processes[i].id;
    shown[{id.pid, id.start_ticks}] = i;
  }
  std::map<int64_t, size_t> details;  // by number in the recording
  for (const model::RecordedProcess& process : recording_.processes()) {
    const auto at =
        shown.find({process.process.pid, process.process.start_ticks});
    if (at != shown.end()) details[process.id] = at->second;
  }
  for (const model::Band& band : bands.by_process) {
    const auto at = band.process ? details.find(*band.process) : details.end();
    const int64_t bytes = growth_of(band, tick_count);
    if (at == details.end() || bytes <= 0) continue;
    snapshot.details[at->second].grown.push_back({band.category, bytes});
  }
  for (const model::Band& band : bands.by_object) {
    const int64_t bytes = growth_of(band, tick_count);
    if (band.category != model::Category::Shm || bytes <= 0) continue;
    snapshot.growers.push_back({band.name, std::nullopt, bytes});
  }
}

void TopReplay::add_history(size_t index,
                            analysis::TopSnapshot& snapshot) const {
  auto history = std::make_shared<analysis::TopHistory>();
  size_t first = index;
  while (first > 0 &&
         time_of(index) - time_of(first - 1) <= analysis::kTopHistoryNs)
    --first;
  const size_t count = index - first + 1;
  const size_t shown = std::min(count, kReplayPoints);
  std::vector<int64_t> ids;
  std::optional<size_t> before;
  for (size_t i = 0; i < shown; ++i) {
    const size_t at =
        shown == 1 ? index : first + i * (count - 1) / (shown - 1);
    ids.push_back(recording_.ticks()[at].id);
    history->times_ns.push_back(time_of(at));
    history->machine.push_back(machines_[at]);
    const auto share = [&](auto member) -> std::optional<uint64_t> {
      if (!before) return std::nullopt;
      return analysis::stalled_share(machine_ticks_[*before].pressure.*member,
                                     machine_ticks_[at].pressure.*member,
                                     time_of(at) - time_of(*before));
    };
    history->stalled_some.push_back(share(&model::Pressure::some_ns));
    history->stalled_full.push_back(share(&model::Pressure::full_ns));
    before = at;
  }
  history->kinds.resize(shown);
  const base::Result<model::Bands> bands = recording_.bands({}, ids);
  if (bands) {
    add_processes(ids, *bands, *history);
    add_growth(*bands, ids.size(), snapshot);
  }
  snapshot.history = std::move(history);
}

void TopReplay::fill_maps(const model::Sample& sample, const Wishes& wishes,
                          analysis::TopSnapshot& snapshot) const {
  if (!wishes.maps) return;
  auto found =
      std::ranges::find(sample.processes, *wishes.maps, &model::Process::id);
  if (found == sample.processes.end()) {
    snapshot.maps_failure = "it was not there at this moment";
  } else if (!found->mappings) {
    snapshot.maps_failure = "its mappings were not read";
  } else {
    snapshot.maps =
        std::make_shared<const analysis::MapsReport>(analysis::make_maps_report(
            sample, *found, model::region_hints(*found, sample.memory_devices),
            analysis::MapsSort::Pss));
  }
}

// As they were read last at or before the moment, and over the minutes before.
base::Result<analysis::TopVms> TopReplay::vms_at(size_t index) const {
  const std::vector<model::RecordedTick>& ticks = recording_.ticks();
  size_t first = index;
  while (first > 0 &&
         time_of(index) - time_of(first - 1) <= analysis::kTopHistoryNs)
    --first;
  analysis::TopVms vms;
  analysis::VmHistory balloons;
  base::Status status = recording_.walk_vms(
      ticks[first].id, ticks[index].id,
      [&](int64_t tick, model::VmScan scan) -> base::Status {
        const auto at =
            std::ranges::lower_bound(ticks, tick, {}, &model::RecordedTick::id);
        vms.report = analysis::make_vm_report(std::move(scan), balloons);
        analysis::add_vm_points(vms.report, at->monotonic_ns,
                                analysis::kTopHistoryNs, vms.history);
        return base::Ok{};
      });
  if (!status) return status.error();
  return vms;
}

void TopReplay::fill_slow(const Wishes& wishes,
                          analysis::TopSnapshot& snapshot) const {
  analysis::TopSlow& slow = snapshot.slow;
  slow.objects.failure =
      "a recording holds what processes map, not who holds what open";
  slow.ledger.failure = "a recording holds counters, and no count of pages";
  slow.come_back.failure = "a recording does not tell who maps a page";
  if (!has_vms_) return;
  base::Result<analysis::TopVms> vms =
      wishes.needs.vms ? vms_at(wishes.index)
                       : base::Result<analysis::TopVms>(analysis::TopVms());
  if (!vms) {
    slow.vms.failure = vms.error().what;
    return;
  }
  vms->has_any = true;
  slow.vms.value = std::make_shared<const analysis::TopVms>(std::move(*vms));
  slow.vms.read_ns = time_of(wishes.index);
}

std::string TopReplay::file_trouble() const {
  if (file_id_ == 0 || inode_of(recording_.path()) == file_id_) return "";
  return std::string(base::base_name(recording_.path())) +
         " was replaced or removed: this is still the one before";
}

// As it was read at the moment, beside the reading before it.
void TopReplay::add_trace(size_t index, analysis::TopSnapshot& snapshot) {
  if (!recorded_trace_) return;
  snapshot.tracing = analysis::Tracing::Still;
  const std::vector<model::RecordedTick>& ticks = recording_.ticks();
  if (trace_index_ != index) {
    trace_index_ = index;
    trace_.reset();
    analysis::TraceHistoryKeeper keeper;
    if (index > 0) {
      base::Result<model::Trace> before =
          recording_.trace_at(ticks[index - 1].id);
      if (before) keeper.add(*before);
    }
    // It had not begun then.
    base::Result<model::Trace> trace = recording_.trace_at(ticks[index].id);
    if (!trace) return;
    std::shared_ptr<const model::TraceBefore> told;
    if (trace->before)
      told = std::make_shared<const model::TraceBefore>(*trace->before);
    const std::shared_ptr<const analysis::TraceHistory> history =
        keeper.add(*trace);
    trace_ = analysis::make_top_trace(
        std::make_shared<const model::Trace>(std::move(*trace)), history, told);
  }
  snapshot.trace = trace_;
}

void TopReplay::show(const Wishes& wishes) {
  // Whom a filter means at the moment is no matter: it is asked of all of them.
  if (!timeline_of_.is_same_wish(wishes.needs.timeline_of))
    make_timeline(wishes.needs.timeline_of);
  const model::RecordedTick& tick = recording_.ticks()[wishes.index];
  base::Result<model::Sample> sample = recording_.sample_at(tick.id, {});
  analysis::TopSnapshot snapshot;
  if (sample) {
    TopDigest digest(std::string(base::base_name(recording_.path())), {},
                     recording_.info().period_ns);
    snapshot = digest.digest_alone(*sample);
    // As `record --all` calls what it records.
    snapshot.has_all_processes = recording_.info().targets == "every process";
    fill_maps(*sample, wishes, snapshot);
  } else {
    note_ = sample.error().what;
  }
  add_trace(wishes.index, snapshot);
  const std::string trouble = file_trouble();
  snapshot.note = trouble.empty() ? note_ : trouble;
  fill_slow(wishes, snapshot);
  add_history(wishes.index, snapshot);
  analysis::TopPlayback playback;
  playback.tick_index = wishes.index;
  playback.elapsed_ns = time_of(wishes.index) - time_of(0);
  playback.end_ns = time_of(tick_count_ - 1) - time_of(0);
  playback.oldest_detail_ns =
      tick.oldest_detail_ticks * recording_.info().period_ns;
  playback.is_playing = wishes.is_playing;
  playback.speed = wishes.speed;
  snapshot.playback = playback;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    snapshot.timeline = timeline_;
    newest_ =
        std::make_shared<const analysis::TopSnapshot>(std::move(snapshot));
  }
  wake_.raise();
}

// Until something else is wished for, or the next tick is due.
void TopReplay::wait(Wishes& known) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_new = [&] { return wishes_ != known; };
  if (!known.is_playing) {
    changed_.wait(lock, is_new);
  } else {
    const size_t next = std::min(known.index + 1, tick_count_ - 1);
    const auto due = static_cast<uint64_t>(
        static_cast<double>(time_of(next) - began_at_ns_) / known.speed);
    const uint64_t passed = base::monotonic_ns() - began_ns_;
    // Ten frames a second at most, however fast it plays.
    constexpr uint64_t kFrameNs = 100'000'000;
    const uint64_t left =
        std::max(kFrameNs, due > passed ? due - passed : uint64_t{0});
    changed_.wait_for(lock, std::chrono::nanoseconds(left), is_new);
  }
  const bool restarts = wishes_.is_playing &&
                        (!known.is_playing || wishes_.speed != known.speed ||
                         wishes_.index != known.index);
  known = wishes_;
  if (restarts) {
    began_ns_ = base::monotonic_ns();
    began_at_ns_ = time_of(known.index);
  }
}

void TopReplay::advance(Wishes& wishes) {
  const auto reached =
      began_at_ns_ +
      static_cast<uint64_t>(
          static_cast<double>(base::monotonic_ns() - began_ns_) * wishes.speed);
  size_t index = wishes.index;
  while (index + 1 < tick_count_ && time_of(index + 1) <= reached)
    ++index;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Somebody else has chosen meanwhile: his choice stands.
  if (wishes_ != wishes) return;
  wishes_.index = index;
  if (index + 1 >= tick_count_) wishes_.is_playing = false;
  wishes = wishes_;
}

void TopReplay::look_up(Wishes& wishes) {
  base::Result<size_t> found = find_(recording_, wishes.word);
  note_ = found ? "" : found.error().what;
  const std::lock_guard<std::mutex> lock(mutex_);
  wishes_.word.clear();
  if (found) wishes_.index = *found;
  wishes = wishes_;
}

void TopReplay::run() {
  load();
  Wishes wishes;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes = wishes_;
  }
  while (!wishes.is_stopping) {
    if (!wishes.word.empty()) look_up(wishes);
    if (wishes.is_playing) advance(wishes);
    show(wishes);
    wait(wishes);
  }
}

}  // namespace tidemark::watch
