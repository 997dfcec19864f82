// Asks crosvm over its control socket: one JSON text a packet. One that cannot
// be spoken to so is asked by its own program: its authors promise no protocol.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/child_output.h"
#include "base/clock.h"
#include "base/file.h"
#include "parse/process_files.h"
#include "parse/vm_replies.h"
#include "source/process_parts.h"
#include "source/vm/guest_asking.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::GuestAnswer;
using model::GuestState;

// --socket may be a folder, in which it makes one.
ControlPath crosvm_control(const Roots& roots, const FoundVm& vm,
                           const QuestionOptions& options) {
  ControlPath control = control_paths(vm, options).front();
  if (is_control_directory(roots, control)) {
    control.path += "/crosvm-" + std::to_string(vm.id.pid) + ".sock";
  }
  return control;
}

base::Result<base::UnixSocket> connect_crosvm(const Roots& roots,
                                              const FoundVm& vm,
                                              const QuestionOptions& options) {
  return connect_control(roots, crosvm_control(roots, vm, options),
                         base::SocketType::Packets);
}

base::Result<parse::CrosvmBalloon> ask_crosvm_balloon(base::UnixSocket& socket,
                                                      uint64_t deadline_ns) {
  const uint64_t until_ns = base::monotonic_ns() + deadline_ns;
  base::Status sent = socket.send(R"({"BalloonCommand":"Stats"})", until_ns);
  if (!sent) return sent.error();
  base::Result<std::string> packet = socket.receive_packet(until_ns);
  if (!packet) return packet.error();
  return parse::parse_crosvm_balloon(*packet);
}

// Whether its program may be run again by us: it runs with our rights already.
// That of another user could be anything.
bool is_our_own(const Roots& roots, int32_t pid) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/status");
  if (!text) return false;
  base::Result<model::ProcessStatus> status = parse::parse_status(*text);
  return status && status->user_id == ::geteuid();
}

// `crosvm balloon_stats SOCKET` prints what the socket would have told.
base::Result<parse::CrosvmBalloon> ask_crosvm_program(
    const Roots& roots, const FoundVm& vm, const QuestionOptions& options) {
  if (!is_our_own(roots, vm.id.pid)) {
    return base::fail(ErrorKind::Denied,
                      "its program is another user's, and not run by us");
  }
  constexpr size_t kMostBytes = 64 << 10;
  base::Result<base::ChildOutput> child = base::run_child(
      "/proc/" + std::to_string(vm.id.pid) + "/exe",
      {"balloon_stats", path_from_here(crosvm_control(roots, vm, options))},
      {std::chrono::duration_cast<std::chrono::milliseconds>(
           std::chrono::nanoseconds(options.deadline_ns)),
       kMostBytes});
  if (!child) return child.error();
  return parse::parse_crosvm_balloon(child->output);
}

void set_crosvm_error(const parse::CrosvmBalloon& told, GuestAnswer& answer) {
  if (told.error_number == ENOTSUP) {
    set_state(answer, GuestState::NoBalloon, "the VM has no balloon device");
  } else if (told.error_number == ENOTCONN) {
    set_state(answer, GuestState::Silent,
              "the guest has no balloon driver yet");
  } else {
    set_state(answer, GuestState::Failed,
              told.error_number
                  ? "crosvm: error " + std::to_string(*told.error_number)
                  : "crosvm: " + told.error_text);
  }
}

// Another language, or another kind of socket than we know. Whom nobody
// reaches or who does not answer us will not answer it either.
bool could_tell_its_program(const base::Error& error) {
  return error.kind == ErrorKind::Malformed || error.kind == ErrorKind::System;
}

void set_crosvm_failure(const base::Error& error, bool is_connected,
                        GuestAnswer& answer) {
  if (!is_connected) {
    return set_state(answer, GuestState::Unreachable, reason_of(error));
  }
  if (error.kind != ErrorKind::Gone) return note_failure(error, answer);
  set_state(answer, GuestState::Silent,
            "no answer in time: the guest is stuck, or crosvm is built "
            "without a balloon");
}

}  // namespace

// Each question makes the guest count anew, so an answer has no age. What goes
// wrong ends the connection: a late answer would be taken for the next one's.
void ask_crosvm(const Roots& roots, const FoundVm& vm,
                const QuestionOptions& options, GuestMemory& memory,
                GuestAnswer& answer) {
  answer.source = "crosvm socket";
  std::optional<base::UnixSocket> link = std::exchange(memory.link, {});
  base::Result<parse::CrosvmBalloon> told =
      link ? ask_crosvm_balloon(*link, options.deadline_ns)
           : base::fail(ErrorKind::Closed, "not connected");
  // The other side may have closed it since.
  const bool is_closed = !told && told.error().kind == ErrorKind::Closed;
  if (is_closed) {
    link.reset();
    base::Result<base::UnixSocket> socket = connect_crosvm(roots, vm, options);
    if (socket) {
      link = std::move(*socket);
      told = ask_crosvm_balloon(*link, options.deadline_ns);
    } else {
      told = socket.error();
    }
  }
  if (!told && could_tell_its_program(told.error())) {
    base::Result<parse::CrosvmBalloon> printed =
        ask_crosvm_program(roots, vm, options);
    if (printed) {
      answer.source = "crosvm balloon_stats";
      link.reset();
      told = std::move(printed);
    }
  }
  if (!told) return set_crosvm_failure(told.error(), link.has_value(), answer);
  memory.link = std::move(link);
  if (told->is_error()) return set_crosvm_error(*told, answer);
  answer.state = GuestState::Told;
  answer.stats = told->stats;
  answer.balloon_bytes = told->balloon_bytes;
  answer.deflates_on_oom = true;  // crosvm always offers it
}

}  // namespace tidemark::source
