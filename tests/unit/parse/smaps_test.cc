#include "parse/smaps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/fixture.h"
#include "unit/parse/smaps_text.h"

namespace tidemark::parse {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::SmapsField;
using model::SmapsFields;
using test::read_fixture;

constexpr std::string_view kHeap =
    "558f5526a000-558f5528b000 rw-p 00000000 00:00 0"
    "                          [heap]\n";

Mapping mapping_of(std::string_view line) {
  Mapping mapping;
  base::Status status = parse_mapping_line(line, mapping);
  EXPECT_TRUE(status) << status.error().what;
  return mapping;
}

std::vector<Mapping> mappings_of(std::string_view smaps) {
  base::Result<std::vector<Mapping>> mappings = parse_smaps(smaps);
  EXPECT_TRUE(mappings) << mappings.error().what;
  return mappings ? std::move(*mappings) : std::vector<Mapping>();
}

std::string error_of(std::string_view smaps) {
  base::Result<std::vector<Mapping>> mappings = parse_smaps(smaps);
  if (mappings) return "no error";
  EXPECT_EQ(mappings.error().kind, ErrorKind::Malformed);
  return mappings.error().what;
}

std::string heap_with(std::string_view body) {
  return std::string(kHeap) + std::string(body);
}

// What the parser visits when `text` arrives in pieces of `step` bytes.
base::Result<std::vector<Mapping>> parse_in_pieces(std::string_view text,
                                                   size_t step) {
  std::vector<Mapping> mappings;
  SmapsParser parser;
  std::string kept;
  while (true) {
    const std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    kept += piece;
    base::Result<size_t> taken = parser.parse(
        kept, piece.empty(), [&](const Mapping& m) { mappings.push_back(m); });
    if (!taken) return taken.error();
    kept.erase(0, *taken);
    if (piece.empty()) return mappings;
  }
}

// ---- one line of maps

TEST(MappingLine, ReadsEveryColumn) {
  const Mapping m = mapping_of(
      "7f508c4b2000-7f508c608000 r-xp 00026000 fe:0a 332835"
      "                     /usr/lib/x86_64-linux-gnu/libc.so.6");
  EXPECT_EQ(m.start_address, 0x7f508c4b2000U);
  EXPECT_EQ(m.end_address, 0x7f508c608000U);
  EXPECT_EQ(m.permissions, (model::Permissions{true, false, true, false}));
  EXPECT_EQ(m.offset_bytes, 0x26000U);
  EXPECT_EQ(m.device_major, 0xfeU);
  EXPECT_EQ(m.device_minor, 0x0aU);
  EXPECT_EQ(m.inode_id, 332835U);
  EXPECT_EQ(m.name, "/usr/lib/x86_64-linux-gnu/libc.so.6");
}

TEST(MappingLine, ReadsASharedMapping) {
  EXPECT_TRUE(mapping_of("1000-2000 rw-s 00000000 00:01 1025 /dev/zero")
                  .permissions.shared);
}

TEST(MappingLine, HasNoNameAfterATrailingBlank) {
  EXPECT_EQ(mapping_of("7f5084000000-7f5084026000 rw-p 00000000 00:00 0 ").name,
            "");
}

TEST(MappingLine, HasNoNameWithoutATrailingBlank) {
  EXPECT_EQ(mapping_of("7f5084000000-7f5084026000 rw-p 00000000 00:00 0").name,
            "");
}

TEST(MappingLine, ReadsSixteenDigitAddresses) {
  const Mapping m = mapping_of(
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0"
      "                  [vsyscall]");
  EXPECT_EQ(m.start_address, 0xffffffffff600000U);
  EXPECT_EQ(m.end_address, 0xffffffffff601000U);
}

TEST(MappingLine, KeepsBlanksInsideAndBehindTheName) {
  EXPECT_EQ(mapping_of("1000-2000 r--p 00000000 fe:00 7    /a b  ").name,
            "/a b  ");
  EXPECT_EQ(mapping_of("1000-2000 r--p 00000000 fe:00 7 /x (deleted)").name,
            "/x (deleted)");
  EXPECT_EQ(mapping_of("1000-2000 rw-p 00000000 00:00 0 [anon:x y]").name,
            "[anon:x y]");
}

TEST(MappingLine, LeavesTheKernelsEscapesAlone) {
  EXPECT_EQ(mapping_of("1000-2000 r--p 00000000 fe:00 7 /a\\012b").name,
            "/a\\012b");
}

TEST(MappingLine, TakesAnEmptyRange) {
  EXPECT_EQ(mapping_of("1000-1000 r--p 00000000 00:00 0").size_bytes(), 0U);
}

TEST(MappingLine, RefusesWhatIsNoMapping) {
  for (const char* line : {
           "",
           "1000",
           "1000-",
           "1000-2000",
           "1000-2000 ",
           "1000-2000 rw-p",
           "1000-2000 rw-p 0",
           "1000-2000 rw-p 0 00:00",
           "1000-2000 rw-p 0 00:00 ",
           "1000-2000 rw-p 0 00 0",
           "1000-2000 rw-p 0 00:00 x",
           "1000-2000 rw-p 0 00:00 -1",
           "1000-2000 wr-p 0 00:00 0",
           "1000-2000 rw-x 0 00:00 0",
           "1000-2000 rwxp0 00:00 0",
           "2000-1000 rw-p 0 00:00 0",
           "1G00-2000 rw-p 0 00:00 0",
           "ABCD-EF00 rw-p 0 00:00 0",
           "-2000 rw-p 0 00:00 0",
           "1000-12345678901234567 rw-p 0 00:00 0",
           "1000-2000 rw-p 0 123456789:00 0",
           "1000-2000 rw-p 0 00:00 18446744073709551616",
       }) {
    Mapping mapping;
    base::Status status = parse_mapping_line(line, mapping);
    ASSERT_FALSE(status) << line;
    EXPECT_EQ(status.error().kind, ErrorKind::Malformed);
    EXPECT_EQ(status.error().what,
              "smaps: cannot read '" + std::string(line) + "'");
  }
}

TEST(MappingLine, QuotesABadLineHarmlessly) {
  Mapping mapping;
  base::Status status = parse_mapping_line("\x1b[2J\n", mapping);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "smaps: cannot read '\\x1b[2J\\n'");
}

