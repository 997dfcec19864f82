#include "analysis/what_if.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "unit/analysis/ledger_machine.h"

namespace tidemark::analysis {
namespace {

using model::PageStruct;

// Each page for itself, the same rules said plainly.
WhatIf naive_what_if(
    const Machine& machine, const std::vector<bool>& dies,
    const std::vector<std::tuple<uint64_t, uint64_t, std::vector<uint32_t>>>&
        stretches) {
  WhatIf result;
  for (const auto& [count, flags, mappers] : stretches) {
    if (mappers.empty()) continue;
    const bool all_die = std::ranges::all_of(
        mappers, [&](uint32_t process) { return dies[process]; });
    if (!all_die) continue;
    const uint64_t bytes = count * kPage;
    if (flags & model::kPageAnon) {
      result.anon_bytes += bytes;
      if (mappers.front() == mappers.back()) result.private_sum_bytes += bytes;
    } else if (flags & model::kPageSwapBacked) {
      result.shmem_bytes += bytes;
    } else {
      result.file_bytes += bytes;
    }
  }
  for (size_t i = 0; i < dies.size(); ++i) {
    if (!dies[i]) continue;
    ++result.process_count;
    result.page_table_bytes += machine.input.processes[i].page_table_bytes;
    result.kernel_stack_bytes +=
        machine.input.processes[i].thread_count * 4 * kPage;
  }
  result.freed_bytes =
      result.anon_bytes + result.page_table_bytes + result.kernel_stack_bytes;
  return result;
}

RC_GTEST_PROP(WhatIf, CountsPagesThatOnlyTheDyingMap, ()) {
  constexpr uint32_t kProcesses = 5;
  Machine machine(kProcesses, true);
  std::vector<std::tuple<uint64_t, uint64_t, std::vector<uint32_t>>> stretches;
  const uint64_t kinds[] = {model::kPageAnon | model::kPageMapped,
                            model::kPageLru,
                            model::kPageLru | model::kPageSwapBacked};
  const bool has_structs = *rc::gen::arbitrary<bool>();
  const PageStruct info = known(kFile);
  const auto stretch_count = *rc::gen::inRange(0, 20);
  for (int i = 0; i < stretch_count; ++i) {
    std::vector<uint32_t> mappers = *rc::gen::container<std::vector<uint32_t>>(
        rc::gen::inRange<uint32_t>(0, kProcesses));
    std::ranges::sort(mappers);
    const uint64_t kind = kinds[*rc::gen::inRange(0, 3)];
    const auto count = *rc::gen::inRange<uint64_t>(1, 50);
    machine.add(count, kind, mappers, 0, has_structs ? &info : nullptr);
    stretches.emplace_back(count, kind, mappers);
  }
  uint64_t threads = 0;
  for (LedgerProcess& process : machine.input.processes) {
    process.thread_count = *rc::gen::inRange<uint64_t>(1, 9);
    process.page_table_bytes = *rc::gen::inRange<uint64_t>(0, 99) * kPage;
    threads += process.thread_count;
  }
  // A stack has four pages; some more of them are kept for the next task.
  machine.input.meminfo.kernel_stack_bytes =
      threads * 4 * kPage + *rc::gen::inRange<uint64_t>(0, threads) * kPage;
  machine.ledger();
  std::vector<bool> dies;
  for (uint32_t i = 0; i < kProcesses; ++i)
    dies.push_back(*rc::gen::arbitrary<bool>());
  const WhatIf found = what_if(machine.input, dies);
  const WhatIf expected = naive_what_if(machine, dies, stretches);
  RC_ASSERT(found.process_count == expected.process_count);
  RC_ASSERT(found.anon_bytes == expected.anon_bytes);
  RC_ASSERT(found.private_sum_bytes == expected.private_sum_bytes);
  RC_ASSERT(found.shmem_bytes == expected.shmem_bytes);
  RC_ASSERT(found.file_bytes == expected.file_bytes);
  RC_ASSERT(found.page_table_bytes == expected.page_table_bytes);
  RC_ASSERT(found.kernel_stack_bytes == expected.kernel_stack_bytes);
  RC_ASSERT(found.freed_bytes == expected.freed_bytes);
}

// The size of a stack is found by doubling, which must end.
TEST(WhatIf, AbsurdStacksAreTakenAsTold) {
  Machine machine(1);
  machine.add(1, model::kPageBuddy);
  machine.input.meminfo.kernel_stack_bytes =
      std::numeric_limits<uint64_t>::max();
  machine.ledger();
  EXPECT_EQ(what_if(machine.input, {true}).process_count, 1U);
}

TEST(WhatIf, StacksThatAreNotToldAreNotMadeUp) {
  Machine machine(1, true);
  machine.add(1, model::kPageBuddy);
  machine.ledger();
  EXPECT_EQ(what_if(machine.input, {true}).kernel_stack_bytes, 0U);
}

// ---- shared memory ----------------------------------------------------------

model::MemoryObject held(model::ObjectKind kind,
                         const std::vector<size_t>& processes) {
  model::MemoryObject object;
  object.kind = kind;
  object.alloc_bytes = model::known(kPage);
  for (size_t process : processes)
    object.references.emplace_back().process_index = process;
  return object;
}

TEST(WhatIf, SharedMemoryEndsWithItsLastUser) {
  Machine machine(2, true);
  machine.add(1, model::kPageBuddy);
  machine.ledger();
  model::ObjectScan scan;
  for (const LedgerProcess& process : machine.input.processes)
    scan.processes.emplace_back().id.pid = process.pid;
  using enum model::ObjectKind;
  scan.objects = {held(Memfd, {0}), held(SharedAnon, {0}), held(Memfd, {0, 1}),
                  held(Tmpfs, {0}), held(Tmpfs, {0}),      held(Sysv, {0}),
                  held(File, {0}),  held(Memfd, {})};
  scan.objects[4].is_deleted = true;
  const auto freed = [&](bool first, bool second) {
    const WhatIf result = what_if(machine.input, {first, second}, &scan);
    EXPECT_EQ(result.freed_bytes, result.shmem_freed_bytes);
    return *result.shmem_freed_bytes / kPage;
  };
  EXPECT_EQ(freed(true, false), 3U) << "a name and a segment keep theirs";
  EXPECT_EQ(freed(true, true), 4U);
  EXPECT_EQ(freed(false, true), 0U);
  EXPECT_FALSE(what_if(machine.input, {true, true}).shmem_freed_bytes)
      << "nobody was asked";
}

}  // namespace
}  // namespace tidemark::analysis
