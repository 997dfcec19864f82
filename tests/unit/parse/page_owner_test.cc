#include "parse/page_owner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/fixture.h"

namespace tidemark::parse {
namespace {

using model::PageOwnerRecord;
using model::PageOwnerStack;

struct Outcome {
  std::vector<PageOwnerRecord> records;  // views into the text given
  PageOwnerFaults faults;
  bool operator==(const Outcome&) const = default;
};

Outcome read_whole(std::string_view text) {
  Outcome outcome;
  PageOwnerParser parser;
  const size_t taken =
      parser.parse(text, true, [&](const PageOwnerRecord& record) {
        outcome.records.push_back(record);
      });
  EXPECT_EQ(taken, text.size());
  outcome.faults = parser.faults();
  return outcome;
}

// Each piece of `step` bytes is added behind what was left. The views go with
// their buffer, so only what can be compared without them is kept.
struct Summary {
  size_t records = 0;
  uint64_t pages = 0;
  std::string comms;
  std::string stacks;
  PageOwnerFaults faults;
  bool operator==(const Summary&) const = default;
};

Summary read_in_pieces(std::string_view text, size_t step) {
  Summary sum;
  PageOwnerParser parser;
  std::string kept;
  while (true) {
    const std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    kept += piece;
    const size_t taken =
        parser.parse(kept, piece.empty(), [&](const PageOwnerRecord& record) {
          ++sum.records;
          sum.pages += record.pages();
          sum.comms += std::string(record.comm) + "\n";
          sum.stacks += record.stack;
        });
    EXPECT_LE(taken, kept.size());
    kept.erase(0, taken);
    if (piece.empty()) break;
  }
  EXPECT_EQ(kept, "");
  sum.faults = parser.faults();
  return sum;
}

constexpr std::string_view kBody =
    "PFN 0x10 type Movable Block 0 type Movable Flags 0x0(lru)\n"
    " a+0x1/0x2\n"
    " b+0x3/0x4 [mod]\n"
    "\n";

std::string record_of(std::string_view comm) {
  return "Page allocated via order 1, mask 0x0(), pid 5, tgid 4 (" +
         std::string(comm) + "), ts 7 ns\n" + std::string(kBody);
}

TEST(PageOwner, ReadsTheFormOf612) {
  const std::string text = test::read_fixture("page_owner/linux-6.12.txt");
  const Outcome outcome = read_whole(text);
  EXPECT_EQ(outcome.faults, PageOwnerFaults());
  ASSERT_EQ(outcome.records.size(), 25U);
  uint64_t pages = 0;
  size_t slab = 0;
  size_t charged = 0;
  for (const PageOwnerRecord& record : outcome.records) {
    pages += record.pages();
    slab += record.is_slab ? 1 : 0;
    charged += record.is_charged ? 1 : 0;
    EXPECT_FALSE(record.stack.empty());
    EXPECT_TRUE(record.stack.ends_with('\n'));
    EXPECT_TRUE(record.taken_ns);
    EXPECT_FALSE(record.freed_ns);
  }
  EXPECT_EQ(pages, 125U);
  EXPECT_EQ(slab, 13U);
  EXPECT_EQ(charged, 4U);
  const PageOwnerRecord& first = outcome.records.front();
  EXPECT_EQ(first.pfn, 0x100U);
  EXPECT_EQ(first.pid, 0);
  EXPECT_EQ(first.tgid, 0);
  EXPECT_EQ(first.comm, "swapper");
  EXPECT_EQ(first.migrate_type, "Unmovable");
  EXPECT_EQ(first.page_flags, "section=0|zone=0");
}

TEST(PageOwner, ReadsTheFormOf61) {
  const std::string text = test::read_fixture("page_owner/linux-6.1.txt");
  const Outcome outcome = read_whole(text);
  EXPECT_EQ(outcome.faults, PageOwnerFaults());
  ASSERT_EQ(outcome.records.size(), 4U);
  const PageOwnerRecord& migrated = outcome.records[0];
  EXPECT_EQ(migrated.pfn, 294912U) << "decimal";
  EXPECT_EQ(migrated.pid, 412);
  EXPECT_EQ(migrated.tgid, 410);
  EXPECT_EQ(migrated.taken_ns, 52093871034U);
  EXPECT_EQ(migrated.freed_ns, 51994102276U);
  EXPECT_EQ(migrated.gfp_mask, 0x100ccaU);
  EXPECT_EQ(migrated.gfp_names, "GFP_HIGHUSER_MOVABLE");
  EXPECT_TRUE(migrated.is_migrated);
  EXPECT_EQ(migrated.migrate_reason, "compaction");
  EXPECT_EQ(migrated.memcg, "postgresql.service");
  EXPECT_FALSE(migrated.is_memcg_offline);
  EXPECT_EQ(outcome.records[1].pages(), 8U);
  EXPECT_TRUE(outcome.records[1].is_slab);
  EXPECT_EQ(outcome.records[1].comm, "kworker/u8:2 (e");
  EXPECT_EQ(outcome.records[2].comm, "a) b (c");
  EXPECT_TRUE(outcome.records[2].is_memcg_offline);
  EXPECT_EQ(outcome.records[2].memcg, "session-3.scope");
  EXPECT_TRUE(outcome.records[3].is_charged_by_object);
  EXPECT_EQ(outcome.records[3].memcg, "session-4.scope");
}

TEST(PageOwner, ReadsFormsBeforeTasksWereNoted) {
  const std::string text =
      "Page allocated via order 2, mask 0x201da\n"
      "PFN 4096 Block 8 type 0 Flags 0x0\n"
      " [<ffffffff8115e3ed>] __alloc_pages_nodemask+0x10/0x20\n"
      "\n"
      "Page allocated via order 0, mask 0x24213ca(GFP_HIGHUSER_MOVABLE)\n"
      "PFN 4097 type Movable Block 8 type Movable Flags 0x0()\n"
      " a+0x1/0x2\n"
      "\n"
      "Page allocated via order 0, mask 0x1(x), pid 9, ts 12 ns, free_ts 3 ns\n"
      "PFN 4098 type Movable Block 8 type Movable Flags 0x0()\n"
      " a+0x1/0x2\n"
      "\n";
  const Outcome outcome = read_whole(text);
  EXPECT_EQ(outcome.faults, PageOwnerFaults());
  ASSERT_EQ(outcome.records.size(), 3U);
  EXPECT_FALSE(outcome.records[0].pid);
  EXPECT_FALSE(outcome.records[0].taken_ns);
  EXPECT_EQ(outcome.records[0].gfp_mask, 0x201daU);
  EXPECT_EQ(outcome.records[1].gfp_names, "GFP_HIGHUSER_MOVABLE");
  EXPECT_FALSE(outcome.records[1].pid);
  EXPECT_EQ(outcome.records[2].pid, 9);
  EXPECT_FALSE(outcome.records[2].tgid);
  EXPECT_EQ(outcome.records[2].taken_ns, 12U);
  EXPECT_EQ(outcome.records[2].freed_ns, 3U);
}

TEST(PageOwner, NoCommBreaksARecord) {
  for (const std::string_view comm :
       {"", ")", "))", "(", "a b c", "a), ts 1 ns", "x), ts 1 ns\n", "\n\n",
        "a\nPFN 0x1 ty", "), ts 3 ns\n\n", "\xff\x1b[31m", "fifteen-bytes-x"}) {
    ASSERT_LE(comm.size(), 15U);
    const std::string text = record_of(comm) + record_of("next");
    const Outcome outcome = read_whole(text);
    EXPECT_EQ(outcome.faults, PageOwnerFaults()) << comm;
    ASSERT_EQ(outcome.records.size(), 2U) << comm;
    EXPECT_EQ(outcome.records[0].comm, comm);
    EXPECT_EQ(outcome.records[0].taken_ns, 7U);
    EXPECT_EQ(outcome.records[1].comm, "next");
  }
}

TEST(PageOwner, CountsACutRecordAndKeepsTheOthers) {
  const std::string whole = record_of("a") + record_of("b");
  const size_t first = record_of("a").size();
  for (size_t length = first; length + 1 < whole.size(); ++length) {
    const std::string text = whole.substr(0, length);
    const Outcome outcome = read_whole(text);
    const bool ends_with_a_line = text.ends_with('\n');
    const bool has_pfn = text.find("PFN", first) != std::string::npos;
    const bool is_taken = ends_with_a_line && has_pfn;
    EXPECT_EQ(outcome.records.size(), is_taken ? 2U : 1U) << text;
    const bool is_whole_line = text.size() == first;
    const bool looks_begun = text.size() >= first + 25;
    EXPECT_EQ(outcome.faults.broken_records,
              !is_taken && !is_whole_line && looks_begun ? 1U : 0U)
        << text;
  }
}

TEST(PageOwner, GarbageIsCountedAndNotFatal) {
  const std::string text =
      "cat: something\n" + record_of("a") + "more garbage\nand more\n\n" +
      "Page allocated via order x, mask 0x0()\nPFN 0x1\n a+0x1/0x2\n\n" +
      "Page allocated via order 0, mask 0x0()\nno pfn here\n a+0x1/0x2\n\n" +
      "Page allocated via order 70, mask 0x0()\nPFN 0x1\n a+0x1/0x2\n\n" +
      record_of("b");
  const Outcome outcome = read_whole(text);
  EXPECT_EQ(outcome.records.size(), 2U);
  EXPECT_EQ(outcome.faults.broken_records, 3U);
  EXPECT_EQ(outcome.faults.stray_lines, 3U);
}

TEST(PageOwner, AnUnknownLineInARecordCostsOnlyItself) {
  const std::string text =
      "Page allocated via order 0, mask 0x0(), pid 1, tgid 1 (a), ts 1 ns, "
      "new 5\n"
      "PFN 0x1 type Movable Block 0 type Movable Flags 0x0() new\n"
      " a+0x1/0x2\n"
      "a line of a later kernel\n"
      "Charged to memcg x\n"
      "\n";
  const Outcome outcome = read_whole(text);
  ASSERT_EQ(outcome.records.size(), 1U);
  EXPECT_EQ(outcome.records[0].memcg, "x");
  EXPECT_EQ(outcome.records[0].comm, "a");
  EXPECT_EQ(outcome.faults.stray_lines, 1U);
}

TEST(PageOwner, ALostBlankLineEndsTheRecordToo) {
  std::string text = record_of("a");
  text.pop_back();
  text += record_of("b");
  const Outcome outcome = read_whole(text);
  EXPECT_EQ(outcome.faults, PageOwnerFaults());
  ASSERT_EQ(outcome.records.size(), 2U);
  EXPECT_EQ(outcome.records[0].stack, " a+0x1/0x2\n b+0x3/0x4 [mod]\n");
}

TEST(PageOwner, PiecesOfAnySizeTellTheSame) {
  const std::string text =
      "garbage\n" + test::read_fixture("page_owner/linux-6.1.txt") +
      record_of("x), ts 1 ns\n") + "Page allocated via order x\n\nstray\n" +
      record_of("\n\n") + "Page allocated via order 0, mask 0x0(), pid 5, tg";
  const Summary whole = read_in_pieces(text, text.size());
  EXPECT_EQ(whole.records, 6U);
  EXPECT_EQ(whole.faults.broken_records, 2U);
  EXPECT_EQ(whole.faults.stray_lines, 2U);
  for (const size_t step : std::vector<size_t>{1, 2, 7, 25, 64, 150, 1000}) {
    EXPECT_EQ(read_in_pieces(text, step), whole) << step;
  }
}

TEST(PageOwner, EndlessRecordsAndLinesAreGivenUp) {
  std::string text = "Page allocated via order 0, mask 0x0()\nPFN 0x1\n";
  while (text.size() < 2 * PageOwnerParser::kLongestRecordBytes)
    text += " frame+0x1/0x2\n";
  text += "\n" + std::string(3 * PageOwnerParser::kLongestRecordBytes, 'x');
  text += "\n" + record_of("a");
  const Summary whole = read_in_pieces(text, text.size());
  EXPECT_EQ(whole.records, 1U);
  EXPECT_EQ(whole.faults.broken_records, 1U);
  EXPECT_EQ(whole.faults.stray_lines, 1U);
  EXPECT_EQ(read_in_pieces(text, 5000), whole);
  EXPECT_EQ(read_in_pieces(text, PageOwnerParser::kLongestRecordBytes), whole);
}

TEST(StackFrames, TellSymbolOffsetAndModule) {
  EXPECT_EQ(parse_stack_frame(" loop_add+0x17d/0x320 [loop]"),
            (StackFrame{"loop_add", 0, 0x17d, "loop"}));
  EXPECT_EQ(parse_stack_frame("mm_init.constprop.0+0x155/0x227"),
            (StackFrame{"mm_init.constprop.0", 0, 0x155, ""}));
  EXPECT_EQ(parse_stack_frame(" f+0x1/0x2 [xfs 0123456789abcdef]"),
            (StackFrame{"f", 0, 1, "xfs"}));
  EXPECT_EQ(parse_stack_frame(" [<ffffffff8115e3ed>] f+0x1/0x2"),
            (StackFrame{"f", 0, 1, ""}));
  EXPECT_EQ(parse_stack_frame(" 0xffffffffc0001000"),
            (StackFrame{"", 0xffffffffc0001000, 0, ""}));
  EXPECT_EQ(parse_stack_frame(" bare"), (StackFrame{"bare", 0, 0, ""}));
  EXPECT_EQ(parse_stack_frame(""), StackFrame());
}

TEST(StackFrames, AreTakenInnermostFirst) {
  std::string_view stack = " a+0x1/0x2\nnoise\n b+0x3/0x4 [mod]\n";
  EXPECT_EQ(take_stack_frame(stack)->symbol, "a");
  EXPECT_EQ(take_stack_frame(stack)->module, "mod");
  EXPECT_FALSE(take_stack_frame(stack));
}

struct Stacks {
  std::vector<PageOwnerStack> stacks;
  PageOwnerFaults faults;
};

Stacks read_stacks(std::string_view text) {
  Stacks read;
  read.faults = parse_page_owner_stacks(
      text, [&](const PageOwnerStack& stack) { read.stacks.push_back(stack); });
  return read;
}

TEST(PageOwnerStacks, ReadsShowStacks) {
  const std::string text =
      test::read_fixture("page_owner/show_stacks-6.12.txt");
  const Stacks read = read_stacks(text);
  EXPECT_EQ(read.faults, PageOwnerFaults());
  ASSERT_EQ(read.stacks.size(), 15U);
  uint64_t pages = 0;
  for (const PageOwnerStack& stack : read.stacks) {
    EXPECT_FALSE(stack.stack.empty());
    pages += *stack.pages;
  }
  EXPECT_EQ(pages, 10034U);
}

TEST(PageOwnerStacks, ReadsTheFirstForm) {
  const Stacks read = read_stacks(" a+0x1/0x2\nstack_count: 16\n\n");
  ASSERT_EQ(read.stacks.size(), 1U);
  EXPECT_EQ(read.stacks[0].blocks, 16U);
  EXPECT_FALSE(read.stacks[0].pages) << "blocks may have any order";
}

TEST(PageOwnerStacks, ReadsHandlesWithAndWithoutStacks) {
  const Stacks pages = read_stacks(
      "handle: 1\nnr_base_pages: 47\n\nhandle: 9\nnr_base_pages: 2\n\n");
  ASSERT_EQ(pages.stacks.size(), 2U);
  EXPECT_EQ(pages.stacks[0].handle, 1U);
  EXPECT_EQ(pages.stacks[0].pages, 47U);
  EXPECT_EQ(pages.stacks[0].stack, "");
  const Stacks stacks = read_stacks(" a+0x1/0x2\n b+0x1/0x2\nhandle: 1\n\n");
  ASSERT_EQ(stacks.stacks.size(), 1U);
  EXPECT_EQ(stacks.stacks[0].handle, 1U);
  EXPECT_FALSE(stacks.stacks[0].pages);
  EXPECT_EQ(stacks.stacks[0].stack, " a+0x1/0x2\n b+0x1/0x2\n");
}

TEST(PageOwnerStacks, CountsWhatCannotBeRead) {
  const Stacks read = read_stacks(
      " a+0x1/0x2\nnr_base_pages: x\n\n"
      " no number+0x1/0x2\n\n"
      "stray\n"
      " b+0x1/0x2\nnr_base_pages: 3\n"
      " c+0x1/0x2\nnr_base_pages: 4\n\n"
      " d+0x1/0x2\nnr_base_pages: 12");
  ASSERT_EQ(read.stacks.size(), 2U);
  EXPECT_EQ(read.stacks[1].pages, 4U);
  EXPECT_EQ(read.faults.broken_records, 3U);
  EXPECT_EQ(read.faults.stray_lines, 1U);
}

}  // namespace
}  // namespace tidemark::parse