// ---- maps

TEST(Maps, ReadsEveryLineOfARealProcess) {
  base::Result<std::vector<Mapping>> maps =
      parse_maps(read_fixture("host-6.18/proc/3/maps"));
  ASSERT_TRUE(maps) << maps.error().what;
  ASSERT_EQ(maps->size(), 35U);
  EXPECT_EQ(maps->front().name, "/opt/zoo/zoo");
  EXPECT_EQ(maps->at(13).name, "/var/lib/zoo/two words\\012and a line");
  EXPECT_EQ(maps->back().name, "[vsyscall]");
}

TEST(Maps, OfAKernelThreadAreNone) {
  base::Result<std::vector<Mapping>> maps =
      parse_maps(read_fixture("debian-6.12/proc/2/maps"));
  ASSERT_TRUE(maps) << maps.error().what;
  EXPECT_TRUE(maps->empty());
}

TEST(Maps, NeedNoNewlineAtTheEnd) {
  base::Result<std::vector<Mapping>> maps =
      parse_maps("1000-2000 r--p 00000000 00:00 0 \n2000-3000 rw-p 0 00:00 0");
  ASSERT_TRUE(maps) << maps.error().what;
  EXPECT_EQ(maps->size(), 2U);
}

TEST(Maps, RefuseABlankLine) {
  EXPECT_FALSE(parse_maps("1000-2000 r--p 00000000 00:00 0 \n\n"));
}

// ---- smaps

TEST(Smaps, OfNothingIsNothing) {
  EXPECT_TRUE(mappings_of("").empty());
}

TEST(Smaps, OfAKernelThreadIsNothing) {
  EXPECT_TRUE(mappings_of(read_fixture("debian-6.1/proc/2/smaps")).empty());
}

