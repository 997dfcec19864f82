#include "analysis/allocinfo_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::AllocationReading;
using model::AllocationSite;

AllocationSite site(const char* file, uint32_t line, const char* module,
                    const char* function, int64_t bytes, uint64_t calls) {
  return {file, line, module, function, bytes, calls, false};
}

AllocationReading reading() {
  AllocationReading now;
  now.realtime_ns = 20;
  now.used_bytes = 20000;
  now.sites = {
      site("mm/slub.c", 1, "", "alloc_slab_page", 8192, 2),
      site("mm/shmem.c", 2, "", "shmem_alloc", 4096, 1),
      site("include/a.h", 3, "", "inline_alloc", 100, 1),
      site("include/a.h", 3, "", "inline_alloc", 200, 2),
      site("drivers/zram.c", 4, "zram", "zram_meta", 5000, 3),
      site("drivers/zram.c", 5, "zram", "zram_add", 64, 50),
      site("mm/compaction.c", 6, "", "compaction_alloc", 4095, 0),
      site("mm/unused.c", 7, "", "never", 0, 0),
      site("mm/negative.c", 8, "", "racing", -4096, 1),
  };
  return now;
}

std::vector<std::string> names(const AllocinfoReport& report) {
  std::vector<std::string> names;
  for (const AllocinfoRow& row : report.rows)
    names.push_back(row.function.empty() ? "[" + row.module + "]"
                                         : row.function);
  return names;
}

TEST(AllocinfoReport, RanksLinesBySizeWithoutSlabPagesAndNoise) {
  const AllocinfoReport report = make_allocinfo_report(reading(), nullptr, {});
  EXPECT_EQ(names(report),
            (std::vector<std::string>{"zram_meta", "shmem_alloc",
                                      "inline_alloc", "zram_add", "racing"}));
  EXPECT_EQ(report.rows[2].bytes, 300) << "one place of two files";
  EXPECT_EQ(report.rows[2].site_count, 2U);
  EXPECT_FALSE(report.rows[0].grown_bytes);
}

TEST(AllocinfoReport, TotalsAddUp) {
  const AllocinfoReport report = make_allocinfo_report(reading(), nullptr, {});
  const AllocinfoTotals& totals = report.totals;
  EXPECT_EQ(totals.held_bytes, 4096 + 300 + 5000 + 64 - 4096);
  EXPECT_EQ(totals.slab_page_bytes, 8192);
  EXPECT_EQ(totals.noise_bytes, 4095);
  EXPECT_EQ(totals.noise_count, 1U);
  EXPECT_EQ(totals.unused_count, 1U);
  EXPECT_EQ(totals.listed_bytes,
            totals.held_bytes + totals.slab_page_bytes + totals.noise_bytes);
  EXPECT_EQ(totals.residue_bytes, 20000 - totals.held_bytes);
  int64_t rows = 0;
  for (const AllocinfoRow& row : report.rows)
    rows += row.bytes;
  EXPECT_EQ(rows, totals.held_bytes);
}

TEST(AllocinfoReport, SumsModules) {
  AllocinfoOptions options;
  options.group_by = AllocinfoGrouping::Module;
  const AllocinfoReport report =
      make_allocinfo_report(reading(), nullptr, options);
  ASSERT_EQ(names(report), (std::vector<std::string>{"[zram]", "[]"}));
  EXPECT_EQ(report.rows[0].bytes, 5064);
  EXPECT_EQ(report.rows[0].calls, 53U);
  EXPECT_EQ(report.rows[0].site_count, 2U);
  EXPECT_EQ(report.rows[0].file, "");
}

TEST(AllocinfoReport, RanksByGrowth) {
  AllocationReading before = reading();
  before.realtime_ns = 10;
  before.sites[1].bytes = 4000;  // shmem grew
  before.sites[4].bytes = 9000;  // zram shrank
  before.sites[6] = site("mm/compaction.c", 6, "", "compaction_alloc", 1, 0);
  before.sites.push_back(site("fs/gone.c", 9, "gone", "left", 777, 7));
  AllocinfoOptions options;
  options.sort_by = AllocinfoSort::Growth;
  const AllocinfoReport report =
      make_allocinfo_report(reading(), &before, options);
  EXPECT_EQ(report.since_realtime_ns, 10U);
  EXPECT_EQ(names(report),
            (std::vector<std::string>{"shmem_alloc", "inline_alloc", "zram_add",
                                      "racing", "left", "zram_meta"}));
  EXPECT_EQ(report.rows[0].grown_bytes, 96);
  EXPECT_EQ(report.rows[4].bytes, 0) << "its module is gone";
  EXPECT_EQ(report.rows[4].grown_bytes, -777);
  EXPECT_EQ(report.rows[4].grown_calls, -7);
  EXPECT_EQ(report.totals.grown_bytes, 96 - 777 - 4000);
}

TEST(AllocinfoReport, RanksByCalls) {
  AllocinfoOptions options;
  options.sort_by = AllocinfoSort::Calls;
  EXPECT_EQ(names(make_allocinfo_report(reading(), nullptr, options))[0],
            "zram_add");
  options.sort_by = AllocinfoSort::Growth;
  EXPECT_EQ(names(make_allocinfo_report(reading(), nullptr, options))[0],
            "zram_meta")
      << "without a reading before, by size";
}

TEST(AllocinfoReport, FoldsWhatIsBehindTheTop) {
  AllocinfoOptions options;
  options.top = 2;
  const AllocationReading before = reading();
  const AllocinfoReport report =
      make_allocinfo_report(reading(), &before, options);
  EXPECT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.folded_count, 3U);
  EXPECT_EQ(report.folded_bytes, 300 + 64 - 4096);
  EXPECT_EQ(report.folded_grown_bytes, 0);
}

}  // namespace
}  // namespace tidemark::analysis
