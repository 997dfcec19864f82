#include "source/vm/guest_question.h"

#include <utility>

#include "base/clock.h"
#include "source/process_parts.h"
#include "source/vm/guest_asking.h"

namespace tidemark::source {
namespace {

using model::GuestAnswer;
using model::GuestState;
using model::VmKind;

void ask_by_socket(const Roots& roots, const FoundVm& vm,
                   const QuestionOptions& options, GuestMemory& memory,
                   GuestAnswer& answer) {
  switch (vm.kind) {
    case VmKind::Qemu:
      return ask_qemu(roots, vm, options, memory, answer);
    case VmKind::Crosvm:
      return ask_crosvm(roots, vm, options, memory, answer);
    case VmKind::Firecracker:
      return ask_firecracker(roots, vm, options, memory, answer);
    case VmKind::CloudHypervisor:
      return ask_cloud_hypervisor(roots, vm, options, memory, answer);
    case VmKind::Other:
      set_state(answer, GuestState::Unreachable,
                "its program is not known, nor how to ask it");
  }
}

}  // namespace

std::vector<ControlPath> control_paths(const FoundVm& vm,
                                       const QuestionOptions& options) {
  if (!options.control_path.empty()) return {{options.control_path, 0}};
  std::vector<ControlPath> paths;
  for (const std::string& path : vm.arguments.control_paths)
    paths.push_back({path, vm.id.pid});
  return paths;
}

void set_state(GuestAnswer& answer, GuestState state, std::string because) {
  answer.state = state;
  answer.because = std::move(because);
}

void note_failure(const base::Error& error, GuestAnswer& answer) {
  set_state(answer, GuestState::Failed, reason_of(error));
}

GuestAnswer ask_guest(const Roots& roots, const FoundVm& vm,
                      const QuestionOptions& options, GuestMemory& memory) {
  GuestAnswer answer;
  const uint64_t start_ns = base::monotonic_ns();
  if (!roots.is_live) {
    set_state(answer, GuestState::NotAsked, "a copied tree has no guests");
  } else if (!control_paths(vm, options).empty()) {
    ask_by_socket(roots, vm, options, memory, answer);
  } else if (vm.arguments.control_is_inherited && !vm.arguments.name.empty()) {
    ask_libvirt(vm, options, answer);
  } else {
    set_state(answer, GuestState::Unreachable,
              "its command line names no control socket");
  }
  answer.asked_ns = base::monotonic_ns() - start_ns;
  return answer;
}

}  // namespace tidemark::source