TEST(Smaps, ReadsABlock) {
  const std::vector<Mapping> mappings =
      mappings_of(heap_with("Size:                132 kB\n"
                            "Rss:                  96 kB\n"
                            "THPeligible:           1\n"
                            "VmFlags: rd wr ac \n"));
  ASSERT_EQ(mappings.size(), 1U);
  const Mapping& heap = mappings[0];
  EXPECT_EQ(heap.name, "[heap]");
  EXPECT_EQ(heap.fields.get(SmapsField::Size), 135168U);
  EXPECT_EQ(heap.fields.get(SmapsField::Rss), 98304U);
  EXPECT_TRUE(heap.is_thp_eligible);
  EXPECT_EQ(heap.vm_flags, model::vm_flag_bit("rd") | model::vm_flag_bit("wr") |
                               model::vm_flag_bit("ac"));
}

TEST(Smaps, LeavesMissingLabelsEmpty) {
  const std::vector<Mapping> mappings =
      mappings_of(heap_with("Rss:                  96 kB\n"));
  ASSERT_EQ(mappings.size(), 1U);
  EXPECT_FALSE(mappings[0].fields.has(SmapsField::Pss))
      << "absent must not read as zero";
}

TEST(Smaps, ReadsABlockWithoutBody) {
  EXPECT_EQ(mappings_of(kHeap).size(), 1U);
}

TEST(Smaps, SkipsUnknownLabels) {
  const std::vector<Mapping> mappings =
      mappings_of(heap_with("NewCounter:            7 kB\n"
                            "Unpadded: yes\n"
                            "no colon at all\n"
                            "\n"
                            "Rss:                  96 kB\n"));
  ASSERT_EQ(mappings.size(), 1U);
  EXPECT_EQ(mappings[0].fields.get(SmapsField::Rss), 98304U);
}

TEST(Smaps, KeepsUnknownFlagCodesTogether) {
  const std::vector<Mapping> mappings =
      mappings_of(heap_with("VmFlags: rd zz ?? rdx \n"));
  ASSERT_EQ(mappings.size(), 1U);
  EXPECT_EQ(mappings[0].vm_flags,
            model::vm_flag_bit("rd") | model::kVmFlagOther);
}

TEST(Smaps, RefusesAKnownLabelWithGarbage) {
  EXPECT_EQ(error_of(heap_with("Rss:                 lots kB\n")),
            "smaps: cannot read 'Rss:                 lots kB'");
  EXPECT_EQ(error_of(heap_with("Rss:                  96 MB\n")),
            "smaps: cannot read 'Rss:                  96 MB'");
  EXPECT_EQ(error_of(heap_with("Rss:\n")), "smaps: cannot read 'Rss:'");
  EXPECT_EQ(error_of(heap_with("THPeligible:  maybe\n")),
            "smaps: cannot read 'THPeligible:  maybe'");
}

TEST(Smaps, RefusesGarbageInALaterBlockToo) {
  const std::string block = heap_with("Rss:                  96 kB\n");
  EXPECT_EQ(error_of(block + heap_with("Rss:                 9 6 kB\n")),
            "smaps: cannot read 'Rss:                 9 6 kB'");
}

TEST(Smaps, ReadsNumbersThatWidenTheLine) {
  const std::string usual = heap_with("Rss:            99999999 kB\n");
  const std::string wide = heap_with("Rss:            100000000 kB\n");
  const std::vector<Mapping> mappings = mappings_of(usual + wide + usual);
  ASSERT_EQ(mappings.size(), 3U);
  EXPECT_EQ(mappings[0].fields.get(SmapsField::Rss), 102399998976U);
  EXPECT_EQ(mappings[1].fields.get(SmapsField::Rss), 102400000000U);
  EXPECT_EQ(mappings[2].fields.get(SmapsField::Rss), 102399998976U);
}

