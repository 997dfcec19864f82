#include "watch/run_watch.h"

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/page_size.h"
#include "model/smaps_fields.h"
#include "source/machine_reader.h"
#include "source/tree_camera.h"
#include "watch/capture_schedule.h"
#include "watch/height_history.h"
#include "watch/run_stacks.h"
#include "watch/signal_relay.h"

namespace tidemark::watch {
namespace {

// Beyond this many processes only their number is kept.
constexpr size_t kLifeLimit = 200'000;
constexpr size_t kHistoryPoints = 240;
constexpr uint64_t kFirstStretchNs = 5'000'000;

struct CapturedSums {
  uint64_t rss_bytes = 0;
  uint64_t pss_bytes = 0;
  uint64_t hugetlb_bytes = 0;
  uint64_t swap_bytes = 0;
};

CapturedSums sums_of(const model::Sample& sample) {
  CapturedSums sums;
  for (const model::Process& process : sample.processes) {
    if (!process.rollup) continue;
    const model::SmapsFields& fields = *process.rollup;
    const uint64_t huge = model::hugetlb_bytes(fields).value_or(0);
    sums.rss_bytes += fields.get_or_zero(model::SmapsField::Rss);
    sums.pss_bytes += fields.get_or_zero(model::SmapsField::Pss) + huge;
    sums.hugetlb_bytes += huge;
    sums.swap_bytes += fields.get_or_zero(model::SmapsField::SwapPss);
  }
  return sums;
}

void raise(std::optional<model::Maximum>& maximum, uint64_t bytes,
           uint64_t time_ns, const char* source) {
  if (bytes == 0 || (maximum && maximum->bytes >= bytes)) return;
  maximum = model::Maximum{bytes, time_ns, source};
}

// A picture that comes late is a picture of something else. First in line, but
// never for long: each turn ends in a wait.
void raise_priority() {
  sched_param parameter{};
  parameter.sched_priority = 1;
  if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) ==
      0) {
    return;
  }
  constexpr int kNicer = -10;
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kNicer));
}

class RunWatch {
 public:
  RunWatch(const source::Roots& roots, const RunOptions& options,
           TreeGauge gauge, SignalRelay signals)
      : options_(options),
        gauge_(std::move(gauge)),
        signals_(std::move(signals)),
        camera_(roots) {}

  RunOutcome run(const source::Roots& roots);

 private:
  base::Status start(const source::Roots& roots, source::Command& command);
  void watch(source::Command& command);
  bool turn(source::Command& command);
  uint64_t next_deadline(uint64_t now) const;
  void wait(const source::Command& command, uint64_t deadline);
  void take_events();
  uint64_t look(uint64_t now);
  void capture(Picture picture, uint64_t now);
  uint64_t keep(model::Capture capture);
  void let_go();
  void reap_orphans(pid_t command);
  bool is_tree_empty() { return gauge_.members().empty(); }

  const RunOptions& options_;
  TreeGauge gauge_;
  SignalRelay signals_;
  source::TreeCamera camera_;
  std::optional<CaptureSchedule> schedule_;
  std::optional<HeightHistory> history_;
  model::RunRecord record_;
  // What the picture that is kept shows, by its height and by its PSS.
  uint64_t captured_bytes_ = 0;
  uint64_t captured_pss_bytes_ = 0;
  uint64_t next_history_ns_ = 0;
  uint64_t next_poll_ns_ = 0;
  uint64_t last_look_cost_ns_ = 0;
  uint64_t next_tick_ns_ = UINT64_MAX;
  std::vector<int32_t> stopped_;
  uint64_t stopped_since_ns_ = 0;
  std::unique_ptr<RunStacks> stacks_;
};

base::Status RunWatch::start(const source::Roots& roots,
                             source::Command& command) {
  base::Status status = gauge_.take_in(command.pid());
  if (!status) return status;
  // Its thread must not be first in line.
  if (options_.stack_period) {
    base::Result<std::unique_ptr<RunStacks>> stacks =
        RunStacks::start(roots, command.pid(), *options_.stack_period);
    if (!stacks) return stacks.error();
    stacks_ = std::move(*stacks);
  }
  raise_priority();
  // A rehearsal: the first picture pays for code that is not in memory yet, and
  // would use up the budget of a short run.
  static_cast<void>(camera_.take({{command.pid(), 0, false}}, gauge_.group(),
                                 source::Exposure::Full));
  record_.started_realtime_ns = base::realtime_ns();
  record_.started_ns = base::monotonic_ns();
  CaptureBudget budget;
  // Who is stopped at each mark is promised that none is far from the next.
  if (options_.gauge.stops_at_crossing) budget.most_step_permille = 50;
  schedule_.emplace(record_.started_ns, budget);
  history_.emplace(record_.started_ns, kFirstStretchNs, kHistoryPoints);
  next_history_ns_ = record_.started_ns;
  next_poll_ns_ = record_.started_ns;
  if (options_.tick_period_ns != 0) next_tick_ns_ = record_.started_ns;
  gauge_.set_step_permille(schedule_->step_permille(record_.started_ns));
  gauge_.set_mark(1);
  return base::Ok{};
}

