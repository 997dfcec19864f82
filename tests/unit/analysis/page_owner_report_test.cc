#include "analysis/page_owner_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::PageAllocator;
using model::PageOwnerRecord;

PageOwnerRecord record_of(int32_t pid, int32_t tgid, std::string_view comm,
                          std::string_view stack, uint64_t taken_ns,
                          uint32_t order = 0) {
  PageOwnerRecord record;
  record.pid = pid;
  record.tgid = tgid;
  record.comm = comm;
  record.stack = stack;
  record.taken_ns = taken_ns;
  record.order = order;
  return record;
}

constexpr std::string_view kFault = " alloc+0x1/0x2\n fault+0x1/0x2\n";
constexpr std::string_view kSlab = " alloc_slab_page+0x1/0x2\n open+0x1/0x2\n";

std::vector<PageOwnerRecord> example() {
  return {record_of(11, 10, "server", kFault, 500, 3),
          record_of(12, 10, "server", kFault, 100, 0),
          record_of(20, 20, "sh", kSlab, 300, 1),
          record_of(20, 20, "sh", kFault, 700, 0)};
}

PageOwnerReport owners_of(const PageOwnerReportOptions& options,
                          const std::vector<PageOwnerRecord>& records) {
  PageOwnerGroups groups(options);
  for (const PageOwnerRecord& record : records)
    groups.add(record);
  return groups.finish();
}

PageOwnerReportOptions grouped_by(std::string_view words,
                                  std::string_view order = "") {
  PageOwnerReportOptions options;
  base::Result<PageOwnerGrouping> grouping = parse_page_owner_grouping(words);
  EXPECT_TRUE(grouping) << grouping.error().what;
  options.group_by = *grouping;
  base::Result<std::vector<PageOwnerOrder>> orders =
      parse_page_owner_order(order);
  EXPECT_TRUE(orders) << orders.error().what;
  options.sort_by = *orders;
  return options;
}

std::vector<uint64_t> pages_of(const PageOwnerReport& report) {
  std::vector<uint64_t> pages;
  for (const PageOwnerRow& row : report.rows)
    pages.push_back(row.pages);
  return pages;
}

TEST(PageOwnerReport, GroupsByStackAndTellsWhatAllOfAGroupHave) {
  const PageOwnerReport report = owners_of(grouped_by("stacktrace"), example());
  ASSERT_EQ(report.rows.size(), 2U);
  const PageOwnerRow& fault = report.rows[0];
  EXPECT_EQ(fault.blocks, 3U);
  EXPECT_EQ(fault.pages, 10U);
  EXPECT_EQ(fault.oldest_ns, 100U);
  EXPECT_EQ(fault.newest_ns, 700U);
  EXPECT_FALSE(fault.tgid) << "two groups of threads";
  EXPECT_FALSE(fault.name);
  EXPECT_EQ(fault.allocator, PageAllocator::Others);
  EXPECT_EQ(fault.frames,
            (std::vector<std::string>{"alloc+0x1/0x2", "fault+0x1/0x2"}));
  EXPECT_EQ(report.rows[1].name, "sh");
  EXPECT_EQ(report.rows[1].allocator, PageAllocator::Slab);
  EXPECT_EQ(report.totals.pages, 12U);
  EXPECT_EQ(report.totals.slab_pages, 2U);
}

TEST(PageOwnerReport, GroupsByEveryKeyAndByNone) {
  EXPECT_EQ(pages_of(owners_of(grouped_by("tgid"), example())),
            (std::vector<uint64_t>{9, 3}));
  EXPECT_EQ(pages_of(owners_of(grouped_by("p"), example())),
            (std::vector<uint64_t>{8, 3, 1}));
  EXPECT_EQ(pages_of(owners_of(grouped_by("name,st"), example())),
            (std::vector<uint64_t>{9, 2, 1}));
  EXPECT_EQ(pages_of(owners_of(grouped_by("ator"), example())),
            (std::vector<uint64_t>{10, 2}));
  EXPECT_EQ(pages_of(owners_of({}, example())), (std::vector<uint64_t>{12}));
  EXPECT_TRUE(owners_of({}, {}).rows.empty());
}