TEST(Smaps, RefusesANumberThatOverflows) {
  EXPECT_EQ(error_of(heap_with("Rss:            18014398509481984 kB\n")),
            "smaps: cannot read 'Rss:            18014398509481984 kB'");
}

TEST(Smaps, DoesNotCarryFieldsIntoABlockThatLacksThem) {
  const std::vector<Mapping> mappings =
      mappings_of(heap_with("Rss:                  96 kB\n"
                            "Swap:                  8 kB\n"
                            "THPeligible:           1\n"
                            "VmFlags: rd \n") +
                  heap_with("Rss:                  12 kB\n"));
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_FALSE(mappings[1].fields.has(SmapsField::Swap));
  EXPECT_FALSE(mappings[1].is_thp_eligible);
  EXPECT_EQ(mappings[1].vm_flags, 0U);
}

TEST(Smaps, ReadsABlockWithMoreLinesThanTheFirst) {
  const std::vector<Mapping> mappings =
      mappings_of(heap_with("Rss:                  96 kB\n") +
                  heap_with("Rss:                  12 kB\n"
                            "Swap:                  8 kB\n"));
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[1].fields.get(SmapsField::Swap), 8192U);
}

TEST(Smaps, ReadsTheLastLineWithoutItsNewline) {
  const std::string block = heap_with("Rss:                  96 kB\n");
  const std::vector<Mapping> mappings =
      mappings_of(block + heap_with("Rss:                  12 kB"));
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[1].fields.get(SmapsField::Rss), 12288U);
}

// Lines that have the width of a counter and are none.
TEST(Smaps, TakesNoShortCutThatChangesTheNumber) {
  // The number begins in the columns of the label.
  const std::string block = heap_with("Rss:       1234512345678 kB\n");
  const std::vector<Mapping> mappings = mappings_of(block + block);
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].fields.get(SmapsField::Rss), 1264140641974272U);
  EXPECT_TRUE(mappings[1] == mappings[0]);
}

TEST(Smaps, TakesNoShortCutForALabelThatOnlyBeginsLikeAnother) {
  const std::string block = heap_with("THPeligibleNot:        1\n");
  const std::vector<Mapping> mappings = mappings_of(block + block);
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_FALSE(mappings[1].is_thp_eligible);
}

TEST(Smaps, HasTheMappingsOfMapsInEveryFixture) {
  for (const char* process :
       {"debian-6.1/proc/1", "debian-6.1/proc/106", "debian-6.1/proc/110",
        "debian-6.12/proc/1", "debian-6.12/proc/147", "debian-6.12/proc/151",
        "host-6.18/proc/3", "host-6.18/proc/5", "host-6.18/proc/6",
        "hostile/proc/10", "hostile/proc/11", "hostile/proc/16"}) {
    const std::string directory(process);
    std::vector<Mapping> smaps =
        mappings_of(read_fixture(directory + "/smaps"));
    base::Result<std::vector<Mapping>> maps =
        parse_maps(read_fixture(directory + "/maps"));
    ASSERT_TRUE(maps) << maps.error().what;
    for (Mapping& mapping : smaps) {
      mapping.fields.clear();
      mapping.is_thp_eligible = false;
      mapping.vm_flags = 0;
    }
    EXPECT_EQ(smaps, *maps) << process;
  }
}

TEST(Smaps, ReadsTheMemfdOfARealProcess) {
  // zoo.c touches 13 pages of it; two children share the mapping untouched.
  const std::vector<Mapping> mappings =
      mappings_of(read_fixture("host-6.18/proc/3/smaps"));
  ASSERT_EQ(mappings.size(), 35U);
  const Mapping& memfd = mappings[15];
  EXPECT_EQ(memfd.name, "/memfd:frame cache (deleted)");
  EXPECT_TRUE(memfd.permissions.shared);
  EXPECT_EQ(memfd.fields.get(SmapsField::Rss), 13U * 4096);
  EXPECT_EQ(memfd.fields.get(SmapsField::KernelPageSize), 4096U);
  EXPECT_FALSE(memfd.fields.has(SmapsField::PssAnon)) << "in the rollup only";
}

