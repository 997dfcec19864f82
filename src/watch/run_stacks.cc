#include "watch/run_stacks.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace tidemark::watch {

base::Result<std::unique_ptr<RunStacks>> RunStacks::start(
    const source::Roots& roots, int32_t pid, uint64_t period) {
  TraceMeansOptions options;
  options.trace.with_user_stacks = true;
  options.trace.sample_period = period;
  options.trace.filter.tree_pid = pid;
  base::Result<ChosenTrace> chosen = choose_trace(roots, options);
  if (!chosen) return base::within("stacks of programs", chosen.error());
  base::Fd end(::eventfd(0, EFD_CLOEXEC));
  if (!end) return base::fail_errno("eventfd", errno);
  return std::make_unique<RunStacks>(std::move(*chosen), std::move(end));
}

RunStacks::RunStacks(ChosenTrace chosen, base::Fd end)
    : chosen_(std::move(chosen)), end_(std::move(end)) {
  chosen_.go();
  thread_ = std::thread([this] { follow(); });
}

RunStacks::~RunStacks() {
  stop();
}

void RunStacks::follow() {
  // Often enough to tell what only rises.
  constexpr uint64_t kLookNs = 250'000'000;
  constexpr int kWaitMs = 250;
  std::array<pollfd, 2> waiting = {
      {{end_.get(), POLLIN, 0}, {chosen_.live->wake_fd(), POLLIN, 0}}};
  uint64_t next_look_ns = base::monotonic_ns();
  while (true) {
    ::poll(waiting.data(), waiting.size(), kWaitMs);
    if (waiting[0].revents != 0) return;
    chosen_.live->drain();
    const uint64_t now = base::monotonic_ns();
    if (now < next_look_ns) continue;
    chosen_.live->look();
    next_look_ns = now + kLookNs;
  }
}

void RunStacks::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

base::Result<model::Trace> RunStacks::finish(const source::Roots& roots) {
  stop();
  return chosen_.read_last(roots);
}

}  // namespace tidemark::watch
