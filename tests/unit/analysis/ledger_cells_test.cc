#include "analysis/ledger_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/analysis/ledger_machine.h"

namespace tidemark::analysis {
namespace {

using model::LedgerClass;

// A cell whose texts are copied: those of a cell must last longer than it.
struct Copy {
  LedgerClass ledger_class;
  std::string owner;
  uint64_t group;
  uint64_t pages;
  bool operator==(const Copy&) const = default;
};

// Read only when all have come, as the rows are.
std::vector<Copy> cells_of(Machine& machine) {
  machine.input.tally = machine.tally.get();
  machine.input.sets = &machine.sets;
  base::TextArena texts;
  std::vector<LedgerCell> cells;
  visit_cells(machine.input, texts,
              [&](const LedgerCell& cell) { cells.push_back(cell); });
  std::vector<Copy> copies;
  for (const LedgerCell& cell : cells)
    copies.push_back(
        {cell.ledger_class, std::string(cell.owner), cell.group, cell.pages});
  return copies;
}

bool has(const std::vector<Copy>& cells, const Copy& wanted) {
  return std::ranges::find(cells, wanted) != cells.end();
}

uint64_t sum_of(const std::vector<Copy>& cells) {
  uint64_t sum = 0;
  for (const Copy& cell : cells) {
    EXPECT_GT(cell.pages, 0U) << cell.owner;
    sum += cell.pages;
  }
  return sum;
}

TEST(LedgerCells, EveryPageIsInOneCell) {
  Machine machine(2);
  const model::PageStruct file = known(kFile);
  const model::PageStruct slab = known(kCache);
  const model::PageStruct other = known();
  machine.add(5, model::kPageAnon, {0}, 1, &other);
  machine.add(7, model::kPageLru, {}, 2, &file);
  machine.add(3, model::kPageSlab, {}, 0, &slab);
  machine.add(11, model::kPageBuddy, {}, 0, &other);
  machine.add(4, 0, {}, 0, &other);
  const std::vector<Copy> cells = cells_of(machine);
  EXPECT_EQ(sum_of(cells), 30U);
  EXPECT_TRUE(has(cells, {LedgerClass::AnonPrivate, "even (100)", 1, 5}));
  EXPECT_TRUE(has(cells, {LedgerClass::File, "/usr/bin/tool", 2, 7}));
  EXPECT_TRUE(has(cells, {LedgerClass::Slab, "dentry", 0, 3}));
  EXPECT_TRUE(has(cells, {LedgerClass::Free, "(buddy lists)", 0, 11}));
  EXPECT_TRUE(has(cells, {LedgerClass::Boot,
                          "(hash tables, firmware and other early use)", 0, 4}))
      << "no zone says that it was given to the allocator";
}

TEST(LedgerCells, AFileWithoutANameIsOneOfTheOthers) {
  Machine machine(0);
  const model::PageStruct file = known(kFile + 64);
  machine.add(2, model::kPageLru, {}, 0, &file);
  EXPECT_TRUE(has(cells_of(machine),
                  {LedgerClass::File, std::string(kOtherFiles), 0, 2}));
}

// The name of a process is made for the cell alone, and must outlast it.
TEST(LedgerCells, StacksOfTasksKeepTheNamesOfTheirProcesses) {
  Machine machine(2);
  machine.tally->set_stacks(
      {{100, 100, "", {1, 2, 3, 4}}, {101, 101, "", {5, 6}}, {7, 7, "", {7}}});
  const model::PageStruct info = known();
  machine.add(7, 0, {}, 1, &info);
  const std::vector<Copy> cells = cells_of(machine);
  EXPECT_TRUE(has(cells, {LedgerClass::KernelStacks, "even (100)", 1, 4}));
  EXPECT_TRUE(has(cells, {LedgerClass::KernelStacks, "odd (101)", 1, 2}));
  EXPECT_TRUE(has(cells, {LedgerClass::KernelStacks, "(7, ended)", 1, 1}));
}

TEST(LedgerCells, PageTablesGoToProcessesAsFarAsTheyGo) {
  Machine machine(2);
  machine.input.processes[0].page_table_bytes = 3 * kPage;
  machine.input.processes[1].page_table_bytes = 9 * kPage;
  machine.add(5, model::kPageTable);
  const std::vector<Copy> cells = cells_of(machine);
  EXPECT_TRUE(has(cells, {LedgerClass::PageTables, "even (100)", 1, 3}));
  EXPECT_TRUE(has(cells, {LedgerClass::PageTables, "odd (101)", 2, 2}));
  EXPECT_EQ(sum_of(cells), 5U);
}

TEST(LedgerCells, SlabsWithoutStructsAreAsTheCachesCount) {
  Machine machine(0);
  model::SlabCache large;
  large.name = "dentry";
  large.slabs = 3;
  large.pages_per_slab = 2;
  machine.input.kernel.slab =
      model::known(std::vector<model::SlabCache>{large});
  machine.add(8, model::kPageSlab);
  const std::vector<Copy> cells = cells_of(machine);
  EXPECT_TRUE(has(cells, {LedgerClass::Slab, "dentry", 0, 6}));
  EXPECT_TRUE(has(cells, {LedgerClass::Slab, "(not told apart)", 0, 2}));
}

model::Reading<model::VmallocInfo> vmalloc_of(
    const std::vector<std::pair<std::string, uint64_t>>& callers) {
  model::VmallocInfo info;
  for (const auto& [caller, pages] : callers) {
    model::VmallocArea& area = info.areas.emplace_back();
    area.kind = model::VmallocKind::Vmalloc;
    area.caller = caller + "+0x1/0x2";
    area.pages = pages;
  }
  return model::known(info);
}

// A map of 50 pages that a group is charged for, 8 more that nobody is: counted
// as vmalloc once more the map would be taken from what is free or unnamed.
TEST(LedgerCells, ChargedVmallocStandsWithItsGroupAlone) {
  Machine machine(0);
  machine.add(50, 0, {}, 1);
  machine.add(30, 0);
  machine.input.meminfo.total_bytes = 80 * kPage;
  machine.input.kernel.vmalloc =
      vmalloc_of({{"array_map_alloc", 50}, {"load_module", 8}});
  const std::vector<Copy> cells = cells_of(machine);
  EXPECT_TRUE(has(cells, {LedgerClass::Kernel, "/one", 1, 50}));
  EXPECT_TRUE(has(cells, {LedgerClass::Vmalloc, "load_module", 0, 8}));
  EXPECT_TRUE(has(cells, {LedgerClass::Unnamed, "", 0, 22}));
  EXPECT_EQ(sum_of(cells), 80U);
}

// 100 pages without a type, of which the counters know 10 + 20 and, a moment
// before, 90 on the lists of CPUs.
TEST(LedgerCells, WhatIsShortIsShortOnTheListsOfCpus) {
  Machine machine(0);
  machine.add(100, 0);
  machine.input.meminfo.total_bytes = 100 * kPage;
  machine.input.zoneinfo.managed_pages = 90;
  machine.input.zoneinfo.per_cpu_free_pages = 90;
  machine.input.kernel.vmalloc = vmalloc_of({{"array_map_alloc", 20}});
  const std::vector<Copy> cells = cells_of(machine);
  EXPECT_TRUE(has(cells, {LedgerClass::Vmalloc, "array_map_alloc", 0, 20}));
  EXPECT_TRUE(has(
      cells, {LedgerClass::Free, "(not yet given to the allocator)", 0, 10}));
  EXPECT_TRUE(has(cells, {LedgerClass::Free, "(lists of each CPU)", 0, 70}));
  EXPECT_EQ(sum_of(cells), 100U);
}

}  // namespace
}  // namespace tidemark::analysis
