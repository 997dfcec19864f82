// What of the machine's memory in use no process holds, and what nobody can
// name. Every line is a figure of the kernel's; the last is what is left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/process_use.h"
#include "model/category.h"
#include "model/machine.h"

namespace tidemark::analysis {

struct AccountLine {
  std::string token;  // "page_cache"
  std::string name;   // "page cache, not mapped"
  model::Category category = model::Category::Unnamed;
  // Signed: readings are taken one after the other, and a part that shrank
  // meanwhile must not be hidden by cutting it at zero.
  int64_t bytes = 0;
  bool operator==(const AccountLine&) const = default;
};

struct MachineAccount {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;  // MemTotal - MemFree
  model::Amount processes;  // sum of PSS and huge pages of all processes
  std::vector<AccountLine> others;
  int64_t not_explained_bytes = 0;
};

// Empty when meminfo lacks the totals. The lines, the processes and
// not_explained_bytes sum to used_bytes exactly.
std::optional<MachineAccount> make_machine_account(
    const model::Machine& machine, const Use& all_processes);

}  // namespace tidemark::analysis