TEST(Smaps, ReadsTheHostileProcess) {
  const std::vector<Mapping> mappings =
      mappings_of(read_fixture("hostile/proc/16/smaps"));
  ASSERT_EQ(mappings.size(), 10U);
  EXPECT_EQ(mappings[2].fields.get(SmapsField::PrivateDirty), 102400000000U);
  EXPECT_EQ(mappings[3].name, "[anon:image tiles: x y]");
  EXPECT_EQ(mappings[5].device_major, 0x103U);
  EXPECT_EQ(mappings[6].fields.get(SmapsField::PrivateClean), 4096U);
  EXPECT_EQ(mappings[7].fields.get(SmapsField::PrivateHugetlb), 2097152U);
  EXPECT_EQ(mappings[9].start_address, 0xffffffffff600000U);
}

TEST(Smaps, SumsToTheRollupOfTheSameProcess) {
  for (const char* process : {"hostile/proc/1", "hostile/proc/10",
                              "hostile/proc/11", "hostile/proc/16"}) {
    SmapsFields sum;
    for (const Mapping& mapping :
         mappings_of(read_fixture(std::string(process) + "/smaps"))) {
      sum.add(mapping.fields);
    }
    base::Result<SmapsFields> rollup = parse_smaps_rollup(
        read_fixture(std::string(process) + "/smaps_rollup"));
    ASSERT_TRUE(rollup) << rollup.error().what;
    for (SmapsField field : {SmapsField::Rss, SmapsField::Pss, SmapsField::Swap,
                             SmapsField::PrivateDirty}) {
      EXPECT_EQ(sum.get(field), rollup->get(field)) << process;
    }
  }
}

// Cut anywhere, a text is read as far as it goes or refused with a sentence.
TEST(Smaps, SurvivesTruncationAtEveryByte) {
  const std::string text = heap_with(
                               "Rss:                  96 kB\n"
                               "THPeligible:           1\n"
                               "VmFlags: rd wr \n") +
                           heap_with(
                               "Rss:            100000000 kB\n"
                               "THPeligible:           1\n"
                               "VmFlags: rd wr \n") +
                           heap_with(
                               "Rss:                  12 kB\n"
                               "THPeligible:           1\n"
                               "VmFlags: rd wr \n");
  for (size_t length = 0; length <= text.size(); ++length) {
    // A copy of its own, so that a sanitizer sees a read beyond the end.
    const std::string cut = text.substr(0, length);
    base::Result<std::vector<Mapping>> mappings = parse_smaps(cut);
    if (mappings) {
      EXPECT_LE(mappings->size(), 3U);
    } else {
      EXPECT_TRUE(mappings.error().what.starts_with("smaps: cannot read '"))
          << mappings.error().what;
    }
  }
}

// ---- in pieces

TEST(SmapsParser, KeepsAnUnfinishedBlockForLater) {
  const std::string block = heap_with("Rss:                  96 kB\n");
  SmapsParser parser;
  size_t count = 0;
  base::Result<size_t> taken =
      parser.parse(block + block, false, [&](const Mapping&) { ++count; });
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_EQ(*taken, block.size()) << "the second may have more lines to come";
  EXPECT_EQ(count, 1U);
}

TEST(SmapsParser, DoesNotCloseAKnownBlockAtTheEndOfAPiece) {
  // The second block has one line more than the first, and the piece ends in
  // front of that line.
  const std::string usual = heap_with("Rss:                  96 kB\n");
  const std::string longer = usual + "Swap:                  8 kB\n";
  const std::string text = usual + longer;
  SmapsParser parser;
  std::vector<Mapping> mappings;
  const MappingVisitor keep = [&](const Mapping& m) { mappings.push_back(m); };
  base::Result<size_t> taken = parser.parse(
      std::string_view(text).substr(0, 2 * usual.size()), false, keep);
  ASSERT_TRUE(taken) << taken.error().what;
  taken = parser.parse(std::string_view(text).substr(*taken), true, keep);
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_EQ(mappings, mappings_of(text));
}

