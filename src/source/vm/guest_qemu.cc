// Asks QEMU over QMP.
#include <utility>

#include "base/clock.h"
#include "model/guest_ram.h"
#include "parse/vm_replies.h"
#include "source/process_parts.h"
#include "source/vm/guest_asking.h"
#include "source/vm/qmp_session.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::GuestAnswer;
using model::GuestState;

constexpr std::string_view kPolling = "guest-stats-polling-interval";

// The first that greets. Of several failures the first is told.
base::Result<QmpSession> open_qmp(const Roots& roots, const FoundVm& vm,
                                  const QuestionOptions& options) {
  base::Result<QmpSession> first =
      base::fail(ErrorKind::NotFound, "no control socket");
  bool is_first = true;
  for (const ControlPath& control : control_paths(vm, options)) {
    base::Result<QmpSession> session =
        QmpSession::open(roots, control, options.deadline_ns);
    if (session) return session;
    if (std::exchange(is_first, false)) first = session.error();
  }
  return first;
}

// A device that lacks a property is of an older QEMU: its field stays empty.
void read_balloon_settings(QmpSession& qmp, const std::string& path,
                           GuestAnswer& answer) {
  const auto flag = [&](std::string_view name) -> std::optional<bool> {
    base::Result<std::string> line = qmp.property(path, name);
    if (!line) return std::nullopt;
    base::Result<bool> value = parse::parse_qmp_flag(*line);
    if (!value) return std::nullopt;
    return *value;
  };
  answer.deflates_on_oom = flag("deflate-on-oom");
  answer.reports_free_pages = flag("free-page-reporting");
  base::Result<std::string> line = qmp.property(path, kPolling);
  if (!line) return;
  base::Result<uint64_t> interval = parse::parse_qmp_number(*line);
  if (interval) answer.polling_interval_s = *interval;
}

void read_qemu_stats(QmpSession& qmp, const std::string& path,
                     GuestAnswer& answer) {
  base::Result<std::string> line = qmp.property(path, "guest-stats");
  if (!line) return note_failure(line.error(), answer);
  base::Result<parse::QmpGuestStats> told = parse::parse_qmp_guest_stats(*line);
  if (!told) return note_failure(told.error(), answer);
  answer.stats = told->stats;
  answer.updated_realtime_s = told->updated_realtime_s;
  if (told->updated_realtime_s != 0 && !told->stats.is_empty()) {
    answer.state = GuestState::Told;
  } else if (answer.polling_interval_s.value_or(0) == 0) {
    set_state(answer, GuestState::Off,
              "QEMU does not ask its guest: the polling interval is 0");
  } else {
    set_state(answer, GuestState::Silent,
              "the guest has not answered yet: no balloon driver, or it has "
              "just started");
  }
}

// What changes only when RAM is plugged in or taken out. A backend that is not
// plugged in is no RAM: such blocks are left untold, since names do not tell
// which of them it is.
void read_ram(QmpSession& qmp, GuestAnswer& answer) {
  base::Result<uint64_t> bytes = qmp.memory_size();
  if (!bytes) return;
  answer.configured_bytes = *bytes;
  base::Result<std::vector<model::RamBlock>> blocks = qmp.ram_blocks();
  if (!blocks) return;
  if (model::sum_bytes(*blocks) == *bytes) {
    answer.ram_blocks = std::move(*blocks);
  }
}

// False, with the state set, where there is no balloon to ask about.
bool find_balloon(QmpSession& qmp, GuestMemory& memory, GuestAnswer& answer) {
  const uint64_t now_ns = base::monotonic_ns();
  if (memory.has_settings(now_ns) && !memory.balloon_path.empty()) {
    answer = memory.settings;
    return true;
  }
  read_ram(qmp, answer);
  base::Result<std::vector<std::string>> paths = qmp.balloon_paths();
  if (!paths) {
    note_failure(paths.error(), answer);
    return false;
  }
  if (paths->empty()) {
    set_state(answer, GuestState::NoBalloon,
              "the VM has no balloon device we know");
    return false;
  }
  memory.balloon_path = paths->front();
  read_balloon_settings(qmp, memory.balloon_path, answer);
  memory.settings = answer;
  memory.settings_ns = now_ns;
  return true;
}

// Of a VM without a balloon, whose settings are its RAM alone.
void recall_ram(QmpSession& qmp, GuestMemory& memory, GuestAnswer& answer) {
  const uint64_t now_ns = base::monotonic_ns();
  if (memory.has_settings(now_ns)) {
    answer = memory.settings;
    return;
  }
  read_ram(qmp, answer);
  memory.settings = answer;
  memory.settings_ns = now_ns;
}

// The balloon before and after: the two and the statistics are of one moment
// only where it has not moved.
void read_qemu(QmpSession& qmp, GuestMemory& memory, GuestAnswer& answer) {
  base::Result<uint64_t> before = qmp.balloon_actual();
  if (!before) {
    const bool is_absent = before.error().kind == ErrorKind::NotFound;
    if (!is_absent) return note_failure(before.error(), answer);
    recall_ram(qmp, memory, answer);
    return set_state(answer, GuestState::NoBalloon,
                     "the VM has no balloon device");
  }
  if (!find_balloon(qmp, memory, answer)) return;
  read_qemu_stats(qmp, memory.balloon_path, answer);
  base::Result<uint64_t> after = qmp.balloon_actual();
  if (!after) return note_failure(after.error(), answer);
  answer.balloon_is_moving = *after != *before;
  // QEMU's "actual" is what the guest has left.
  if (answer.configured_bytes && *answer.configured_bytes >= *after) {
    answer.balloon_bytes = *answer.configured_bytes - *after;
  }
}

}  // namespace

void ask_qemu(const Roots& roots, const FoundVm& vm,
              const QuestionOptions& options, GuestMemory& memory,
              GuestAnswer& answer) {
  answer.source = "QMP";
  base::Result<QmpSession> qmp = open_qmp(roots, vm, options);
  if (qmp) return read_qemu(*qmp, memory, answer);
  if (qmp.error().kind == ErrorKind::Gone) {
    return set_state(answer, GuestState::Busy,
                     "its monitor is taken: it speaks to one client at a "
                     "time and did not greet us");
  }
  const bool is_garbage = qmp.error().kind == ErrorKind::Malformed;
  set_state(answer, is_garbage ? GuestState::Failed : GuestState::Unreachable,
            reason_of(qmp.error()));
}

base::Result<uint64_t> set_polling(const Roots& roots, const FoundVm& vm,
                                   uint64_t interval_s,
                                   const QuestionOptions& options) {
  base::Result<QmpSession> qmp = open_qmp(roots, vm, options);
  if (!qmp) return qmp.error();
  base::Result<std::vector<std::string>> paths = qmp->balloon_paths();
  if (!paths) return paths.error();
  if (paths->empty()) {
    return base::fail(ErrorKind::NotFound, "the VM has no balloon device");
  }
  base::Result<std::string> line = qmp->property(paths->front(), kPolling);
  if (!line) return line.error();
  base::Result<uint64_t> before = parse::parse_qmp_number(*line);
  if (!before) return before.error();
  if (*before == interval_s) return *before;
  base::Status set = qmp->set_polling(paths->front(), interval_s);
  if (!set) return set.error();
  return *before;
}

}  // namespace tidemark::source
