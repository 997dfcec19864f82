#include "parse/ftrace_page.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::parse {
namespace {

constexpr std::string_view kHeader =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

FtracePageLayout layout() {
  base::Result<FtracePageLayout> layout = parse_ftrace_page_layout(kHeader);
  EXPECT_TRUE(layout) << layout.error().what;
  return layout ? *layout : FtracePageLayout();
}

// As a machine writes it whose low bits come first, which all of ours are.
class Page {
 public:
  Page& entry(uint32_t type, uint32_t time) { return word(time << 5 | type); }
  Page& word(uint32_t value) {
    data_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Page& text(std::string_view text) {
    data_ += text;
    return *this;
  }
  std::string make(uint64_t flags = 0) const {
    const uint64_t head[] = {1000, data_.size() | flags};
    std::string page(reinterpret_cast<const char*>(head), sizeof head);
    page += data_;
    page.resize(4096);
    return page;
  }

 private:
  std::string data_;
};

using Records = std::vector<std::pair<uint64_t, std::string>>;

Records records_in(const std::string& bytes) {
  FtracePage page(bytes, layout());
  Records records;
  FtraceRecord record;
  while (page.next(record))
    records.emplace_back(record.time_ns, record.data);
  return records;
}

TEST(FtracePage, HandsOverEventsWithTheirTime) {
  const Page page =
      Page().entry(2, 5).text("eight by").entry(0, 7).word(12).text("as long.");
  EXPECT_EQ(records_in(page.make()),
            (Records{{1005, "eight by"}, {1012, "as long."}}));
}

TEST(FtracePage, LargeAndAbsoluteTimes) {
  const Page page = Page()
                        .entry(30, 1)
                        .word(2)
                        .entry(1, 3)
                        .text("abcd")
                        .entry(31, 9)
                        .word(1)
                        .entry(1, 1)
                        .text("efgh");
  EXPECT_EQ(records_in(page.make()),
            (Records{{1000 + (2U << 27) + 1 + 3, "abcd"},
                     {(1U << 27) + 9 + 1, "efgh"}}));
}

TEST(FtracePage, PassesOverWhatWasTakenBack) {
  const Page page =
      Page().entry(29, 1).word(8).text("gone").entry(1, 2).text("here");
  EXPECT_EQ(records_in(page.make()), (Records{{1003, "here"}}));
}

TEST(FtracePage, EndsWithItsEventsAndNotWithThePage) {
  const Page page = Page().entry(1, 1).text("abcd");
  EXPECT_EQ(records_in(page.make()).size(), 1U);
  EXPECT_EQ(records_in(page.make(uint64_t{1} << 31)).size(), 1U)
      << "a flag that events before it are missing is no length";
  const Page padded = Page().entry(1, 1).text("abcd").entry(29, 0).text("....");
  EXPECT_EQ(records_in(padded.make()).size(), 1U);
}

TEST(FtracePage, RefusesLengthsThatLie) {
  EXPECT_TRUE(records_in("").empty());
  EXPECT_TRUE(records_in(std::string(15, 'x')).empty());
  EXPECT_TRUE(records_in(Page().entry(28, 1).text("short").make()).empty());
  EXPECT_TRUE(records_in(Page().entry(0, 1).word(0).make()).empty());
  EXPECT_TRUE(records_in(Page().entry(0, 1).word(0xfffffffc).make()).empty());
  EXPECT_TRUE(records_in(Page().entry(0, 1).make()).empty());
}

TEST(FtracePage, ALayoutNeedsItsParts) {
  EXPECT_FALSE(parse_ftrace_page_layout(""));
  EXPECT_FALSE(parse_ftrace_page_layout(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"));
}

}  // namespace
}  // namespace tidemark::parse
