#include "cli/vm_polling.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::cli {
namespace {

// QEMU counts in seconds, and 0 would switch it off.
uint64_t whole_seconds(uint64_t ns) {
  return std::max<uint64_t>((ns + base::kNsPerSecond - 1) / base::kNsPerSecond,
                            1);
}

std::string title(const source::FoundVm& vm) {
  const std::string pid = std::to_string(vm.id.pid);
  return vm.arguments.name.empty()
             ? "pid " + pid
             : base::visible(vm.arguments.name) + " (" + pid + ")";
}

}  // namespace

base::Result<VmPolling> VmPolling::start(
    const source::Roots& roots, source::VmSource& source,
    const source::QuestionOptions& question, std::optional<uint64_t> poll_ns) {
  VmPolling polling(roots, question);
  if (!poll_ns) return polling;
  if (!roots.is_live) {
    return base::fail(base::ErrorKind::Misused,
                      "--poll needs running VMs, not a copied tree");
  }
  polling.interval_s_ = whole_seconds(*poll_ns);
  base::Result<std::vector<source::FoundVm>> vms = source.choose();
  if (!vms) return vms.error();
  for (source::FoundVm& vm : *vms) {
    if (vm.kind != model::VmKind::Qemu) continue;
    base::Result<uint64_t> before =
        source::set_polling(roots, vm, polling.interval_s_, question);
    if (!before) {
      polling.notes_.push_back(title(vm) + ": statistics cannot be set: " +
                               base::visible(before.error().what));
    } else if (*before != polling.interval_s_) {
      polling.changed_.push_back({std::move(vm), *before});
    }
  }
  return polling;
}

VmPolling::~VmPolling() {
  stop();
}

bool VmPolling::wait_for_first(watch::StopSignals& signals) const {
  if (changed_.empty()) return true;
  // The guest is asked at the end of the first interval and answers at once.
  constexpr uint64_t kAnswerNs = 300'000'000;
  const uint64_t until_ns =
      base::monotonic_ns() + interval_s_ * base::kNsPerSecond + kAnswerNs;
  return signals.wait_until(until_ns) != watch::WaitEnd::Stop;
}

std::vector<std::string> VmPolling::stop() {
  std::vector<std::string> failures;
  for (const Changed& changed : std::exchange(changed_, {})) {
    base::Result<uint64_t> done =
        source::set_polling(*roots_, changed.vm, changed.before_s, question_);
    if (done) continue;
    failures.push_back(title(changed.vm) + ": the polling interval is still " +
                       std::to_string(interval_s_) + " s and was " +
                       std::to_string(changed.before_s) +
                       " s: " + base::visible(done.error().what));
  }
  return failures;
}

}  // namespace tidemark::cli
