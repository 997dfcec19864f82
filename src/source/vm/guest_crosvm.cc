// Asks crosvm over its control socket: one JSON text a packet.
#include <cerrno>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "parse/vm_replies.h"
#include "source/process_parts.h"
#include "source/vm/guest_asking.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::GuestAnswer;
using model::GuestState;

base::Result<base::UnixSocket> connect_crosvm(const Roots& roots,
                                              const FoundVm& vm,
                                              const QuestionOptions& options) {
  ControlPath control = control_paths(vm, options).front();
  if (is_control_directory(roots, control)) {
    control.path += "/crosvm-" + std::to_string(vm.id.pid) + ".sock";
  }
  return connect_control(roots, control, base::SocketType::Packets);
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
    base::Result<base::UnixSocket> socket = connect_crosvm(roots, vm, options);
    if (!socket) {
      return set_state(answer, GuestState::Unreachable,
                       reason_of(socket.error()));
    }
    link = std::move(*socket);
    told = ask_crosvm_balloon(*link, options.deadline_ns);
  }
  if (!told && told.error().kind == ErrorKind::Gone) {
    return set_state(answer, GuestState::Silent,
                     "no answer in time: the guest is stuck, or crosvm is "
                     "built without a balloon");
  }
  if (!told) return note_failure(told.error(), answer);
  memory.link = std::move(link);
  if (told->is_error()) return set_crosvm_error(*told, answer);
  answer.state = GuestState::Told;
  answer.stats = told->stats;
  answer.balloon_bytes = told->balloon_bytes;
  answer.deflates_on_oom = true;  // crosvm always offers it
}

}  // namespace tidemark::source
