#include "analysis/kernel_pool.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "unit/analysis/ledger_machine.h"

namespace tidemark::analysis {
namespace {

model::VmallocArea area(const char* caller, uint64_t pages,
                        model::VmallocKind kind) {
  model::VmallocArea one;
  one.caller = caller;
  one.pages = pages;
  one.kind = kind;
  return one;
}

TEST(KernelPool, GivesNoMoreThanItHas) {
  KernelPool pool;
  pool.add(10);
  pool.add_charged(7, 3);
  EXPECT_EQ(pool.take(8), 8U);
  EXPECT_EQ(pool.take(8), 2U);
  EXPECT_EQ(pool.take_charged(7, 5), 3U);
  EXPECT_EQ(pool.take_charged(9, 1), 0U);
  EXPECT_EQ(pool.other(), 0U);
}

TEST(KernelPool, StacksAreAPowerOfTwoOfPages) {
  LedgerInput input;
  input.processes.resize(2);
  input.processes[0].thread_count = 2;
  input.processes[1].thread_count = 1;
  EXPECT_EQ(stack_pages_each(input), 0U) << "not told";
  input.meminfo.kernel_stack_bytes = 3 * 4 * kPage;
  EXPECT_EQ(stack_pages_each(input), 4U);
  input.meminfo.kernel_stack_bytes = 5 * 4 * kPage;
  EXPECT_EQ(stack_pages_each(input), 4U) << "two are kept for the next task";
}

TEST(KernelPool, WhatTheAllocatorNeverGotIsTheDifference) {
  Machine machine(0);
  machine.add(10, 0);
  machine.input.tally = machine.tally.get();
  machine.input.meminfo.total_bytes = 7 * kPage;
  EXPECT_EQ(never_given_pages(machine.input), 3U);
  machine.input.meminfo.total_bytes = 12 * kPage;
  EXPECT_EQ(never_given_pages(machine.input), 0U) << "memory came meanwhile";
}

TEST(KernelPool, CountersKnowOfEachUseOnce) {
  Machine machine(0);
  machine.add(80, 0);
  machine.add(6, model::kPageReserved);
  machine.add(14, model::kPageBuddy);
  LedgerInput& input = machine.input;
  input.tally = machine.tally.get();
  input.meminfo.total_bytes = 90 * kPage;
  input.meminfo.kernel_stack_bytes = 8 * kPage;
  input.zoneinfo.managed_pages = 85;
  input.zoneinfo.per_cpu_free_pages = 3;
  EXPECT_EQ(counted_other_pages(input), (10U - 6) + 5 + 3 + 8);
  input.meminfo.kernel_stack_bytes = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(counted_other_pages(input), 100U) << "no more than there is";
}

TEST(KernelPool, VmallocIsByCallerAndStacksStandApart) {
  LedgerInput input;
  model::VmallocInfo info;
  info.areas = {area("load_module+0x1/0x2", 5, model::VmallocKind::Vmalloc),
                area("load_module+0x7/0x9", 2, model::VmallocKind::Vmalloc),
                area("htab_map_alloc+0x1/0x2", 9, model::VmallocKind::Vmalloc),
                area("kernel_clone+0x1/0x2", 4, model::VmallocKind::Vmalloc),
                area("somebody_else+0x1/0x2", 100, model::VmallocKind::Vmap)};
  input.kernel.vmalloc = model::known(info);
  const VmallocUse use = vmalloc_use(input);
  EXPECT_EQ(use.callers, (std::vector<std::pair<uint64_t, std::string>>{
                             {9, "htab_map_alloc"}, {7, "load_module"}}));
  EXPECT_EQ(use.caller_pages, 16U);
  EXPECT_EQ(use.stack_pages, 4U);
}

TEST(KernelPool, OfPerCpuOnlyLaterChunksAreOfTheAllocator) {
  LedgerInput input;
  input.meminfo.percpu_bytes = 6 * kPage;
  model::VmallocInfo info;
  input.kernel.vmalloc = model::known(info);
  EXPECT_EQ(later_percpu_pages(input), 0U);
  info.areas = {
      area("pcpu_get_vm_areas+0x0/0x1", 6, model::VmallocKind::Other)};
  input.kernel.vmalloc = model::known(info);
  EXPECT_EQ(later_percpu_pages(input), 6U);
}

}  // namespace
}  // namespace tidemark::analysis
