// Asks Firecracker and Cloud Hypervisor, which answer HTTP on a unix socket.
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/http_client.h"
#include "parse/vm_replies.h"
#include "source/process_parts.h"
#include "source/vm/guest_asking.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::GuestAnswer;
using model::GuestState;

// One connection for each question: that is what any server of HTTP takes.
class HttpMonitor {
 public:
  HttpMonitor(const Roots& roots, ControlPath control, uint64_t deadline_ns)
      : roots_(roots),
        control_(std::move(control)),
        deadline_ns_(deadline_ns) {}

  base::Result<base::HttpAnswer> get(const std::string& target) const {
    const uint64_t until_ns = base::monotonic_ns() + deadline_ns_;
    base::Result<base::UnixSocket> socket =
        connect_control(roots_, control_, base::SocketType::Stream);
    if (!socket) return socket.error();
    return base::http_get(*socket, target, until_ns);
  }

 private:
  const Roots& roots_;
  ControlPath control_;
  uint64_t deadline_ns_;
};

constexpr unsigned kHttpOk = 200;
constexpr unsigned kHttpBadRequest = 400;

void note_http_failure(const base::Error& error, GuestAnswer& answer) {
  const bool is_out_of_reach =
      error.kind == ErrorKind::NotFound || error.kind == ErrorKind::Denied;
  set_state(answer,
            is_out_of_reach ? GuestState::Unreachable : GuestState::Failed,
            reason_of(error));
}

void note_status(const base::HttpAnswer& got, GuestAnswer& answer) {
  constexpr size_t kShown = 120;
  set_state(answer, GuestState::Failed,
            "HTTP " + std::to_string(got.status) + ": " +
                base::visible(got.body.substr(0, kShown)));
}

void take_telling(const parse::BalloonTelling& told, GuestAnswer& answer) {
  answer.balloon_bytes = told.balloon_bytes;
  answer.stats = told.stats;
  answer.state = GuestState::Told;
  if (told.stats.is_empty()) {
    set_state(answer, GuestState::Silent, "the guest has told nothing yet");
  }
}

// What is asked once in a while, as it was last told.
void recall_settings(const GuestMemory& memory, GuestAnswer& answer) {
  answer.configured_bytes = memory.settings.configured_bytes;
  answer.deflates_on_oom = memory.settings.deflates_on_oom;
  answer.reports_free_pages = memory.settings.reports_free_pages;
  answer.polling_interval_s = memory.settings.polling_interval_s;
}

void remember_settings(const GuestAnswer& answer, uint64_t now_ns,
                       GuestMemory& memory) {
  memory.settings = answer;
  memory.settings_ns = now_ns;
}

void take_settings(const parse::BalloonSettings& settings,
                   GuestAnswer& answer) {
  answer.deflates_on_oom = settings.deflates_on_oom;
  answer.reports_free_pages = settings.reports_free_pages;
  answer.polling_interval_s = settings.polling_interval_s;
}

// False, with the state set, where there is no balloon to ask about.
bool take_firecracker_balloon(const HttpMonitor& monitor, GuestAnswer& answer) {
  base::Result<base::HttpAnswer> got = monitor.get("/balloon");
  if (!got) {
    note_http_failure(got.error(), answer);
    return false;
  }
  if (got->status == kHttpBadRequest) {
    set_state(answer, GuestState::NoBalloon, "the VM has no balloon device");
    return false;
  }
  if (got->status != kHttpOk) {
    note_status(*got, answer);
    return false;
  }
  base::Result<parse::BalloonSettings> settings =
      parse::parse_firecracker_balloon(got->body);
  if (!settings) {
    note_failure(settings.error(), answer);
    return false;
  }
  take_settings(*settings, answer);
  return true;
}

