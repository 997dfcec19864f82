#include "source/page_event_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using Kind = PageEvent::Kind;
using test::TemporaryTree;

std::string format(std::string_view name, int id, std::string_view fields) {
  return "name: " + std::string(name) + "\nID: " + std::to_string(id) +
         "\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n" +
         std::string(fields);
}

constexpr std::string_view kBlock =
    "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long gfp_flags;\toffset:24;\tsize:8;\tsigned:0;\n";
constexpr std::string_view kMove =
    "\tfield:unsigned long addr;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned long pte;\toffset:16;\tsize:8;\tsigned:0;\n";

std::string record(int32_t thread, uint64_t first, uint64_t second,
                   uint64_t third = 0) {
  std::string bytes(32, '\0');
  std::memcpy(bytes.data() + 4, &thread, sizeof thread);
  std::memcpy(bytes.data() + 8, &first, sizeof first);
  std::memcpy(bytes.data() + 16, &second, sizeof second);
  std::memcpy(bytes.data() + 24, &third, sizeof third);
  return bytes;
}

class PageEventReaderTest : public testing::Test {
 protected:
  PageEventReaderTest() : roots_(tree_.roots()) {
    tree_.add("kallsyms", "ffffffff81000000 T alloc\n");
    tree_.add("events/kmem/mm_page_alloc/format",
              format("mm_page_alloc", 7, kBlock));
    tree_.add("events/kmem/mm_page_free/format",
              format("mm_page_free", 8, kBlock));
  }
  void add_moves() {
    tree_.add("events/migrate/set_migration_pte/format",
              format("set_migration_pte", 9, kMove));
    tree_.add("events/migrate/remove_migration_pte/format",
              format("remove_migration_pte", 10, kMove));
  }
  PageEventReader make() {
    base::Result<PageEventReader> reader = PageEventReader::make(roots_.proc);
    EXPECT_TRUE(reader) << reader.error().what;
    return *reader;
  }
  std::unique_ptr<EventAccount> account() {
    return std::move(*EventAccount::make(roots_, options_, {}));
  }
  TemporaryTree tree_;
  Roots roots_;
  TraceOptions options_;
};

TEST_F(PageEventReaderTest, ReadsAllocationsAndFrees) {
  const PageEventReader reader = make();
  EXPECT_EQ(reader.event_id(Kind::Alloc), 7U);
  EXPECT_EQ(reader.event_id(Kind::Free), 8U);
  EXPECT_EQ(reader.event_id(Kind::Unmap), 0U);
  EXPECT_EQ(reader.event_id(Kind::Fork), 0U);
  EXPECT_FALSE(reader.sees_moves());
  const auto events = account();
  std::optional<PageEvent> event =
      reader.read(Kind::Alloc, record(42, 1234, 3), *events);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::Alloc);
  EXPECT_EQ(event->frame, 1234U);
  EXPECT_EQ(event->order, 3);
  EXPECT_EQ(event->pid, 42);
  event = reader.read(Kind::Free, record(42, 1234, 0), *events);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::Free);
}

TEST_F(PageEventReaderTest, LeavesOutWhatFailedOrIsNotAskedFor) {
  options_.filter.unwanted_gfp_bits = 2;
  const PageEventReader reader = make();
  const auto events = account();
  EXPECT_FALSE(reader.read(Kind::Alloc, record(1, ~uint64_t{0}, 0), *events));
  EXPECT_FALSE(reader.read(Kind::Alloc, record(1, 5, 64), *events));
  EXPECT_FALSE(reader.read(Kind::Alloc, record(1, 5, 0, 2), *events));
  EXPECT_TRUE(reader.read(Kind::Alloc, record(1, 5, 0, 1), *events));
  EXPECT_FALSE(reader.read(Kind::Alloc, "short", *events));
}

TEST_F(PageEventReaderTest, AKernelThatDoesNotTellTheFrameIsRefused) {
  tree_.add("events/kmem/mm_page_free/format", format("mm_page_free", 8, ""));
  EXPECT_FALSE(PageEventReader::make(roots_.proc));
  tree_.remove("events/kmem/mm_page_free");
  EXPECT_FALSE(PageEventReader::make(roots_.proc));
}

#ifdef __x86_64__
TEST_F(PageEventReaderTest, ReadsWhereAPageMoves) {
  add_moves();
  const PageEventReader reader = make();
  EXPECT_TRUE(reader.sees_moves());
  // As the kernel writes a note: the frame inverted, from bit 9 on.
  const uint64_t note = ~(uint64_t{0x123456} << 14) >> 5;
  const auto events = account();
  std::optional<PageEvent> event =
      reader.read(Kind::Unmap, record(42, 0x7000, note), *events);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->frame, 0x123456U);
  EXPECT_EQ(event->address, 0x7000U);
  EXPECT_EQ(event->other_pid, 42);
  event =
      reader.read(Kind::Remap, record(42, 0x7000, 0x8000000000abc067), *events);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->frame, 0xabcU);
}
#endif

}  // namespace
}  // namespace tidemark::source
