#include "analysis/what_if.h"

#include <algorithm>
#include <cstddef>

#include "analysis/kernel_pool.h"

namespace tidemark::analysis {
namespace {

void add_pages(WhatIf& result, const LedgerInput& input,
               const std::vector<bool>& dies) {
  const PageSets& sets = *input.sets;
  std::vector<bool> all_die(sets.set_count());
  std::vector<bool> one_dies(sets.set_count());
  for (SetId set = 1; set < sets.set_count(); ++set) {
    const std::vector<SetMember> members = sets.members(set);
    all_die[set] = std::ranges::all_of(
        members, [&](const SetMember& one) { return dies[one.process]; });
    one_dies[set] = all_die[set] && members.size() == 1;
  }
  for (const auto& [key, count] : input.tally->counts()) {
    const bool is_of_set = key.page_class == PageClass::Anon ||
                           key.page_class == PageClass::File ||
                           key.page_class == PageClass::Shmem;
    if (!is_of_set || key.owner >= all_die.size() ||
        !all_die[static_cast<size_t>(key.owner)]) {
      continue;
    }
    const uint64_t bytes = count * input.page_bytes;
    if (key.page_class == PageClass::Anon) result.anon_bytes += bytes;
    if (key.page_class == PageClass::File) result.file_bytes += bytes;
    if (key.page_class == PageClass::Shmem) result.shmem_bytes += bytes;
    if (key.page_class == PageClass::Anon &&
        one_dies[static_cast<size_t>(key.owner)]) {
      result.private_sum_bytes += bytes;
    }
  }
}

}  // namespace

WhatIf what_if(const LedgerInput& input, const std::vector<bool>& dies) {
  WhatIf result;
  add_pages(result, input, dies);
  const uint64_t stack_bytes = stack_pages_each(input) * input.page_bytes;
  for (size_t i = 0; i < input.processes.size(); ++i) {
    if (!dies[i]) continue;
    ++result.process_count;
    result.page_table_bytes += input.processes[i].page_table_bytes;
    result.kernel_stack_bytes += input.processes[i].thread_count * stack_bytes;
  }
  result.freed_bytes =
      result.anon_bytes + result.page_table_bytes + result.kernel_stack_bytes;
  return result;
}

}  // namespace tidemark::analysis
