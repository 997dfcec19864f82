// Asks libvirt through virsh, read-only. Its library would be a dependency of
// every build for the few machines that have it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/child_output.h"
#include "base/escape.h"
#include "base/text.h"
#include "parse/vm_replies.h"
#include "source/process_parts.h"
#include "source/vm/guest_asking.h"

namespace tidemark::source {
namespace {

using model::GuestAnswer;
using model::GuestState;

constexpr const char* kVirsh = "/usr/bin/virsh";

base::ChildLimits virsh_limits(uint64_t deadline_ns) {
  // Starting it takes longer than its answer.
  constexpr std::chrono::milliseconds kLeast{1500};
  constexpr size_t kMostBytes = 64 << 10;
  return {
      std::max(kLeast, std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::nanoseconds(deadline_ns))),
      kMostBytes};
}

void take_virsh(const parse::VirshBalloon& told, const FoundVm& vm,
                GuestAnswer& answer) {
  answer.configured_bytes = told.maximum_bytes;
  if (told.maximum_bytes && told.current_bytes &&
      *told.current_bytes <= *told.maximum_bytes) {
    answer.balloon_bytes = *told.maximum_bytes - *told.current_bytes;
  }
  answer.deflates_on_oom = vm.arguments.deflates_on_oom;
  answer.reports_free_pages = vm.arguments.reports_free_pages;
  answer.stats = told.stats;
  answer.updated_realtime_s = told.updated_realtime_s;
  const bool is_told =
      told.updated_realtime_s.value_or(0) != 0 && !told.stats.is_empty();
  answer.state = GuestState::Told;
  if (!is_told) {
    set_state(answer, GuestState::Off,
              "libvirt does not ask its guest: `virsh dommemstat --period` "
              "sets how often");
  }
}

}  // namespace

void ask_libvirt(const FoundVm& vm, const QuestionOptions& options,
                 GuestAnswer& answer) {
  answer.source = "libvirt";
  if (::access(kVirsh, X_OK) != 0) {
    return set_state(answer, GuestState::Unreachable,
                     "its monitor is held by who started it, and there is no "
                     "virsh to ask libvirt");
  }
  // The name is a stranger's: "--" keeps it from being an option.
  base::Result<base::ChildOutput> child =
      base::run_child(kVirsh,
                      {"-q", "-r", "-c", "qemu:///system", "domstats",
                       "--balloon", "--", vm.arguments.name},
                      virsh_limits(options.deadline_ns));
  if (!child) return note_failure(child.error(), answer);
  if (child->wait_status != 0) {
    std::string_view errors = child->errors;
    return set_state(answer, GuestState::Failed,
                     "virsh: " + base::visible(base::take_line(errors)));
  }
  base::Result<parse::VirshBalloon> told =
      parse::parse_virsh_balloon(child->output);
  if (!told) return note_failure(told.error(), answer);
  take_virsh(*told, vm, answer);
}

}  // namespace tidemark::source
