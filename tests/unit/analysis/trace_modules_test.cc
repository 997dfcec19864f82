#include "analysis/trace_modules.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"

namespace tidemark::analysis {
namespace {

using model::Trace;
using test::made_trace;

Trace some_trace() {
  Trace trace = made_trace({
      {{"entry", "load_module>zram", "mod_sysfs_setup"}, 1, 3, 3, 3},
      {{"entry", "load_module", "do_init_module>zram", "zram_init@zram"},
       1,
       5,
       5,
       5},
      {{"entry", "zram_write@zram"}, 2, 7, 70, 7},
      {{"entry", "open@zram", "___slab_alloc"}, 2, 11, 11, 11},
      {{"entry", "read@ext4", "page_cache_ra_unbounded"}, 2, 13, 13, 13},
      {{"entry", "fault"}, 2, 1000, 1000, 1000},
  });
  model::TraceBefore before;
  before.modules = model::known(std::vector<model::KernelModule>{
      {"ext4", 800'000, {}}, {"idle", 4096, {}}});
  model::VmallocInfo areas;
  areas.areas.resize(3);
  areas.areas[0].caller = "ext4_kvmalloc+0x10/0x20 [ext4]";
  areas.areas[0].kind = model::VmallocKind::Vmalloc;
  areas.areas[0].pages = 4;
  areas.areas[1] = areas.areas[0];
  areas.areas[1].caller = "n_tty_open+0x1/0x2";
  areas.areas[1].pages = 9;
  areas.areas[2] = areas.areas[0];
  areas.areas[2].kind = model::VmallocKind::Vmap;  // pages of somebody else
  before.vmalloc = model::known(areas);
  before.slab = model::unknown<std::vector<model::SlabCache>>("denied");
  before.pages = model::known(
      std::vector<model::ModulePages>{{"", 9000}, {"ext4", 30}, {"gone", 5}});
  before.code =
      model::unknown<std::vector<model::AllocationSite>>("no such file");
  trace.before = before;
  trace.modules = {{"zram", 40'000, true, true}};
  return trace;
}

const ModuleRow& row(const ModuleTable& table, const std::string& name) {
  for (const ModuleRow& one : table.rows) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no row " << name;
  return table.rows.front();
}

TEST(ModuleTable, TheColumnsOfEachModuleAreAllItsPages) {
  const ModuleTable table =
      make_module_table(some_trace(), TraceOrder::ByPages, 0);
  uint64_t all = table.kernel.pages;
  for (const ModuleRow& one : table.rows) {
    EXPECT_EQ(
        one.loading_pages + one.later_pages + one.cache_pages + one.slab_pages,
        one.total.pages)
        << one.name;
    all += one.total.pages;
  }
  EXPECT_EQ(all, 1039U) << "and with the kernel's all that was traced";
}

TEST(ModuleTable, PartsWhatAModuleHas) {
  const ModuleTable table =
      make_module_table(some_trace(), TraceOrder::ByPages, 0);
  const ModuleRow& zram = row(table, "zram");
  EXPECT_EQ(zram.loading_pages, 8U);
  EXPECT_EQ(zram.later_pages, 7U);
  EXPECT_EQ(zram.slab_pages, 11U);
  EXPECT_EQ(*zram.image_bytes, 40'000U) << "as the kernel told of it";
  EXPECT_TRUE(zram.was_loaded && zram.was_unloaded && !zram.was_there);
  EXPECT_EQ(row(table, "ext4").cache_pages, 13U);
}

TEST(ModuleTable, AModuleThatTookNothingStillHasItsImage) {
  const ModuleTable table =
      make_module_table(some_trace(), TraceOrder::ByPages, 0);
  const ModuleRow& idle = row(table, "idle");
  EXPECT_EQ(*idle.image_bytes, 4096U);
  EXPECT_EQ(idle.total.pages, 0U);
  EXPECT_EQ(*table.before_image_bytes, 804'096U);
}

TEST(ModuleTable, WhatWasBeforeStandsApart) {
  const ModuleTable table =
      make_module_table(some_trace(), TraceOrder::ByPages, 0);
  EXPECT_EQ(*row(table, "ext4").before_vmalloc_bytes, 4U * 4096);
  ASSERT_TRUE(table.before_vmalloc);
  EXPECT_EQ(table.before_vmalloc->at(0), (BeforeRow{"n_tty_open", 9 * 4096}));
  EXPECT_EQ(table.before_vmalloc->at(1),
            (BeforeRow{"ext4_kvmalloc [ext4]", 4 * 4096}));
  EXPECT_EQ(table.before_slab.unknown_because, "denied");
  EXPECT_EQ(table.before_code.unknown_because, "no such file");
  EXPECT_EQ(*row(table, "ext4").before_pages, 30U);
  EXPECT_EQ(*row(table, "idle").before_pages, 0U);
  EXPECT_EQ(table.before_pages->at(0), (BeforeRow{"", 9000 * 4096}));
  EXPECT_FALSE(row(table, "gone").image_bytes);
  EXPECT_FALSE(row(table, "gone").image_bytes.unknown_because.empty());
  EXPECT_EQ(row(table, "ext4").before_code_bytes.unknown_because,
            "no such file");
}

TEST(ModuleTable, LinesOfCodeFromBeforeAreTheKernelsToo) {
  Trace trace = some_trace();
  trace.before->code = model::known(std::vector<model::AllocationSite>{
      {"mm/slub.c", 7, "", "alloc_slab_page", 99'999, 1, false},
      {"fs/inode.c", 8, "", "alloc_inode", 4096, 1, false},
      {"fs/ext4/super.c", 9, "ext4", "ext4_alloc", 8192, 2, false},
      {"mm/empty.c", 1, "", "nothing", 0, 0, false}});
  const ModuleTable table = make_module_table(trace, TraceOrder::ByPages, 0);
  ASSERT_TRUE(table.before_code);
  EXPECT_EQ(
      *table.before_code,
      (std::vector<BeforeRow>{{"fs/ext4/super.c:9 [ext4] ext4_alloc", 8192},
                              {"fs/inode.c:8 alloc_inode", 4096}}))
      << "pages of slabs are counted by their objects";
  EXPECT_EQ(*row(table, "ext4").before_code_bytes, 8192);
}

TEST(ModuleTable, PagesArePartedAsInReports) {
  const Trace trace = some_trace();
  uint64_t pages = 0;
  for (const model::ModulePages& module : pages_by_module(trace)) {
    pages += module.pages;
    if (module.module.empty()) continue;
    const ModuleTable table = make_module_table(trace, TraceOrder::ByPages, 0);
    EXPECT_EQ(module.pages, row(table, module.module).total.pages);
  }
  EXPECT_EQ(pages, trace.pages);
}

TEST(ModuleTable, AnImageNobodyToldOfIsUnknownAndNotZero) {
  Trace trace = some_trace();
  trace.modules.clear();
  const ModuleTable table = make_module_table(trace, TraceOrder::ByPages, 0);
  EXPECT_FALSE(row(table, "zram").image_bytes);
  EXPECT_FALSE(row(table, "zram").image_bytes.unknown_because.empty());
}

TEST(ModuleTable, SortsAndCutsAsAsked) {
  const ModuleTable table =
      make_module_table(some_trace(), TraceOrder::ByPeak, 1);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].name, "zram");
  EXPECT_EQ(table.before_vmalloc->size(), 1U);
}

}  // namespace
}  // namespace tidemark::analysis
