#include "analysis/machine_account.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/analysis/processes.h"

namespace tidemark::analysis {
namespace {

using model::amount_of;
using model::Machine;
using model::MemInfo;
using test::kKiB;

// debian-6.1/proc/meminfo and zoneinfo.
Machine debian_machine() {
  Machine machine;
  MemInfo& m = machine.meminfo;
  m.total_bytes = 208720 * kKiB;
  m.free_bytes = 169828 * kKiB;
  m.buffers_bytes = 0;
  m.cached_bytes = 3728 * kKiB;
  m.swap_cached_bytes = 0;
  m.anon_pages_bytes = 8400 * kKiB;
  m.shmem_bytes = 3728 * kKiB;
  m.slab_reclaimable_bytes = 9008 * kKiB;
  m.slab_unreclaimable_bytes = 6720 * kKiB;
  m.kernel_stack_bytes = 768 * kKiB;
  m.page_tables_bytes = 120 * kKiB;
  m.secondary_page_tables_bytes = 0;
  m.vmalloc_used_bytes = 8172 * kKiB;
  m.percpu_bytes = 260 * kKiB;
  m.hugetlb_bytes = 0;
  machine.zoneinfo = model::ZoneInfo{42457, 55, 52180};
  return machine;
}

// The rollups of its processes 1, 106 and 110 together.
Use debian_use() {
  Use use;
  use.pss = amount_of((716 + 656 + 8889) * kKiB);
  use.pss_anon = amount_of((56 + 60 + 8240) * kKiB);
  use.pss_file = amount_of(3 * kKiB);
  use.pss_shmem = amount_of((659 + 595 + 648) * kKiB);
  use.hugetlb = amount_of(0);
  return use;
}

// Lines in KiB: "page_cache -3".
std::vector<std::string> lines_of(const MachineAccount& account) {
  std::vector<std::string> lines;
  for (const AccountLine& line : account.others) {
    lines.push_back(line.token + " " +
                    std::to_string(line.bytes / static_cast<int64_t>(kKiB)));
  }
  return lines;
}

int64_t bytes_of(const MachineAccount& account, std::string_view token) {
  for (const AccountLine& line : account.others) {
    if (line.token == token) return line.bytes;
  }
  return 0;
}

TEST(MachineAccount, OfARealMachineNamesWhatNoProcessHolds) {
  std::optional<MachineAccount> account =
      make_machine_account(debian_machine(), debian_use());
  ASSERT_TRUE(account);
  EXPECT_EQ(lines_of(*account),
            (std::vector<std::string>{
                "page_cache -3", "shared_memory 1826", "anonymous 44",
                "slab 15728", "page_tables 120", "kernel_stacks 768",
                "vmalloc 7404", "percpu 260", "per_cpu_lists 220"}));
}

TEST(MachineAccount, OfARealMachineCloses) {
  std::optional<MachineAccount> account =
      make_machine_account(debian_machine(), debian_use());
  ASSERT_TRUE(account);
  EXPECT_EQ(account->total_bytes, 208720 * kKiB);
  EXPECT_EQ(account->used_bytes, 38892 * kKiB);
  EXPECT_EQ(account->processes, amount_of(10261 * kKiB));
  EXPECT_EQ(account->not_explained_bytes,
            static_cast<int64_t>((38892 - 10261 - 26367) * kKiB));
}

TEST(MachineAccount, NeedsTheTotals) {
  Machine machine = debian_machine();
  machine.meminfo.free_bytes = std::nullopt;
  EXPECT_FALSE(make_machine_account(machine, debian_use()));
  machine = debian_machine();
  machine.meminfo.total_bytes = std::nullopt;
  EXPECT_FALSE(make_machine_account(machine, debian_use()));
}

TEST(MachineAccount, RefusesMoreFreeThanThereIs) {
  Machine machine = debian_machine();
  machine.meminfo.free_bytes = *machine.meminfo.total_bytes + 1;
  EXPECT_FALSE(make_machine_account(machine, debian_use()));
}

TEST(MachineAccount, JoinsCacheAndAnonymousWithoutTheSplitOfTheRollup) {
  Use use = debian_use();
  use.pss_anon = use.pss_file = use.pss_shmem = amount_of(std::nullopt);
  std::optional<MachineAccount> account =
      make_machine_account(debian_machine(), use);
  ASSERT_TRUE(account);
  EXPECT_EQ(lines_of(*account)[0], "page_cache 1867")
      << "3728 cached + 8400 anonymous - 10261 of processes";
  EXPECT_EQ(lines_of(*account)[1], "slab 15728");
}

TEST(MachineAccount, CountsHugePagesInUseAsOfTheirProcesses) {
  Machine machine = debian_machine();
  machine.meminfo.hugetlb_bytes = 8192 * kKiB;
  Use use = debian_use();
  use.hugetlb = amount_of(2048 * kKiB);
  std::optional<MachineAccount> account = make_machine_account(machine, use);
  ASSERT_TRUE(account);
  EXPECT_EQ(account->processes, amount_of((10261 + 2048) * kKiB));
  EXPECT_EQ(bytes_of(*account, "huge_pages"),
            static_cast<int64_t>(6144 * kKiB));
}

TEST(MachineAccount, TakesKernelStacksOutOfVmalloc) {
  Machine machine = debian_machine();
  machine.meminfo.vmalloc_used_bytes = 700 * kKiB;
  std::optional<MachineAccount> account =
      make_machine_account(machine, debian_use());
  ASSERT_TRUE(account);
  EXPECT_EQ(bytes_of(*account, "vmalloc"), 0)
      << "stacks that are not vmapped leave no negative line";
}

TEST(MachineAccount, CountsPerCpuListsInPagesOfTheMachine) {
  Machine machine = debian_machine();
  machine.page_size_bytes = 65536;
  std::optional<MachineAccount> account =
      make_machine_account(machine, debian_use());
  ASSERT_TRUE(account);
  EXPECT_EQ(bytes_of(*account, "per_cpu_lists"), 55 * 65536);
}

TEST(MachineAccount, SaysThatTheProcessesAreALowerBound) {
  Use use = debian_use();
  use.pss.add(std::nullopt);
  std::optional<MachineAccount> account =
      make_machine_account(debian_machine(), use);
  ASSERT_TRUE(account);
  EXPECT_TRUE(account->processes.is_lower_bound());
}

// Up to 16 TiB, now and then unreported.
std::optional<uint64_t> any_bytes() {
  if (*rc::gen::inRange(0, 5) == 0) return std::nullopt;
  return *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 44);
}

RC_GTEST_PROP(MachineAccount, LinesSumExactlyToUsed, ()) {
  Machine machine;
  MemInfo& m = machine.meminfo;
  for (std::optional<uint64_t>* field :
       {&m.buffers_bytes, &m.cached_bytes, &m.swap_cached_bytes,
        &m.anon_pages_bytes, &m.shmem_bytes, &m.slab_reclaimable_bytes,
        &m.slab_unreclaimable_bytes, &m.kernel_stack_bytes,
        &m.page_tables_bytes, &m.secondary_page_tables_bytes,
        &m.vmalloc_used_bytes, &m.percpu_bytes, &m.hugetlb_bytes}) {
    *field = any_bytes();
  }
  m.total_bytes = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 44);
  m.free_bytes = *rc::gen::inRange<uint64_t>(0, *m.total_bytes + 1);
  if (*rc::gen::arbitrary<bool>()) {
    machine.zoneinfo = model::ZoneInfo{0, *rc::gen::inRange(0U, 1U << 20), 0};
  }
  Use use;
  for (model::Amount* amount :
       {&use.pss, &use.pss_anon, &use.pss_file, &use.pss_shmem, &use.hugetlb}) {
    *amount = amount_of(any_bytes());
  }
  std::optional<MachineAccount> account = make_machine_account(machine, use);
  RC_ASSERT(account.has_value());
  int64_t sum = static_cast<int64_t>(account->processes.bytes) +
                account->not_explained_bytes;
  for (const AccountLine& line : account->others)
    sum += line.bytes;
  RC_ASSERT(sum == static_cast<int64_t>(*m.total_bytes - *m.free_bytes));
}

}  // namespace
}  // namespace tidemark::analysis