bool take_cloud_vm(const HttpMonitor& monitor, GuestAnswer& answer) {
  base::Result<base::HttpAnswer> got = monitor.get("/api/v1/vm.info");
  if (!got) {
    note_http_failure(got.error(), answer);
    return false;
  }
  if (got->status != kHttpOk) {
    note_status(*got, answer);
    return false;
  }
  base::Result<parse::CloudVm> vm = parse::parse_cloud_vm(got->body);
  if (!vm) {
    note_failure(vm.error(), answer);
    return false;
  }
  answer.configured_bytes = vm->configured_bytes;
  take_settings(vm->settings, answer);
  if (vm->actual_bytes && *vm->actual_bytes <= vm->configured_bytes) {
    answer.balloon_bytes = vm->configured_bytes - *vm->actual_bytes;
  }
  if (!vm->has_balloon) {
    set_state(answer, GuestState::NoBalloon, "the VM has no balloon device");
  }
  return vm->has_balloon;
}

// False, with the state set, where there is nothing more to ask.
bool take_firecracker_settings(const HttpMonitor& monitor, GuestMemory& memory,
                               GuestAnswer& answer) {
  const uint64_t now_ns = base::monotonic_ns();
  if (memory.has_settings(now_ns)) {
    recall_settings(memory, answer);
    return true;
  }
  base::Result<base::HttpAnswer> machine = monitor.get("/machine-config");
  if (!machine) {
    note_http_failure(machine.error(), answer);
    return false;
  }
  base::Result<uint64_t> bytes = parse::parse_firecracker_memory(machine->body);
  if (!bytes) {
    note_failure(bytes.error(), answer);
    return false;
  }
  answer.configured_bytes = *bytes;
  if (!take_firecracker_balloon(monitor, answer)) return false;
  remember_settings(answer, now_ns, memory);
  return true;
}

}  // namespace

void ask_firecracker(const Roots& roots, const FoundVm& vm,
                     const QuestionOptions& options, GuestMemory& memory,
                     GuestAnswer& answer) {
  answer.source = "Firecracker API";
  const HttpMonitor monitor(roots, control_paths(vm, options).front(),
                            options.deadline_ns);
  if (!take_firecracker_settings(monitor, memory, answer)) return;
  base::Result<base::HttpAnswer> got = monitor.get("/balloon/statistics");
  if (!got) return note_http_failure(got.error(), answer);
  if (got->status == kHttpBadRequest) {
    return set_state(answer, GuestState::Off,
                     "Firecracker does not ask its guest: statistics must be "
                     "switched on before it starts");
  }
  if (got->status != kHttpOk) return note_status(*got, answer);
  base::Result<parse::BalloonTelling> told =
      parse::parse_firecracker_stats(got->body);
  if (!told) return note_failure(told.error(), answer);
  take_telling(*told, answer);
}

void ask_cloud_hypervisor(const Roots& roots, const FoundVm& vm,
                          const QuestionOptions& options, GuestMemory& memory,
                          GuestAnswer& answer) {
  answer.source = "Cloud Hypervisor API";
  const HttpMonitor monitor(roots, control_paths(vm, options).front(),
                            options.deadline_ns);
  const uint64_t now_ns = base::monotonic_ns();
  const bool is_known = memory.has_settings(now_ns);
  if (is_known) recall_settings(memory, answer);
  if (!is_known && !take_cloud_vm(monitor, answer)) return;
  base::Result<base::HttpAnswer> got = monitor.get("/api/v1/vm.balloon-stats");
  if (!got) return note_http_failure(got.error(), answer);
  constexpr unsigned kNotFound = 404;
  if (got->status == kNotFound) {
    return set_state(answer, GuestState::Off,
                     "Cloud Hypervisor of this version does not tell of its "
                     "guest");
  }
  if (got->status != kHttpOk) return note_status(*got, answer);
  base::Result<parse::BalloonTelling> told =
      parse::parse_cloud_stats(got->body);
  if (!told) return note_failure(told.error(), answer);
  take_telling(*told, answer);
  // One that does not tell has its balloon asked by vm.info each time.
  if (!is_known && answer.state == GuestState::Told) {
    remember_settings(answer, now_ns, memory);
  }
}

}  // namespace tidemark::source
