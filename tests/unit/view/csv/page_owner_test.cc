#include "view/csv/page_owner.h"

#include <gtest/gtest.h>

#include "unit/view/page_owner_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TEST(PageOwnerCsv, HasALineForEachGroup) {
  const std::string csv = page_owner_csv(page_owner_example());
  const std::vector<std::string> lines = lines_of(csv);
  ASSERT_EQ(lines.size(), 3U) << csv;
  EXPECT_EQ(lines[0],
            "time,bytes,pages,block_count,pid,tgid,name,allocator,oldest_ns,"
            "newest_ns,stack");
  EXPECT_EQ(lines[1],
            "2025-11-15T08:11:08.123456789Z,2097152,512,3,,,,others,"
            "1500000000,2500000000,"
            "alloc_pages+0x1/0x2;loop_add+0x17d/0x320 [loop]");
  EXPECT_TRUE(is_harmless(csv));
}

}  // namespace
}  // namespace tidemark::view
