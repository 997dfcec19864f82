#include "analysis/module_use.h"

#include <gtest/gtest.h>

#include "unit/analysis/traces.h"

namespace tidemark::analysis {
namespace {

using test::made_trace;

// Frames with the way in first.
StackModule use_of(std::vector<std::string> frames) {
  const model::Trace trace = made_trace({{std::move(frames), 1, 1}});
  return module_use(trace, trace.stacks[0]);
}

TEST(ModuleUse, TheInnermostModuleOwnsTheStack) {
  EXPECT_EQ(use_of({"entry", "write@ext4", "start@jbd2", "alloc_pages"}),
            (StackModule{"jbd2", ModuleUse::Later}));
  EXPECT_EQ(use_of({"entry", "alloc_pages"}).name, "");
}

TEST(ModuleUse, WhatIsTakenWhileLoadingIsTheLoadedModules) {
  // Its init function registers with another module, which takes the page.
  EXPECT_EQ(use_of({"entry", "load_module", "do_init_module", "do_one_initcall",
                    "zram_init@zram", "create@zsmalloc", "alloc_pages"}),
            (StackModule{"zram", ModuleUse::Loading}));
}

TEST(ModuleUse, WhoIsLoadedMayBeToldWithoutAnyOfItsCode) {
  EXPECT_EQ(use_of({"entry", "load_module>zram", "mod_sysfs_setup",
                    "___slab_alloc", "alloc_pages"}),
            (StackModule{"zram", ModuleUse::Loading}));
  // What was told counts more than the code of others it calls.
  EXPECT_EQ(use_of({"entry", "load_module>zram", "do_init_module>zram",
                    "notify", "on_module@livepatch", "alloc_pages"}),
            (StackModule{"zram", ModuleUse::Loading}));
}

TEST(ModuleUse, ALoadNobodyNamedIsTheKernels) {
  EXPECT_EQ(use_of({"entry", "load_module", "layout_and_allocate"}),
            (StackModule{"", ModuleUse::Loading}));
}

TEST(ModuleUse, ReadingTheFileOfAModuleIsNoLoading) {
  EXPECT_EQ(use_of({"entry", "__do_sys_finit_module", "kernel_read_file",
                    "ext4_file_read_iter@ext4", "filemap_read",
                    "page_cache_ra_unbounded", "alloc_pages"}),
            (StackModule{"ext4", ModuleUse::PageCache}));
}

TEST(ModuleUse, PageCacheIsWhatIsTakenForFilesBelowTheModule) {
  EXPECT_EQ(use_of({"entry", "ext4_da_write_begin@ext4", "__filemap_get_folio",
                    "filemap_alloc_folio_noprof", "alloc_pages"}),
            (StackModule{"ext4", ModuleUse::PageCache}));
  // Read ahead, the file system takes a page for itself.
  EXPECT_EQ(use_of({"entry", "page_cache_ra_unbounded", "readahead@xfs",
                    "bio_alloc", "alloc_pages"}),
            (StackModule{"xfs", ModuleUse::Later}));
}

TEST(ModuleUse, SlabIsASlabOpenedForTheModule) {
  EXPECT_EQ(use_of({"entry", "make@loop", "kmem_cache_alloc", "___slab_alloc",
                    "allocate_slab", "alloc_pages"}),
            (StackModule{"loop", ModuleUse::Slab}));
  // An entry of the page cache's tree is slab, not a page of a file.
  EXPECT_EQ(
      use_of({"entry", "write@xfs", "__filemap_get_folio", "filemap_add_folio",
              "xas_alloc", "___slab_alloc", "alloc_pages"}),
      (StackModule{"xfs", ModuleUse::Slab}));
}

TEST(ModuleUse, WhatAnInterruptHitAskedForNothing) {
  EXPECT_EQ(use_of({"entry", "load_module>zram", "handle_softirqs",
                    "receive@virtio_net", "alloc_pages"}),
            (StackModule{"virtio_net", ModuleUse::Later}));
  EXPECT_EQ(use_of({"entry", "write@ext4", "handle_softirqs", "alloc_pages"}),
            (StackModule{"", ModuleUse::Later}));
}

TEST(ModuleUse, AFunctionOfAModuleIsNotTheKernelsOfThatName) {
  EXPECT_EQ(use_of({"entry", "load_module@mine", "alloc_pages"}),
            (StackModule{"mine", ModuleUse::Later}));
}

TEST(ModuleShares, AModuleHasToDoWithEveryStackItIsOn) {
  const model::Trace trace = made_trace({
      {{"entry", "write@zram", "grow@zsmalloc", "alloc_pages"}, 1, 10, 10, 8},
      {{"entry", "load_module>zram", "alloc_pages"}, 1, 3, 3, 3},
      {{"entry", "read@ext4", "handle_softirqs", "poll@virtio_net"},
       1,
       2,
       2,
       2},
      {{"entry", "alloc_pages"}, 1, 100, 100, 100},
  });
  const std::vector<ModuleShare> shares = make_module_shares(trace);
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0], (ModuleShare{"zram", 13, 11}));
  EXPECT_EQ(shares[1], (ModuleShare{"zsmalloc", 10, 8}));
  EXPECT_EQ(shares[2], (ModuleShare{"virtio_net", 2, 2}))
      << "whom an interrupt hits has asked for nothing";
}

}  // namespace
}  // namespace tidemark::analysis
