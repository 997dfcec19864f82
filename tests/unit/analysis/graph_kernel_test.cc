#include "analysis/graph_kernel.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::LedgerClass;

uint64_t sum(const KernelShares& shares) {
  return shares.free_bytes + shares.vmo_bytes() + shares.slab_bytes +
         shares.boot_bytes + shares.page_table_bytes + shares.other_bytes();
}

model::Machine machine_of(const std::vector<uint64_t>& bytes) {
  model::Machine machine;
  model::MemInfo& m = machine.meminfo;
  std::optional<uint64_t>* fields[] = {&m.total_bytes,
                                       &m.free_bytes,
                                       &m.anon_pages_bytes,
                                       &m.cached_bytes,
                                       &m.buffers_bytes,
                                       &m.shmem_bytes,
                                       &m.slab_reclaimable_bytes,
                                       &m.slab_unreclaimable_bytes,
                                       &m.page_tables_bytes,
                                       &m.kernel_stack_bytes,
                                       &m.vmalloc_used_bytes,
                                       &m.percpu_bytes,
                                       &m.hugetlb_bytes};
  for (size_t i = 0; i < std::size(fields) && i < bytes.size(); ++i)
    *fields[i] = bytes[i];
  return machine;
}

TEST(KernelShares, CountersAddUpToTheTotal) {
  const model::Machine machine =
      machine_of({1000, 300, 200, 150, 10, 50, 40, 20, 15, 16, 36, 5, 0});
  base::Result<KernelShares> shares = shares_of_counters(machine, std::nullopt);
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->free_bytes, 300U);
  EXPECT_EQ(shares->vmo_bytes(), 200U + 150 + 10);
  EXPECT_EQ(shares->file_bytes, 110U);
  EXPECT_EQ(shares->slab_bytes, 60U);
  EXPECT_EQ(shares->page_table_bytes, 15U);
  EXPECT_EQ(shares->others.front(),
            (std::pair<std::string, uint64_t>("kernel-stacks", 16)));
  EXPECT_EQ(sum(*shares), 1000U);
}

// Counters are not read at one instant, and may say anything together.
TEST(KernelShares, CountersNeverMakeMoreThanTheTotal) {
  rc::check([](const std::vector<uint32_t>& numbers) {
    std::vector<uint64_t> bytes(numbers.begin(), numbers.end());
    bytes.resize(13);
    base::Result<KernelShares> shares =
        shares_of_counters(machine_of(bytes), std::nullopt);
    RC_ASSERT(static_cast<bool>(shares));
    RC_ASSERT(sum(*shares) == bytes[0]);
  });
}

TEST(KernelShares, WithoutATotalThereIsNothingToShare) {
  EXPECT_FALSE(shares_of_counters(model::Machine(), std::nullopt));
}

TEST(KernelShares, EveryClassOfTheLedgerIsInOneShare) {
  model::Ledger ledger;
  for (size_t i = 0; i < model::kLedgerClassCount; ++i) {
    model::LedgerRow row;
    row.ledger_class = static_cast<LedgerClass>(i);
    row.bytes = uint64_t{1} << i;
    ledger.total_bytes += row.bytes;
    ledger.rows.push_back(row);
    row.owner = "a part of it";
    row.parent = "its row";
    ledger.rows.push_back(row);
  }
  const KernelShares shares = shares_of_ledger(ledger, std::nullopt);
  EXPECT_EQ(sum(shares), ledger.total_bytes);
  EXPECT_EQ(shares.free_bytes,
            uint64_t{1} << static_cast<size_t>(LedgerClass::Free));
  EXPECT_EQ(shares.anon_bytes, 1U + 2 + 4);
}

TEST(KernelShares, SlabInUseIsWithinTheSlab) {
  const model::Machine machine =
      machine_of({1000, 0, 0, 0, 0, 0, 40, 20, 0, 0, 0, 0, 0});
  model::SlabCache cache;
  cache.active_objects = 5;
  cache.object_bytes = 10;
  EXPECT_EQ(shares_of_counters(machine, SlabCaches({cache}))->slab_used_bytes,
            50U);
  cache.active_objects = UINT64_MAX;
  EXPECT_EQ(shares_of_counters(machine, SlabCaches({cache}))->slab_used_bytes,
            60U);
}

TEST(MakeRoom, LeavesWhatIsLargeEnough) {
  KernelShares shares;
  shares.total_bytes = shares.anon_bytes = 100;
  const KernelShares before = shares;
  EXPECT_EQ(make_room(shares, 100), 0U);
  EXPECT_EQ(shares, before);
}

TEST(MakeRoom, TakesFromTheRestTheUnnamedFirstThenFromFree) {
  KernelShares shares;
  shares.total_bytes = 100;
  shares.anon_bytes = 50;
  shares.free_bytes = 20;
  shares.others = {{"vmalloc", 10}, {"unnamed", 20}};
  EXPECT_EQ(make_room(shares, 65), 15U);
  EXPECT_EQ(shares.others[1].second, 5U);
  EXPECT_EQ(shares.others[0].second, 10U);
  EXPECT_EQ(make_room(shares, 85), 20U);
  EXPECT_EQ(shares.other_bytes(), 0U);
  EXPECT_EQ(shares.free_bytes, 15U);
  EXPECT_EQ(sum(shares), 100U);
}

TEST(MakeRoom, TheSumStaysExactWhateverIsAsked) {
  rc::check([](uint32_t anon, uint32_t free, uint32_t other, uint32_t slab,
               uint32_t asked) {
    KernelShares shares;
    shares.anon_bytes = anon;
    shares.free_bytes = free;
    shares.slab_bytes = slab;
    shares.others = {{"unnamed", other}};
    shares.total_bytes = sum(shares);
    make_room(shares, asked);
    RC_ASSERT(sum(shares) == shares.total_bytes);
    RC_ASSERT(shares.vmo_bytes() >= asked);
  });
}

}  // namespace
}  // namespace tidemark::analysis
