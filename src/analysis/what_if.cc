#include "analysis/what_if.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

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
  input.tally->counts().visit([&](const TallyKey& key, uint64_t count) {
    const bool is_of_set = key.page_class == PageClass::Anon ||
                           key.page_class == PageClass::File ||
                           key.page_class == PageClass::Shmem;
    if (!is_of_set || key.owner >= all_die.size() ||
        !all_die[static_cast<size_t>(key.owner)]) {
      return;
    }
    const uint64_t bytes = count * input.page_bytes;
    if (key.page_class == PageClass::Anon) result.anon_bytes += bytes;
    if (key.page_class == PageClass::File) result.file_bytes += bytes;
    if (key.page_class == PageClass::Shmem) result.shmem_bytes += bytes;
    if (key.page_class == PageClass::Anon &&
        one_dies[static_cast<size_t>(key.owner)]) {
      result.private_sum_bytes += bytes;
    }
  });
}

// A file of tmpfs stays while it has a name, a segment until it is removed.
bool ends_with_its_users(const model::MemoryObject& object) {
  switch (object.kind) {
    case model::ObjectKind::Memfd:
    case model::ObjectKind::SharedAnon:
      return true;
    case model::ObjectKind::Tmpfs:
      return object.is_deleted;
    default:
      return false;
  }
}

uint64_t ending_shmem_bytes(const model::ObjectScan& scan,
                            const std::set<int32_t>& dying) {
  uint64_t bytes = 0;
  for (const model::MemoryObject& object : scan.objects) {
    if (!ends_with_its_users(object) || object.references.empty()) continue;
    const bool is_theirs = std::ranges::all_of(
        object.references, [&](const model::ObjectReference& one) {
          return dying.contains(scan.processes[one.process_index].id.pid);
        });
    if (is_theirs) bytes += object.alloc_bytes.value.value_or(0);
  }
  return bytes;
}

}  // namespace

WhatIf what_if(const LedgerInput& input, const std::vector<bool>& dies,
               const model::ObjectScan* scan) {
  WhatIf result;
  add_pages(result, input, dies);
  std::set<int32_t> dying;
  const uint64_t stack_bytes = stack_pages_each(input) * input.page_bytes;
  for (size_t i = 0; i < input.processes.size(); ++i) {
    if (!dies[i]) continue;
    ++result.process_count;
    dying.insert(input.processes[i].pid);
    result.page_table_bytes += input.processes[i].page_table_bytes;
    result.kernel_stack_bytes += input.processes[i].thread_count * stack_bytes;
  }
  if (scan) result.shmem_freed_bytes = ending_shmem_bytes(*scan, dying);
  result.freed_bytes = result.anon_bytes + result.page_table_bytes +
                       result.kernel_stack_bytes +
                       result.shmem_freed_bytes.value_or(0);
  return result;
}

}  // namespace tidemark::analysis
