// The ways to ask a guest, one for each kind of monitor, and what they share.
// Each fills the answer, what could not be known included.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/vm.h"
#include "source/roots.h"
#include "source/vm/control_socket.h"
#include "source/vm/guest_question.h"

namespace tidemark::source {

// What the user has named, or else the command line.
std::vector<ControlPath> control_paths(const FoundVm& vm,
                                       const QuestionOptions& options);

void set_state(model::GuestAnswer& answer, model::GuestState state,
               std::string because);
void note_failure(const base::Error& error, model::GuestAnswer& answer);

// These need a control path.
void ask_qemu(const Roots& roots, const FoundVm& vm,
              const QuestionOptions& options, GuestMemory& memory,
              model::GuestAnswer& answer);
void ask_crosvm(const Roots& roots, const FoundVm& vm,
                const QuestionOptions& options, GuestMemory& memory,
                model::GuestAnswer& answer);
void ask_firecracker(const Roots& roots, const FoundVm& vm,
                     const QuestionOptions& options, GuestMemory& memory,
                     model::GuestAnswer& answer);
void ask_cloud_hypervisor(const Roots& roots, const FoundVm& vm,
                          const QuestionOptions& options, GuestMemory& memory,
                          model::GuestAnswer& answer);
// This one a name: libvirt holds the monitor of a VM that it has started.
void ask_libvirt(const FoundVm& vm, const QuestionOptions& options,
                 model::GuestAnswer& answer);

}  // namespace tidemark::source
