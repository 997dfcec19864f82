#include "analysis/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "unit/analysis/ledger_machine.h"

namespace tidemark::analysis {
namespace {

using model::Ledger;
using model::LedgerClass;
using model::LedgerRow;
using model::PageStruct;
using model::PageType;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
constexpr LedgerBy kAllBy[] = {LedgerBy::Class, LedgerBy::Cgroup,
                               LedgerBy::Process, LedgerBy::File};

const LedgerRow* find_row(const Ledger& ledger, LedgerClass ledger_class,
                          const std::string& owner = "") {
  for (const LedgerRow& row : ledger.rows) {
    if (row.ledger_class == ledger_class && row.owner == owner) return &row;
  }
  return nullptr;
}

uint64_t pages_in(const Ledger& ledger, LedgerClass ledger_class,
                  const std::string& owner = "") {
  const LedgerRow* row = find_row(ledger, ledger_class, owner);
  return row ? row->bytes / kPage : 0;
}

// Empty when it does; else what is wrong with it.
std::string why_not_adding_up(const Ledger& ledger) {
  uint64_t sum = 0;
  std::map<std::string, uint64_t> tops;
  std::map<std::string, uint64_t> parts;
  std::set<std::tuple<std::string, LedgerClass, std::string>> seen;
  for (const LedgerRow& row : ledger.rows) {
    const std::string owner(row.owner);
    if (row.bytes == 0) return "an empty row: " + owner;
    if (row.bytes > ledger.total_bytes) return "more than all: " + owner;
    if (!seen.emplace(row.parent, row.ledger_class, owner).second) {
      return "twice: " + owner;
    }
    if (row.parent.empty()) {
      sum += row.bytes;
      const std::string name =
          row.owner.empty()
              ? std::string(model::ledger_class_token(row.ledger_class))
              : owner;
      tops[name] += row.bytes;
    } else {
      parts[std::string(row.parent)] += row.bytes;
    }
  }
  if (sum != ledger.total_bytes) {
    return std::to_string(sum) + " of " + std::to_string(ledger.total_bytes);
  }
  for (const auto& [parent, bytes] : parts) {
    if (!tops.contains(parent)) return "no row " + parent;
    if (tops[parent] != bytes) {
      return parent + " has " + std::to_string(tops[parent]) + ", its parts " +
             std::to_string(bytes);
    }
  }
  return "";
}

// ---- properties -------------------------------------------------------------

// Absent, nothing, something, more than any machine has.
std::optional<uint64_t> some_bytes() {
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return std::nullopt;
    case 1:
      return 0;
    case 2:
      return *rc::gen::element(kHuge, kHuge - 1, kHuge / 2 + 1,
                               kHuge / kPage * kPage);
    default:
      return *rc::gen::inRange<uint64_t>(0, 4000) * 1024;
  }
}

uint64_t some_count() {
  return *rc::gen::inRange(0, 8) == 0 ? kHuge
                                      : *rc::gen::inRange<uint64_t>(0, 300);
}

void add_some_pages(Machine& machine, bool has_structs) {
  const uint64_t flags[] = {0,
                            model::kPageLru,
                            model::kPageLru | model::kPageSwapBacked,
                            model::kPageAnon | model::kPageMapped,
                            model::kPageAnon | model::kPageSwapCache,
                            model::kPageSlab,
                            model::kPageBuddy,
                            model::kPageTable,
                            model::kPageHugetlb,
                            model::kPageReserved,
                            model::kPageOffline,
                            model::kPagePoisoned,
                            model::kPageMapped,
                            model::kPageAbsent};
  const auto stretches = *rc::gen::inRange(0, 30);
  for (int i = 0; i < stretches; ++i) {
    const uint64_t its_flags =
        flags[*rc::gen::inRange<size_t>(0, std::size(flags))];
    std::vector<uint32_t> mappers =
        *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(
            0, static_cast<uint32_t>(machine.input.processes.size())));
    std::ranges::sort(mappers);
    const PageStruct info =
        known(*rc::gen::element<uint64_t>(0, kFile, kFile + 8, kFile + 16,
                                          kCache, kCache + 8, kCache + 16),
              *rc::gen::inRange<uint32_t>(0, 3),
              static_cast<PageType>(*rc::gen::inRange(0, 5)));
    machine.add(*rc::gen::inRange<uint64_t>(1, 60), its_flags, mappers,
                *rc::gen::inRange<uint64_t>(0, 4),
                has_structs ? &info : nullptr);
  }
}