TEST(SmapsParser, ForgetsABlockThatFailed) {
  SmapsParser parser;
  std::vector<Mapping> mappings;
  const MappingVisitor keep = [&](const Mapping& m) { mappings.push_back(m); };
  const std::string good = heap_with("Rss:                  96 kB\n");
  ASSERT_TRUE(parser.parse(good, true, keep));
  ASSERT_FALSE(parser.parse(heap_with("Swap:                  8 kB\n"
                                      "Rss:                   x kB\n"),
                            true, keep));
  ASSERT_TRUE(parser.parse(good, true, keep));
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_FALSE(mappings[1].fields.has(SmapsField::Swap));
  EXPECT_TRUE(mappings[1] == mappings[0]);
}

TEST(SmapsParser, ServesProcessesOfDifferentLayout) {
  SmapsParser parser;
  std::vector<Mapping> mappings;
  const MappingVisitor keep = [&](const Mapping& m) { mappings.push_back(m); };
  ASSERT_TRUE(parser.parse(heap_with("Rss:                  96 kB\n"
                                     "KSM:                   4 kB\n"),
                           true, keep));
  ASSERT_TRUE(
      parser.parse(heap_with("Rss:                  12 kB\n"), true, keep));
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_FALSE(mappings[1].fields.has(SmapsField::Ksm));
}

TEST(SmapsParser, ReadsARealFileTheSameInPiecesOfAnySize) {
  const std::string text = read_fixture("host-6.18/proc/5/smaps");
  const std::vector<Mapping> whole = mappings_of(text);
  for (size_t step : {1U, 7U, 28U, 700U, 719U, 720U, 721U, 4096U}) {
    base::Result<std::vector<Mapping>> pieces = parse_in_pieces(text, step);
    ASSERT_TRUE(pieces) << pieces.error().what;
    EXPECT_EQ(*pieces, whole) << "pieces of " << step;
  }
}

RC_GTEST_PROP(SmapsParser, ReadsBackWhatIsPrinted, ()) {
  const std::vector<Mapping> mappings = test::any_mappings();
  base::Result<std::vector<Mapping>> parsed =
      parse_smaps(test::print_smaps(mappings));
  RC_ASSERT(static_cast<bool>(parsed));
  RC_ASSERT(*parsed == mappings);
}

RC_GTEST_PROP(SmapsParser, DoesNotDependOnWhereTheTextIsSplit, ()) {
  const std::string text = test::print_smaps(test::any_mappings());
  const auto step = *rc::gen::inRange<size_t>(1, 800);
  base::Result<std::vector<Mapping>> whole = parse_smaps(text);
  base::Result<std::vector<Mapping>> pieces = parse_in_pieces(text, step);
  RC_ASSERT(static_cast<bool>(whole));
  RC_ASSERT(static_cast<bool>(pieces));
  RC_ASSERT(*pieces == *whole);
}

// ---- smaps_rollup

TEST(SmapsParser, TakesTheLastOfARepeatedCounterInEveryBlock) {
  const std::string block =
      "00400000-00401000 r--p 00000000 00:00 0 \n"
      "Rss:                   4 kB\n"
      "Rss:                   8 kB\n";
  base::Result<std::vector<Mapping>> mappings =
      parse_smaps(block + block + block);
  ASSERT_TRUE(mappings) << mappings.error().what;
  for (const Mapping& mapping : *mappings) {
    EXPECT_EQ(mapping.fields.get(SmapsField::Rss), 8 * 1024);
  }
}

TEST(SmapsParser, ReadsFlagsWithOddBlanksBetweenThem) {
  const std::string head = "00400000-00401000 r--p 00000000 00:00 0 \n";
  base::Result<std::vector<Mapping>> mappings =
      parse_smaps(head + "VmFlags: rd  wr   \n" + head + "VmFlags: rd wr\n");
  ASSERT_TRUE(mappings) << mappings.error().what;
  const uint64_t expected = model::vm_flag_bit("rd") | model::vm_flag_bit("wr");
  EXPECT_EQ((*mappings)[0].vm_flags, expected);
  EXPECT_EQ((*mappings)[1].vm_flags, expected);
}

