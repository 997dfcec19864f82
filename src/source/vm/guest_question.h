// Asks monitors what their guests do with their memory. Only questions that
// change nothing are sent, each a fixed text; the one exception is set_polling,
// which is for who has asked for it by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/vm.h"
#include "source/roots.h"
#include "source/vm/vm_finder.h"

namespace tidemark::source {

struct QuestionOptions {
  std::string control_path;            // instead of what the command line names
  uint64_t deadline_ns = 500'000'000;  // for each answer
};

// Never fails: what cannot be known is said in the answer. Waits for one
// monitor alone, so several are asked by several threads.
model::GuestAnswer ask_guest(const Roots& roots, const FoundVm& vm,
                             const QuestionOptions& options);

// How often QEMU asks its guest, 0 for never. Returns what it was before.
base::Result<uint64_t> set_polling(const Roots& roots, const FoundVm& vm,
                                   uint64_t interval_s,
                                   const QuestionOptions& options);

}  // namespace tidemark::source