void add_some_counters(LedgerInput& input) {
  input.meminfo.total_bytes = some_bytes();
  input.meminfo.kernel_stack_bytes = some_bytes();
  input.meminfo.percpu_bytes = some_bytes();
  input.zoneinfo.managed_pages = some_count();
  input.zoneinfo.per_cpu_free_pages = some_count();
  input.other_file_count = some_count();
  for (LedgerProcess& process : input.processes) {
    process.thread_count = some_count();
    process.page_table_bytes = some_bytes().value_or(0);
  }
  if (*rc::gen::arbitrary<bool>()) {
    model::PageCounters counters;
    counters.memmap_boot_pages = some_bytes();
    input.kernel.counters = model::known(counters);
  }
  if (*rc::gen::arbitrary<bool>()) {
    model::IoMemory iomem;
    iomem.resources.push_back({0, some_count(), 1, "Kernel code"});
    iomem.resources.push_back({4096, 8191, 1, "Kernel data"});
    input.kernel.iomem = model::known(iomem);
  }
  if (*rc::gen::arbitrary<bool>()) {
    model::VmallocInfo vmalloc;
    for (const char* caller : {"load_module+0x1/0x2", "kernel_clone+0x1/0x2",
                               "pcpu_get_vm_areas+0x0/0x1", ""}) {
      model::VmallocArea area;
      area.caller = caller;
      area.kind = model::VmallocKind::Vmalloc;
      area.pages = some_bytes();
      vmalloc.areas.push_back(area);
    }
    input.kernel.vmalloc = model::known(vmalloc);
  }
  if (*rc::gen::arbitrary<bool>()) {
    std::vector<model::SlabCache> caches(3);
    for (size_t i = 0; i < caches.size(); ++i) {
      caches[i].name = "cache-" + std::to_string(i);
      caches[i].slabs = some_count();
      caches[i].pages_per_slab = some_count();
    }
    input.kernel.slab = model::known(caches);
  }
}

RC_GTEST_PROP(Ledger, AddsUpWhateverTheCountersSay, ()) {
  Machine machine(4, *rc::gen::arbitrary<bool>());
  add_some_pages(machine, *rc::gen::arbitrary<bool>());
  add_some_counters(machine.input);
  for (LedgerBy by : kAllBy) {
    const Ledger ledger = machine.ledger(by);
    RC_ASSERT(ledger.total_bytes == machine.tally->page_count() * kPage);
    RC_ASSERT(why_not_adding_up(ledger) == "");
  }
}

// ---- rows -------------------------------------------------------------------

TEST(Ledger, NothingMakesNoRows) {
  Machine machine(0);
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(ledger.total_bytes, 0U);
  EXPECT_TRUE(ledger.rows.empty());
}

TEST(Ledger, AnonymousPagesAreOfOneOrOfSeveral) {
  Machine machine(3);
  machine.add(5, model::kPageAnon, {0});
  machine.add(3, model::kPageAnon, {0, 0});
  machine.add(7, model::kPageAnon, {0, 1});
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(pages_in(ledger, LedgerClass::AnonPrivate, "even (100)"), 8U)
      << "what a process maps twice is its own";
  EXPECT_EQ(pages_in(ledger, LedgerClass::AnonShared, "even (100) + odd (101)"),
            7U);
}

TEST(Ledger, CachesOfSlabsThatHaveGoneHaveARowToo) {
  Machine machine(0);
  machine.input.caches[kCache + 8] = "";  // no more there when it was asked for
  const PageStruct dentry = known(kCache);
  const PageStruct gone = known(kCache + 8);
  machine.add(3, model::kPageSlab, {}, 0, &dentry);
  machine.add(4, model::kPageSlab, {}, 0, &gone);
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(why_not_adding_up(ledger), "");
  EXPECT_EQ(pages_in(ledger, LedgerClass::Slab, "(gone meanwhile)"), 4U);
}

// The rows of a --what-if: pages went by their mappers, and no set may be taken
// for the address of a file.
TEST(Ledger, FilesCountedByMapperAreNamedByMapper) {
  Machine machine(2, true);
  const PageStruct file = known(kFile);
  machine.add(6, model::kPageLru, {1}, 0, &file);
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(pages_in(ledger, LedgerClass::File, "mapped by odd (101)"), 6U);
}

