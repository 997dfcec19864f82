#include "model/page_owner.h"

#include <gtest/gtest.h>

namespace tidemark::model {
namespace {

PageAllocator allocator_of(const PageOwnerRecord& record) {
  return page_allocator_of(record, stack_traits(record.stack));
}

TEST(PageAllocator, IsToldByTypeFlagOrStack) {
  PageOwnerRecord record;
  record.stack = " post_alloc_hook+0x1/0x2\n f+0x1/0x2\n";
  EXPECT_EQ(allocator_of(record), PageAllocator::Others);
  record.page_flags = "uptodate|slab|node=0";
  EXPECT_EQ(allocator_of(record), PageAllocator::Slab);
  record.page_flags = "slabby|node=0";
  EXPECT_EQ(allocator_of(record), PageAllocator::Others);
  record.is_slab = true;
  EXPECT_EQ(allocator_of(record), PageAllocator::Slab);
  record.is_slab = false;
  record.stack = " get_page+0x1/0x2\n alloc_slab_page+0x1/0x2\n";
  EXPECT_EQ(allocator_of(record), PageAllocator::Slab);
  record.block_type = "CMA";
  EXPECT_EQ(allocator_of(record), PageAllocator::Cma);
}

TEST(PageAllocator, VmallocIsOnlyWhatItTakesItself) {
  PageOwnerRecord record;
  record.stack =
      " post_alloc_hook+0x1/0x2\n alloc_pages_bulk_noprof+0x1/0x2\n"
      " __vmalloc_node_range_noprof+0x1/0x2\n";
  EXPECT_EQ(allocator_of(record), PageAllocator::Vmalloc);
  record.stack =
      " __alloc_pages+0x1/0x2\n __pte_alloc_kernel+0x1/0x2\n"
      " __vmalloc_node_range+0x1/0x2\n";
  EXPECT_EQ(allocator_of(record), PageAllocator::Others);
  record.stack = " __vmalloc_node_range+0x1/0x2\n";
  EXPECT_EQ(allocator_of(record), PageAllocator::Others);
}

TEST(PageOwnerTotals, SumPagesAndNotRecords) {
  PageOwnerTotals totals;
  PageOwnerRecord record;
  record.order = 3;
  record.is_charged = true;
  totals.add(record, {});
  record.is_charged = false;
  record.is_migrated = true;
  record.order = 0;
  record.stack = " register_early_stack+0x28/0x43\n init_page_owner+0x1/0x2\n";
  totals.add(record, stack_traits(record.stack));
  EXPECT_EQ(totals.records, 2U);
  EXPECT_EQ(totals.pages, 9U);
  EXPECT_EQ(totals.charged_pages, 8U);
  EXPECT_EQ(totals.migrated_pages, 1U);
  EXPECT_EQ(totals.early_pages, 1U);
  EXPECT_EQ(totals.slab_pages, 0U);
}

TEST(PageOwnerSelection, AsksForAllThatIsListed) {
  PageOwnerRecord record;
  EXPECT_TRUE(PageOwnerSelection().has(record));
  PageOwnerSelection selection;
  selection.names = {""};
  EXPECT_FALSE(selection.has(record)) << "a kernel that tells no names";
  record.pid = 5;
  record.tgid = 4;
  record.comm = "sh";
  selection.names = {"bash", "sh"};
  EXPECT_TRUE(selection.has(record));
  selection.pids = {4};
  EXPECT_FALSE(selection.has(record));
  selection.pids = {4, 5};
  selection.tgids = {4};
  EXPECT_TRUE(selection.has(record));
}

TEST(StackTraits, TellStandInsApart) {
  EXPECT_EQ(stack_traits(" register_dummy_stack+0x1/0x2\n").stand_in,
            StackStandIn::Nested);
  EXPECT_EQ(stack_traits(" register_failure_stack+0x1/0x2\n").stand_in,
            StackStandIn::Failed);
  EXPECT_EQ(stack_traits(" start_kernel+0x1/0x2\n").stand_in,
            StackStandIn::None);
}

}  // namespace
}  // namespace tidemark::model
