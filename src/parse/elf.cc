#include "parse/elf.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "parse/bytes.h"

namespace tidemark::parse {
namespace {

using base::ErrorKind;
using base::fail;

constexpr uint64_t kPageBytes = 4096;

base::Error not_elf(const char* why) {
  return fail(ErrorKind::Malformed, std::string("elf: ") + why);
}

template <typename Header, typename Segment>
base::Result<uint64_t> span_of(std::string_view head) {
  const std::optional<Header> header = read_at<Header>(head, 0);
  if (!header || header->e_phentsize != sizeof(Segment)) {
    return not_elf("cannot read its header");
  }
  uint64_t start = std::numeric_limits<uint64_t>::max();
  uint64_t end = 0;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const std::optional<Segment> segment =
        read_at<Segment>(head, header->e_phoff + i * sizeof(Segment));
    if (!segment)
      return not_elf("its program headers lie beyond what was read");
    if (segment->p_type != PT_LOAD) continue;
    const uint64_t first = segment->p_vaddr;
    const uint64_t size = segment->p_memsz;
    if (size > std::numeric_limits<uint64_t>::max() - kPageBytes - first) {
      return not_elf("a segment beyond the address space");
    }
    start = std::min(start, first / kPageBytes * kPageBytes);
    end = std::max(end,
                   (first + size + kPageBytes - 1) / kPageBytes * kPageBytes);
  }
  if (end <= start) return not_elf("nothing of it is loaded");
  return end - start;
}

bool is_elf(std::string_view head) {
  static_assert(std::endian::native == std::endian::little);
  return head.size() >= EI_NIDENT &&
         std::memcmp(head.data(), ELFMAG, SELFMAG) == 0 &&
         head[EI_DATA] == ELFDATA2LSB;
}

template <typename Header, typename Segment>
base::Result<std::vector<model::KernelSegment>> segments_of(
    std::string_view head) {
  const std::optional<Header> header = read_at<Header>(head, 0);
  if (!header || header->e_phentsize != sizeof(Segment) ||
      header->e_type != ET_CORE) {
    return not_elf("no image of the kernel's memory");
  }
  // What has no one place says -1; before 4.20 it said 0.
  using Address = decltype(Segment::p_paddr);
  constexpr Address kNowhere = std::numeric_limits<Address>::max();
  std::vector<model::KernelSegment> segments;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const std::optional<Segment> segment =
        read_at<Segment>(head, header->e_phoff + i * sizeof(Segment));
    if (!segment)
      return not_elf("its program headers lie beyond what was read");
    if (segment->p_type != PT_LOAD) continue;
    if (segment->p_memsz >
        std::numeric_limits<uint64_t>::max() - segment->p_vaddr) {
      return not_elf("a segment beyond the address space");
    }
    model::KernelSegment& one = segments.emplace_back();
    one.start = segment->p_vaddr;
    one.size_bytes = segment->p_memsz;
    if (segment->p_paddr != kNowhere) one.physical = segment->p_paddr;
  }
  return segments;
}

}  // namespace

base::Result<std::vector<model::KernelSegment>> parse_kcore_segments(
    std::string_view head) {
  if (!is_elf(head)) return not_elf("no image of the kernel's memory");
  return head[EI_CLASS] == ELFCLASS32
             ? segments_of<Elf32_Ehdr, Elf32_Phdr>(head)
             : segments_of<Elf64_Ehdr, Elf64_Phdr>(head);
}

base::Result<uint64_t> parse_elf_code_distance(std::string_view head,
                                               uint64_t file_offset) {
  if (!is_elf(head) || head[EI_CLASS] != ELFCLASS64) {
    return not_elf("no 64-bit file of this machine");
  }
  const std::optional<Elf64_Ehdr> header = read_at<Elf64_Ehdr>(head, 0);
  if (!header || header->e_phentsize != sizeof(Elf64_Phdr)) {
    return not_elf("cannot read its header");
  }
  const auto page_of = [](uint64_t at) { return at / kPageBytes * kPageBytes; };
  std::optional<uint64_t> first;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const std::optional<Elf64_Phdr> segment =
        read_at<Elf64_Phdr>(head, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment)
      return not_elf("its program headers lie beyond what was read");
    if (segment->p_type != PT_LOAD) continue;
    // They stand in order of address.
    if (!first) first = page_of(segment->p_vaddr);
    if ((segment->p_flags & PF_X) == 0 ||
        page_of(segment->p_offset) != file_offset ||
        page_of(segment->p_vaddr) < *first) {
      continue;
    }
    return page_of(segment->p_vaddr) - *first;
  }
  return not_elf("no code of it begins there");
}

base::Result<uint64_t> parse_elf_span(std::string_view head) {
  if (!is_elf(head)) return not_elf("no such file of this machine");
  if (head[EI_CLASS] == ELFCLASS32) {
    return span_of<Elf32_Ehdr, Elf32_Phdr>(head);
  }
  return span_of<Elf64_Ehdr, Elf64_Phdr>(head);
}

}  // namespace tidemark::parse