TEST(Ledger, CountersCannotTakeMoreThanIsThere) {
  Machine machine(1);
  const PageStruct untyped = known();
  machine.add(10, 0, {}, 0, &untyped);
  machine.input.meminfo.total_bytes = 10 * kPage;
  machine.input.meminfo.kernel_stack_bytes = 1000 * kPage;
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(why_not_adding_up(ledger), "");
  EXPECT_EQ(pages_in(ledger, LedgerClass::KernelStacks) +
                pages_in(ledger, LedgerClass::Unnamed),
            10U);
}

TEST(Ledger, WhatNobodyCountsIsUnnamed) {
  Machine machine(0);
  const PageStruct untyped = known();
  machine.add(10, 0, {}, 0, &untyped);
  machine.input.meminfo.total_bytes = 7 * kPage;
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(pages_in(ledger, LedgerClass::Boot), 3U)
      << "what the machine has and the allocator was never given";
  EXPECT_EQ(pages_in(ledger, LedgerClass::Unnamed), 7U);
}

TEST(Ledger, WithoutStructsListsOfCpusAreFree) {
  Machine machine(0);
  machine.add(10, 0);
  machine.input.meminfo.total_bytes = 10 * kPage;
  machine.input.zoneinfo.managed_pages = 8;
  machine.input.zoneinfo.per_cpu_free_pages = 5;
  const Ledger ledger = machine.ledger();
  EXPECT_EQ(ledger.tier, model::LedgerTier::Pages);
  EXPECT_EQ(
      pages_in(ledger, LedgerClass::Free, "(not yet given to the allocator)"),
      2U);
  EXPECT_EQ(pages_in(ledger, LedgerClass::Free, "(lists of each CPU)"), 5U);
  EXPECT_EQ(pages_in(ledger, LedgerClass::Unnamed), 3U);
}

TEST(Ledger, ByGroupThePartsAreClasses) {
  Machine machine(2);
  const PageStruct dentry = known(kCache);
  machine.add(4, model::kPageAnon, {0}, 1);
  machine.add(2, model::kPageSlab, {}, 1, &dentry);
  machine.add(3, model::kPageBuddy);
  machine.add(1, model::kPageSlab, {}, 77, &dentry);
  const Ledger ledger = machine.ledger(LedgerBy::Cgroup);
  EXPECT_EQ(pages_in(ledger, LedgerClass::Unnamed, "/one"), 6U);
  EXPECT_EQ(pages_in(ledger, LedgerClass::AnonPrivate, "anon-private"), 4U);
  EXPECT_EQ(pages_in(ledger, LedgerClass::Free), 3U);
  EXPECT_EQ(pages_in(ledger, LedgerClass::Unnamed, "(group 77, removed)"), 1U);
  EXPECT_EQ(why_not_adding_up(ledger), "");
}

TEST(Ledger, ByFileTheCacheHasARowForEachFile) {
  Machine machine(0);
  const PageStruct tool = known(kFile);
  const PageStruct other = known(kFile + 800);
  machine.add(4, model::kPageLru, {}, 1, &tool);
  machine.add(2, model::kPageLru, {}, 2, &tool);
  machine.add(3, model::kPageLru, {}, 2, &other);
  machine.input.other_file_count = 12;
  const Ledger ledger = machine.ledger(LedgerBy::File);
  EXPECT_EQ(pages_in(ledger, LedgerClass::File, "/usr/bin/tool"), 6U);
  const LedgerRow* others =
      find_row(ledger, LedgerClass::File, "(other files)");
  ASSERT_TRUE(others);
  EXPECT_EQ(others->owner_count, 12U);
}

// ---- names ------------------------------------------------------------------

TEST(OwnersOf, TheLargestFirst) {
  Machine machine(0);
  const PageStruct small = known(kFile);
  const PageStruct large = known(kFile + 8);
  machine.add(2, model::kPageLru, {}, 1, &small);
  machine.add(3, model::kPageLru, {}, 1, &large);
  machine.add(3, model::kPageLru, {}, 2, &large);
  machine.add(3, model::kPageLru, {}, 2, &small);
  EXPECT_EQ(owners_of(*machine.tally, PageClass::File),
            (std::vector<PageOwner>{{kFile + 8, 6}, {kFile, 5}}));
}

}  // namespace
}  // namespace tidemark::analysis