uint64_t RunWatch::next_deadline(uint64_t now) const {
  uint64_t deadline = std::min(next_history_ns_, next_tick_ns_);
  if (schedule_->next_look_ns()) {
    deadline = std::min(deadline, *schedule_->next_look_ns());
  }
  if (gauge_.poll_period_ns()) deadline = std::min(deadline, next_poll_ns_);
  return std::max(deadline, now);
}

void RunWatch::wait(const source::Command& command, uint64_t deadline) {
  std::array<pollfd, 3> waiting = {{
      {command.end_fd(), POLLIN, 0},
      {signals_.fd(), POLLIN, 0},
      {gauge_.wake_fd(), POLLIN, 0},
  }};
  const uint64_t now = base::monotonic_ns();
  const uint64_t left = deadline > now ? deadline - now : 0;
  const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                         static_cast<long>(left % 1'000'000'000)};
  ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
}

void RunWatch::take_events() {
  uint64_t crossed_bytes = 0;
  gauge_.drain(
      [&](const source::NewHigh& high) {
        crossed_bytes = std::max(crossed_bytes, high.bytes);
        history_->add(high.time_ns, high.bytes);
        if (high.stopped_pid == 0) return;
        if (stopped_.empty()) stopped_since_ns_ = base::monotonic_ns();
        stopped_.push_back(high.stopped_pid);
      },
      [&](model::ProcessLife life) {
        if (record_.lives.size() < kLifeLimit) {
          record_.lives.push_back(std::move(life));
        } else {
          ++record_.unlisted_count;
        }
      });
  const uint64_t now = base::monotonic_ns();
  // A process that was stopped for a picture gets it, whatever the budget.
  schedule_->set_has_quick(camera_.can_be_quick());
  Picture due = crossed_bytes > 0 ? schedule_->crossed(now, crossed_bytes)
                                  : Picture::None;
  if (due == Picture::None && !stopped_.empty()) {
    due = camera_.can_be_quick() ? Picture::Quick : Picture::Full;
  }
  if (due != Picture::None) capture(due, now);
}

// Returns what looking cost, without the picture it may have led to.
uint64_t RunWatch::look(uint64_t now) {
  const uint64_t height = gauge_.height_bytes();
  const uint64_t spent = base::monotonic_ns() - now;
  history_->add(now, height);
  schedule_->set_has_quick(camera_.can_be_quick());
  const Picture due = schedule_->looked(now, height);
  if (due != Picture::None) capture(due, now);
  return spent;
}

void RunWatch::capture(Picture picture, uint64_t now) {
  const bool is_frozen = options_.gauge.freezes && gauge_.freeze();
  const uint64_t risen_to = gauge_.has_left() ? gauge_.height_bytes() : 0;
  model::Capture capture =
      camera_.take(gauge_.members(), gauge_.group(),
                   picture == Picture::Quick ? source::Exposure::Quick
                                             : source::Exposure::Full);
  capture.was_frozen = is_frozen;
  capture.was_stopped = !stopped_.empty();
  if (options_.gauge.freezes) {
    gauge_.thaw();
    record_.cost.stopped_ns += base::monotonic_ns() - now;
    ++record_.cost.stop_count;
  }
  let_go();
  const uint64_t ended = base::monotonic_ns();
  const uint64_t height = std::max(keep(std::move(capture)), risen_to);
  schedule_->captured(picture, ended - now, ended, height);
  ++record_.cost.capture_count;
  record_.cost.capture_ns += ended - now;
  record_.cost.longest_capture_ns =
      std::max(record_.cost.longest_capture_ns, ended - now);
  gauge_.set_step_permille(schedule_->step_permille(ended));
}

// Sends on whoever stands still for us. By pidfd, so that a pid that was given
// to a stranger meanwhile is not mistaken: it would not be a member.
void RunWatch::let_go() {
  if (stopped_.empty()) return;
  for (int32_t pid : std::exchange(stopped_, {})) {
    const base::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const std::vector<source::TreeMember> members = gauge_.members();
    if (!pidfd || std::ranges::find(members, pid, &source::TreeMember::pid) ==
                      members.end()) {
      continue;
    }
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGCONT, nullptr, 0);
    ++record_.cost.stop_count;
  }
  record_.cost.stopped_ns += base::monotonic_ns() - stopped_since_ns_;
}

// The picture counts for what was surely there all the time it was taken: that
// height is returned.
uint64_t RunWatch::keep(model::Capture capture) {
  const CapturedSums sums = sums_of(capture.sample);
  const uint64_t at = capture.sample.started_monotonic_ns;
  const uint64_t height = model::held_bytes(capture).value_or(sums.rss_bytes);
  if (capture.charged_before_bytes) {
    history_->add(at, *capture.charged_before_bytes);
  }
  raise(record_.pss, sums.pss_bytes, at, "highest of the captures");
  raise(record_.hugetlb, sums.hugetlb_bytes, at, "highest of the captures");
  raise(record_.swap,
        std::max(sums.swap_bytes, capture.stat.swap_bytes.value_or(0)), at,
        "highest of the captures");
  gauge_.learn(capture.sample);
  // The account of the group is no measure for who is not in it.
  const bool is_higher = gauge_.has_left()
                             ? sums.pss_bytes > captured_pss_bytes_
                             : height > captured_bytes_;
  if (record_.capture && !is_higher) return height;
  captured_bytes_ = height;
  captured_pss_bytes_ = sums.pss_bytes;
  record_.capture = std::move(capture);
  return height;
}

