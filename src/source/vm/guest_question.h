// Asks monitors what their guests do with their memory. Only questions that
// change nothing are sent, each a fixed text; the one exception is set_polling,
// which is for who has asked for it by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unix_socket.h"
#include "model/vm.h"
#include "source/roots.h"
#include "source/vm/vm_finder.h"

namespace tidemark::source {

struct QuestionOptions {
  std::string control_path;            // instead of what the command line names
  uint64_t deadline_ns = 500'000'000;  // for each answer
};

// What of a VM need not be asked each time: what changes rarely is asked anew
// after ten seconds. A monitor of QEMU is let go after each question, since it
// speaks to one client alone; crosvm speaks to many, and stays connected.
struct GuestMemory {
  uint64_t settings_ns = 0;  // when they were asked for; 0: not yet
  model::GuestAnswer settings;
  std::string balloon_path;  // of QEMU
  std::optional<base::UnixSocket> link;

  bool has_settings(uint64_t now_ns) const {
    constexpr uint64_t kOldNs = 10 * base::kNsPerSecond;
    return settings_ns != 0 && now_ns - settings_ns < kOldNs;
  }
};

// Never fails: what cannot be known is said in the answer. Waits for one
// monitor alone, so several are asked by several threads.
model::GuestAnswer ask_guest(const Roots& roots, const FoundVm& vm,
                             const QuestionOptions& options,
                             GuestMemory& memory);

// How often QEMU asks its guest, 0 for never. Returns what it was before.
base::Result<uint64_t> set_polling(const Roots& roots, const FoundVm& vm,
                                   uint64_t interval_s,
                                   const QuestionOptions& options);

}  // namespace tidemark::source
