#include "parse/elf.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tidemark::parse {
namespace {

struct Load {
  uint64_t address;
  uint64_t size;
  uint64_t offset = 0;
  uint32_t flags = PF_R;
};

std::string elf_with(const std::vector<Load>& loads) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<uint16_t>(loads.size() + 1);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  Elf64_Phdr note{};
  note.p_type = PT_NOTE;
  note.p_vaddr = 0x7000000;
  note.p_memsz = 0x1000;
  bytes.append(reinterpret_cast<const char*>(&note), sizeof note);
  for (const Load& load : loads) {
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_vaddr = load.address;
    segment.p_memsz = load.size;
    segment.p_offset = load.offset;
    segment.p_flags = load.flags;
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  }
  return bytes;
}

TEST(ElfSpan, IsFromTheFirstLoadedPageToTheLast) {
  base::Result<uint64_t> span =
      parse_elf_span(elf_with({{0x400000, 0x800}, {0x402e10, 0x3200}}));
  ASSERT_TRUE(span) << span.error().what;
  // 0x402e10 + 0x3200 = 0x406010, so the last page ends at 0x407000.
  EXPECT_EQ(*span, 0x7000U);
}

// As lld lays files out: each part a page further away than in the file.
TEST(ElfCodeDistance, IsThatInMemoryNotInTheFile) {
  const std::string head = elf_with({{0x200000, 0x1800, 0, PF_R},
                                     {0x202810, 0x3000, 0x1810, PF_R | PF_X},
                                     {0x206000, 0x1000, 0x4810, PF_R | PF_W}});
  base::Result<uint64_t> distance = parse_elf_code_distance(head, 0x1000);
  ASSERT_TRUE(distance) << distance.error().what;
  EXPECT_EQ(*distance, 0x2000U);
}

TEST(ElfCodeDistance, RefusesWhereNoCodeBegins) {
  const std::string head = elf_with(
      {{0x200000, 0x1800, 0, PF_R}, {0x202810, 0x3000, 0x1810, PF_R | PF_X}});
  EXPECT_FALSE(parse_elf_code_distance(head, 0)) << "it is only read there";
  EXPECT_FALSE(parse_elf_code_distance(head, 0x3000));
  for (size_t size = 0; size < head.size(); ++size)
    EXPECT_FALSE(parse_elf_code_distance(head.substr(0, size), 0x1000));
}

TEST(ElfSpan, RefusesWhatIsNoElf) {
  EXPECT_FALSE(parse_elf_span(""));
  EXPECT_FALSE(parse_elf_span("#!/bin/sh\necho not a program at all\n"));
}

TEST(ElfSpan, RefusesAFileOfWhichNothingIsLoaded) {
  EXPECT_FALSE(parse_elf_span(elf_with({})));
}

TEST(ElfSpan, RefusesASegmentBeyondTheAddressSpace) {
  EXPECT_FALSE(parse_elf_span(elf_with({{0x1000, UINT64_MAX}})));
}

TEST(ElfSpan, SurvivesTruncationAtEveryByte) {
  const std::string whole = elf_with({{0x1000, 0x1000}, {0x3000, 0x10}});
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_elf_span(whole.substr(0, length))) << length;
  }
}

// ---- the kernel's memory ----------------------------------------------------

std::string kcore_with(const std::vector<Elf64_Phdr>& segments) {
  std::string bytes = elf_with({});
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_type = ET_CORE;
  header.e_phnum = static_cast<uint16_t>(segments.size() + 1);
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const Elf64_Phdr& segment : segments)
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return bytes;
}

Elf64_Phdr kernel_segment(uint64_t address, uint64_t size, uint64_t physical) {
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = address;
  segment.p_memsz = size;
  segment.p_paddr = physical;
  return segment;
}

TEST(KcoreSegments, HaveAPlaceOrNone) {
  base::Result<std::vector<model::KernelSegment>> segments =
      parse_kcore_segments(kcore_with(
          {kernel_segment(0xffff888000001000, 0x9e000, 0x1000),
           kernel_segment(0xffffc90000000000, 1 << 20, UINT64_MAX)}));
  ASSERT_TRUE(segments) << segments.error().what;
  EXPECT_EQ(*segments, (std::vector<model::KernelSegment>{
                           {0xffff888000001000, 0x9e000, 0x1000},
                           {0xffffc90000000000, 1 << 20, std::nullopt}}));
}

TEST(KcoreSegments, RefusesAnOrdinaryProgramAndHalfAHeader) {
  EXPECT_FALSE(parse_kcore_segments(elf_with({{0x400000, 0x800}})));
  std::string cut = kcore_with({kernel_segment(1, 1, 1)});
  cut.pop_back();
  EXPECT_FALSE(parse_kcore_segments(cut));
  EXPECT_FALSE(parse_kcore_segments(
      kcore_with({kernel_segment(0x1000, UINT64_MAX, 0)})));
}

}  // namespace
}  // namespace tidemark::parse
