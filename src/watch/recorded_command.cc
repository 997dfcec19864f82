#include "watch/recorded_command.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/clock.h"

namespace tidemark::watch {

RecordedCommand::RecordedCommand(SignalRelay signals, TreeGauge gauge,
                                 source::Command command)
    : signals_(std::move(signals)),
      gauge_(std::move(gauge)),
      command_(std::move(command)),
      schedule_(base::monotonic_ns(), {}) {}

base::Result<RecordedCommand> RecordedCommand::prepare(
    const source::Roots& roots, source::CommandSpec spec) {
  base::Result<SignalRelay> signals = SignalRelay::block();
  if (!signals) return signals.error();
  base::Result<TreeGauge> gauge = TreeGauge::arrange(roots, {});
  if (!gauge) return gauge.error();
  spec.signal_mask = signals->inherited_mask();
  gauge->expect_child();
  base::Result<source::Command> command = source::Command::prepare(spec);
  if (!command) return command.error();
  base::Status status = gauge->take_in(command->pid());
  if (!status) return status.error();
  RecordedCommand recorded(std::move(*signals), std::move(*gauge),
                           std::move(*command));
  recorded.gauge_.set_step_permille(
      recorded.schedule_.step_permille(base::monotonic_ns()));
  recorded.gauge_.set_mark(1);
  return recorded;
}

std::vector<int32_t> RecordedCommand::members() {
  std::vector<int32_t> pids;
  for (const source::TreeMember& member : gauge_.members())
    pids.push_back(member.pid);
  return pids;
}

bool RecordedCommand::is_due() {
  uint64_t crossed_bytes = 0;
  gauge_.drain(
      [&](const source::NewHigh& high) {
        crossed_bytes = std::max(crossed_bytes, high.bytes);
      },
      [](const model::ProcessLife&) {});
  return crossed_bytes > 0 && schedule_.crossed(base::monotonic_ns(),
                                                crossed_bytes) != Picture::None;
}

// Growth that has stopped since, or a sample that could not be paid for then.
bool RecordedCommand::is_owed() {
  const uint64_t now = base::monotonic_ns();
  const std::optional<uint64_t> look = schedule_.next_look_ns();
  return look && now >= *look &&
         schedule_.looked(now, gauge_.height_bytes()) != Picture::None;
}

WaitEnd RecordedCommand::wait_until(uint64_t monotonic_ns) {
  while (true) {
    std::array<pollfd, 3> waiting = {{
        {command_.end_fd(), POLLIN, 0},
        {signals_.fd(), POLLIN, 0},
        {gauge_.wake_fd(), POLLIN, 0},
    }};
    const uint64_t now = base::monotonic_ns();
    const uint64_t until =
        std::min(monotonic_ns, schedule_.next_look_ns().value_or(UINT64_MAX));
    const uint64_t left = until > now ? until - now : 0;
    constexpr uint64_t kSecond = 1'000'000'000;
    const timespec timeout{static_cast<time_t>(left / kSecond),
                           static_cast<long>(left % kSecond)};
    ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
    signals_.relay_to(command_.pid());
    if (!ending_) ending_ = command_.ending();
    if (ending_) return WaitEnd::Stop;
    if (is_due() || is_owed()) return WaitEnd::Wake;
    if (base::monotonic_ns() >= monotonic_ns) return WaitEnd::Due;
  }
}

void RecordedCommand::sampled(uint64_t cost_ns) {
  const uint64_t now = base::monotonic_ns();
  schedule_.captured(Picture::Full, cost_ns, now, gauge_.height_bytes());
  gauge_.set_step_permille(schedule_.step_permille(now));
}

std::optional<source::Ending> RecordedCommand::finish() {
  base::Status status = gauge_.undo();
  (void)status;  // what is left behind is a group the guardian removes
  return ending_;
}

}  // namespace tidemark::watch
