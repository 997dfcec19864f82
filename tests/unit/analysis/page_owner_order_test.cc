#include "analysis/page_owner_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::analysis {
namespace {

using Key = PageOwnerSortKey;
using Orders = std::vector<PageOwnerOrder>;

PageOwnerGrouping grouping(std::string_view list) {
  base::Result<PageOwnerGrouping> found = parse_page_owner_grouping(list);
  EXPECT_TRUE(found) << list;
  return found ? *found : PageOwnerGrouping{};
}

Orders orders(std::string_view list) {
  base::Result<Orders> found = parse_page_owner_order(list);
  EXPECT_TRUE(found) << list;
  return found ? *found : Orders{};
}

TEST(PageOwnerOrder, LongAndShortWordsGroupAlike) {
  PageOwnerGrouping all;
  all.by_stack = all.by_pid = all.by_tgid = true;
  all.by_name = all.by_allocator = true;
  EXPECT_EQ(grouping("stacktrace,pid,tgid,name,allocator"), all);
  EXPECT_EQ(grouping("st,p,tg,n,ator"), all);
  EXPECT_EQ(grouping("stack"), grouping("s"));
  EXPECT_TRUE(grouping("pid").by_pid);
  EXPECT_FALSE(grouping("pid").by_tgid) << "tgid is not a kind of pid";
}

TEST(PageOwnerOrder, MemoryAndTimesGoDownTheOthersUp) {
  EXPECT_EQ(orders("memory"), (Orders{{Key::Memory, true}}));
  EXPECT_EQ(orders("t"), (Orders{{Key::Count, true}}));
  EXPECT_EQ(orders("alloc_ts"), (Orders{{Key::Time, false}}));
  EXPECT_EQ(orders("name"), (Orders{{Key::Name, false}}));
}

TEST(PageOwnerOrder, ASignDecides) {
  EXPECT_EQ(orders("+memory,-pid,-tg,+ator"),
            (Orders{{Key::Memory, false},
                    {Key::Pid, true},
                    {Key::Tgid, true},
                    {Key::Allocator, false}}));
  EXPECT_EQ(orders("-st"), (Orders{{Key::Stack, true}}));
}

TEST(PageOwnerOrder, AnEmptyListChoosesNothing) {
  EXPECT_EQ(grouping(""), PageOwnerGrouping{});
  EXPECT_TRUE(orders("").empty());
}

TEST(PageOwnerOrder, RefusesWhatIsNoKey) {
  for (const char* list : {"pid,,name", "memory", "x", "-pid", "PID"}) {
    base::Result<PageOwnerGrouping> found = parse_page_owner_grouping(list);
    ASSERT_FALSE(found) << list;
    EXPECT_EQ(found.error().kind, base::ErrorKind::Misused);
    EXPECT_FALSE(found.error().hint.empty());
  }
  for (const char* list : {"+", "--pid", "pid,,name", "\x1b[1m"}) {
    base::Result<Orders> found = parse_page_owner_order(list);
    ASSERT_FALSE(found) << list;
    EXPECT_EQ(found.error().what.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace tidemark::analysis