TEST(SmapsParser, ReadsProtectionKeysOnTheShortRoadToo) {
  // Printed by processors with protection keys; none of the fixtures has one.
  const auto block = [](const char* rss) {
    return std::string("00400000-00401000 r--p 00000000 00:00 0 \n") +
           "Rss:            " + rss +
           " kB\n"
           "THPeligible:           1\n"
           "ProtectionKey:         0\n"
           "VmFlags: rd \n";
  };
  base::Result<std::vector<Mapping>> mappings =
      parse_smaps(block("       4") + block("      12") + block("  123456"));
  ASSERT_TRUE(mappings) << mappings.error().what;
  ASSERT_EQ(mappings->size(), 3U);
  EXPECT_EQ((*mappings)[1].fields.get(SmapsField::Rss), 12 * 1024);
  EXPECT_EQ((*mappings)[2].fields.get(SmapsField::Rss), 123456 * 1024);
  EXPECT_TRUE((*mappings)[2].is_thp_eligible);
}

TEST(SmapsParser, ForgetsAFileThatWasNotReadToItsEnd) {
  const std::string block =
      "00400000-00401000 r--p 00000000 00:00 0 \n"
      "Rss:                   4 kB\n";
  SmapsParser parser;
  size_t count = 0;
  const MappingVisitor visit = [&](const Mapping&) { ++count; };
  ASSERT_TRUE(parser.parse(block + block + block, false, visit));
  EXPECT_EQ(count, 2U) << "the third may go on";
  parser.restart();
  ASSERT_TRUE(parser.parse(block, true, visit));
  EXPECT_EQ(count, 3U);
}

TEST(SmapsRollup, ReadsARealOne) {
  base::Result<SmapsFields> rollup =
      parse_smaps_rollup(read_fixture("debian-6.12/proc/151/smaps_rollup"));
  ASSERT_TRUE(rollup) << rollup.error().what;
  EXPECT_EQ(rollup->get(SmapsField::Rss), 8896U * 1024);
  EXPECT_EQ(rollup->get(SmapsField::PssShmem), 648U * 1024);
  EXPECT_EQ(rollup->get(SmapsField::Ksm), 0U);
  EXPECT_FALSE(rollup->has(SmapsField::Size)) << "not in a rollup";
}

TEST(SmapsRollup, LeavesWhatAnOlderKernelLacksEmpty) {
  base::Result<SmapsFields> rollup =
      parse_smaps_rollup(read_fixture("debian-6.1/proc/110/smaps_rollup"));
  ASSERT_TRUE(rollup) << rollup.error().what;
  EXPECT_TRUE(rollup->has(SmapsField::PssDirty));
  EXPECT_FALSE(rollup->has(SmapsField::Ksm)) << "since 6.8";
}

TEST(SmapsRollup, RefusesAnEmptyText) {
  base::Result<SmapsFields> rollup =
      parse_smaps_rollup(read_fixture("debian-6.12/proc/2/smaps_rollup"));
  ASSERT_FALSE(rollup) << "a kernel thread has no memory, not zero bytes";
  EXPECT_EQ(rollup.error().kind, ErrorKind::Malformed);
}

TEST(SmapsRollup, RefusesGarbageBehindAKnownLabel) {
  EXPECT_FALSE(parse_smaps_rollup(heap_with("Pss:     x kB\n")));
}

TEST(SmapsRollup, SurvivesTruncationAtEveryByte) {
  const std::string text = read_fixture("debian-6.12/proc/151/smaps_rollup");
  for (size_t length = 0; length <= text.size(); ++length) {
    base::Result<SmapsFields> rollup =
        parse_smaps_rollup(text.substr(0, length));
    if (!rollup) {
      EXPECT_TRUE(rollup.error().what.starts_with("smaps: cannot read '"));
    }
  }
}

}  // namespace
}  // namespace tidemark::parse
