#include "analysis/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::Ledger;
using model::LedgerClass;
using model::LedgerRow;
using model::PageStruct;
using model::PageType;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kFile = 0xffff888000001000;
constexpr uint64_t kCache = 0xffff888000002000;
constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
constexpr LedgerBy kAllBy[] = {LedgerBy::Class, LedgerBy::Cgroup,
                               LedgerBy::Process, LedgerBy::File};

// A machine of some pages: what a census and a walk have found.
struct Machine {
  PageSets sets;
  std::unique_ptr<PageTally> tally;
  LedgerInput input;
  uint64_t next_frame = 1;

  explicit Machine(size_t process_count, bool by_mapper = false)
      : tally(std::make_unique<PageTally>(
            sets, by_mapper ? TallyBy::Mapper : TallyBy::Owner)) {
    for (size_t i = 0; i < process_count; ++i) {
      LedgerProcess process;
      process.pid = static_cast<int32_t>(100 + i);
      process.name = i % 2 == 0 ? "even" : "odd";
      process.group = 1 + i % 2;
      process.thread_count = 1;
      process.is_read = true;
      input.processes.push_back(process);
    }
    input.groups = {{1, "/one"}, {2, "/two"}};
    input.files = {{kFile, "/usr/bin/tool"}, {kFile + 8, "/etc/passwd"}};
    input.caches = {{kCache, "dentry"}, {kCache + 8, "inode_cache"}};
  }

  // Pages with one look, mapped by these.
  void add(uint64_t count, uint64_t flags,
           const std::vector<uint32_t>& mappers = {}, uint64_t group = 0,
           const PageStruct* info = nullptr) {
    std::vector<uint64_t> frames;
    for (uint64_t i = 0; i < count; ++i)
      frames.push_back(next_frame + i);
    std::vector<SetMember> members;
    for (uint32_t process : mappers) {
      if (members.empty() || members.back().process != process) {
        members.push_back({process, 0});
      }
      ++members.back().times;
    }
    const SetId set = sets.set_of(members);
    for (uint64_t frame : frames) {
      if (set != 0) sets.move(frame, set);
    }
    const std::vector<uint64_t> all_flags(count, flags);
    const std::vector<uint64_t> counts(count, mappers.size());
    const std::vector<uint64_t> groups(count, group);
    const std::vector<PageStruct> structs(count, info ? *info : PageStruct());
    model::PageChunk chunk;
    chunk.first_frame = next_frame;
    chunk.flags = all_flags;
    chunk.counts = counts;
    chunk.groups = groups;
    if (info) chunk.structs = structs;
    tally->add(chunk);
    next_frame += count;
  }

  Ledger ledger(LedgerBy by = LedgerBy::Class) {
    input.tally = tally.get();
    input.sets = &sets;
    input.by = by;
    return make_ledger(input);
  }
};

PageStruct known(uint64_t owner = 0, uint32_t references = 1,
                 PageType type = PageType::None) {
  return {owner, references, type, true};
}

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
    if (row.bytes == 0) return "an empty row: " + row.owner;
    if (row.bytes > ledger.total_bytes) return "more than all: " + row.owner;
    if (!seen.emplace(row.parent, row.ledger_class, row.owner).second) {
      return "twice: " + row.owner;
    }
    if (row.parent.empty()) {
      sum += row.bytes;
      const std::string name =
          row.owner.empty()
              ? std::string(model::ledger_class_token(row.ledger_class))
              : row.owner;
      tops[name] += row.bytes;
    } else {
      parts[row.parent] += row.bytes;
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

RC_GTEST_PROP(Ledger, WhatIfCountsPagesThatOnlyTheDyingMap, ()) {
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

// The size of a stack is found by doubling, which must end.
TEST(Ledger, AbsurdStacksAreTakenAsTold) {
  Machine machine(1);
  machine.add(1, model::kPageBuddy);
  machine.input.meminfo.kernel_stack_bytes = kHuge;
  machine.ledger();
  EXPECT_EQ(what_if(machine.input, {true}).process_count, 1U);
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

TEST(SetLabel, SaysWhoASetIs) {
  std::vector<LedgerProcess> processes(5);
  const char* names[] = {"sh", "cat", "sh", "awk", "ls"};
  for (size_t i = 0; i < processes.size(); ++i) {
    processes[i].pid = static_cast<int32_t>(10 + i);
    processes[i].name = names[i];
  }
  PageSets sets;
  const auto label = [&](const std::vector<SetMember>& members) {
    return set_label(sets, sets.set_of(members), processes);
  };
  EXPECT_EQ(label({{1, 3}}), "cat (11)");
  EXPECT_EQ(label({{0, 1}, {2, 1}}), "sh × 2");
  EXPECT_EQ(label({{0, 1}, {1, 1}}), "sh (10) + cat (11)");
  EXPECT_EQ(label({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}),
            "5 processes, first sh (10)");
}

TEST(OwnersOf, TheLargestFirst) {
  Machine machine(0);
  const PageStruct small = known(kFile);
  const PageStruct large = known(kFile + 8);
  machine.add(2, model::kPageLru, {}, 1, &small);
  machine.add(3, model::kPageLru, {}, 1, &large);
  machine.add(3, model::kPageLru, {}, 2, &large);
  machine.add(3, model::kPageLru, {}, 2, &small);
  EXPECT_EQ(owners_of(*machine.tally, PageClass::File),
            (std::vector<uint64_t>{kFile + 8, kFile}));
}

}  // namespace
}  // namespace tidemark::analysis