TEST(PageOwnerReport, SortsAsAsked) {
  const auto pids_by = [](std::string_view order) {
    std::string pids;
    for (const PageOwnerRow& row :
         owners_of(grouped_by("pid,name", order), example()).rows) {
      pids += std::to_string(*row.pid) + " ";
    }
    return pids;
  };
  EXPECT_EQ(pids_by(""), "11 20 12 ");
  EXPECT_EQ(pids_by("memory"), "11 20 12 ");
  EXPECT_EQ(pids_by("+m"), "12 20 11 ");
  EXPECT_EQ(pids_by("times"), "20 11 12 ");
  EXPECT_EQ(pids_by("alloc_ts"), "12 20 11 ");
  EXPECT_EQ(pids_by("-at"), "11 20 12 ");
  EXPECT_EQ(pids_by("-pid"), "20 12 11 ");
  EXPECT_EQ(pids_by("name,-pid"), "12 11 20 ");
  EXPECT_EQ(pids_by("-tg,p"), "20 11 12 ");
}

TEST(PageOwnerReport, SortsByWhenPagesWereGivenBackBefore) {
  std::vector<PageOwnerRecord> records = example();
  records[0].freed_ns = 40;
  records[1].freed_ns = 60;
  records[2].freed_ns = 90;
  records[3].freed_ns = 50;
  std::string pids;
  for (const PageOwnerRow& row :
       owners_of(grouped_by("pid", "-free_ts"), records).rows) {
    pids += std::to_string(*row.pid) + " ";
  }
  EXPECT_EQ(pids, "12 20 11 ");
}

TEST(PageOwnerReport, SortsByStackAndAllocator) {
  const PageOwnerReport by_stack =
      owners_of(grouped_by("stack", "-stacktrace"), example());
  EXPECT_EQ(by_stack.rows[0].frames[0], "alloc_slab_page+0x1/0x2");
  const PageOwnerReport by_allocator =
      owners_of(grouped_by("allocator", "-ator"), example());
  EXPECT_EQ(by_allocator.rows[0].allocator, PageAllocator::Slab);
}

TEST(PageOwnerReport, SelectsAndCountsTheRest) {
  PageOwnerReportOptions options = grouped_by("stack");
  options.selection.names = {"sh"};
  const PageOwnerReport report = owners_of(options, example());
  EXPECT_EQ(pages_of(report), (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(report.totals.records, 2U);
  EXPECT_EQ(report.unselected_records, 2U);
  EXPECT_EQ(report.unselected_pages, 9U);
}

TEST(PageOwnerReport, FoldsWhatIsBehindTheTop) {
  PageOwnerReportOptions options = grouped_by("pid");
  options.top = 1;
  const PageOwnerReport report = owners_of(options, example());
  EXPECT_EQ(pages_of(report), (std::vector<uint64_t>{8}));
  EXPECT_EQ(report.folded_count, 2U);
  EXPECT_EQ(report.folded_pages, 4U);
}

TEST(PageOwnerReport, RecordsWithoutATaskAreAGroupOfTheirOwn) {
  PageOwnerRecord old;
  old.stack = kFault;
  std::vector<PageOwnerRecord> records = example();
  records.push_back(old);
  records.push_back(record_of(0, 0, "", kFault, 1));
  const PageOwnerReport report = owners_of(grouped_by("name"), records);
  ASSERT_EQ(report.rows.size(), 4U);
  const PageOwnerReport by_pid = owners_of(grouped_by("pid"), records);
  ASSERT_EQ(by_pid.rows.size(), 5U);
}

TEST(PageOwnerOrder, RefusesUnknownWords) {
  for (const char* list : {"pids", "pid,,st", "-", "+x"}) {
    const base::Result<PageOwnerGrouping> grouping =
        parse_page_owner_grouping(list);
    const base::Result<std::vector<PageOwnerOrder>> order =
        parse_page_owner_order(list);
    ASSERT_FALSE(grouping) << list;
    EXPECT_EQ(grouping.error().kind, base::ErrorKind::Misused);
    ASSERT_FALSE(order) << list;
    EXPECT_FALSE(order.error().hint.empty());
  }
}

}  // namespace
}  // namespace tidemark::analysis