// Where we asked to be the reaper of orphans.
void RunWatch::reap_orphans(pid_t command) {
  if (gauge_.method() != model::RunMethod::Sampled) return;
  while (true) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0 || info.si_pid == command) {
      return;
    }
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

// One round: waits, takes what came, looks if it is time. False at the end.
bool RunWatch::turn(source::Command& command) {
  wait(command, next_deadline(base::monotonic_ns()));
  signals_.relay_to(command.pid());
  take_events();
  const uint64_t now = base::monotonic_ns();
  const bool is_poll_due = gauge_.poll_period_ns() && now >= next_poll_ns_;
  const bool is_look_due =
      schedule_->next_look_ns() && now >= *schedule_->next_look_ns();
  if (is_poll_due || is_look_due || now >= next_history_ns_) {
    // Looking may cost a tenth of the time where it is all we have, a fiftieth
    // where we are woken, however large the tree. The shorter of two looks
    // counts: one that lost the CPU would blind us.
    constexpr uint64_t kPollRest = 10;
    constexpr uint64_t kHistoryRest = 50;
    const uint64_t cost = look(now);
    const uint64_t spent =
        std::min(cost, std::exchange(last_look_cost_ns_, cost));
    next_poll_ns_ =
        now + std::max(gauge_.poll_period_ns().value_or(0), spent * kPollRest);
    next_history_ns_ =
        now + std::max(history_->stretch_ns(), spent * kHistoryRest);
  }
  if (now >= next_tick_ns_) {
    std::vector<int32_t> pids;
    for (const source::TreeMember& member : gauge_.members()) {
      pids.push_back(member.pid);
    }
    options_.tick(command.pid(), pids);
    while (next_tick_ns_ <= now)
      next_tick_ns_ += options_.tick_period_ns;
  }
  reap_orphans(command.pid());
  if (std::optional<source::Ending> ending = command.ending()) {
    record_.wait_status = ending->wait_status;
    record_.ended_ns = base::monotonic_ns();
    record_.command_max_rss_bytes = ending->max_rss_bytes;
  }
  if (record_.ended_ns == 0) return true;
  return options_.waits_for_all && !is_tree_empty();
}

void RunWatch::watch(source::Command& command) {
  const uint64_t cpu_before = base::own_cpu_ns();
  while (turn(command)) {
  }
  record_.root_pid = command.pid();
  take_events();
  let_go();
  reap_orphans(command.pid());
  record_.cost.cpu_ns = base::own_cpu_ns() - cpu_before;
}

RunOutcome RunWatch::run(const source::Roots& roots) {
  record_.command = options_.command.arguments;
  record_.page_size_bytes = base::page_bytes();
  source::CommandSpec spec = options_.command;
  spec.signal_mask = signals_.inherited_mask();
  gauge_.expect_child();
  base::Result<source::Command> command = source::Command::prepare(spec);
  if (!command) return {{}, RunFailure{command.error(), false}, {}};
  base::Status status = start(roots, *command);
  if (!status) return {{}, RunFailure{status.error(), false}, {}};
  record_.memory_devices = source::read_memory_devices(roots, command->pid());
  status = command->release();
  if (!status) return {{}, RunFailure{status.error(), true}, {}};
  watch(*command);
  std::optional<model::Trace> trace;
  if (stacks_) {
    base::Result<model::Trace> read = stacks_->finish(roots);
    if (!read) return {{}, RunFailure{read.error(), false}, {}};
    trace = std::move(*read);
  }
  gauge_.fill(record_);
  status = gauge_.undo();
  if (!status) record_.method_notes.push_back(status.error().what);
  if (options_.gauge.freezes && record_.capture &&
      !record_.capture->was_frozen) {
    record_.method_notes.push_back(
        "the picture is of a moving tree: it did not freeze within 250 ms");
  }
  record_.history = history_->points();
  return {std::move(record_), std::nullopt, std::move(trace)};
}

}  // namespace

RunOutcome watch_command(const source::Roots& roots,
                         const RunOptions& options) {
  base::Result<SignalRelay> signals = SignalRelay::block();
  if (!signals) return {{}, RunFailure{signals.error(), false}, {}};
  base::Result<TreeGauge> gauge = TreeGauge::arrange(roots, options.gauge);
  if (!gauge) return {{}, RunFailure{gauge.error(), false}, {}};
  RunWatch watch(roots, options, std::move(*gauge), std::move(*signals));
  return watch.run(roots);
}

}  // namespace tidemark::watch
