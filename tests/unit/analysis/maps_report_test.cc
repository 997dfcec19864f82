#include "analysis/maps_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "unit/analysis/processes.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::Mapping;
using model::Process;
using model::RegionHints;
using model::RegionKind;
using model::Sample;
using model::SmapsField;
using test::kKiB;
using test::process_named;

struct Counters {
  uint64_t rss_kib = 0;
  uint64_t pss_kib = 0;
  uint64_t private_kib = 0;
  uint64_t swap_kib = 0;
};

Mapping mapping(uint64_t start, uint64_t size_kib, std::string_view letters,
                std::string_view name, uint64_t inode, Counters counters) {
  Mapping m;
  m.start_address = start;
  m.end_address = start + size_kib * kKiB;
  m.permissions = {letters[0] == 'r', letters[1] == 'w', letters[2] == 'x',
                   letters[3] == 's'};
  m.name = name;
  m.inode_id = inode;
  m.fields.set(SmapsField::Rss, counters.rss_kib * kKiB);
  m.fields.set(SmapsField::Pss, counters.pss_kib * kKiB);
  m.fields.set(SmapsField::PrivateDirty, counters.private_kib * kKiB);
  m.fields.set(SmapsField::SwapPss, counters.swap_kib * kKiB);
  return m;
}

// A program with its data, its heap, a file, its stack, and the vsyscall page.
// Each counter puts the regions into an order of its own.
std::vector<Mapping> small_program() {
  return {
      mapping(0x400000, 8, "r-xp", "/usr/bin/zoo", 7, {8, 2, 0, 0}),
      mapping(0x402000, 4, "rw-p", "/usr/bin/zoo", 7, {4, 4, 4, 1}),
      mapping(0x800000, 64, "rw-p", "[heap]", 0, {40, 40, 40, 8}),
      mapping(0x7f0000000000, 400, "r--s", "/srv/map.bin", 9, {99, 9, 1, 0}),
      mapping(0x7ffc00000000, 132, "rw-p", "[stack]", 0, {20, 20, 20, 9}),
      mapping(0xffffffffff600000, 4, "--xp", "[vsyscall]", 0, {}),
  };
}

MapsReport report_of(std::vector<Mapping> mappings,
                     MapsSort sort = MapsSort::Address,
                     const RegionHints& hints = {}) {
  Process process = process_named(42, 1, "zoo");
  process.mappings = model::known(std::move(mappings));
  return make_maps_report(Sample(), process, hints, sort);
}

std::string names_of(const MapsReport& report) {
  std::string text;
  for (const MapsRegion& region : report.regions) {
    if (!text.empty()) text += ' ';
    text += region.name;
  }
  return text;
}

TEST(MapsReport, DescribesARegion) {
  const MapsReport report = report_of(small_program());
  ASSERT_EQ(report.regions.size(), 5U);
  const MapsRegion& zoo = report.regions[0];
  EXPECT_EQ(zoo.kind, RegionKind::Image);
  EXPECT_EQ(zoo.category, Category::Code);
  EXPECT_EQ(zoo.name, "zoo");
  EXPECT_EQ(zoo.start_address, 0x400000U);
  EXPECT_EQ(zoo.end_address, 0x403000U);
  EXPECT_EQ(zoo.mappings.size(), 2U);
}

TEST(MapsReport, SumsTheMappingsOfARegion) {
  const CategoryUse zoo = {Category::Code, 12 * kKiB, 12 * kKiB, 6 * kKiB,
                           4 * kKiB,       1 * kKiB,  2};
  EXPECT_EQ(report_of(small_program()).regions.at(0).sum, zoo);
}

TEST(MapsReport, SumsTheWhole) {
  const CategoryUse total = report_of(small_program()).total;
  EXPECT_EQ(total.size_bytes, 612 * kKiB);
  EXPECT_EQ(total.rss_bytes, 171 * kKiB);
  EXPECT_EQ(total.pss_bytes, 75 * kKiB);
  EXPECT_EQ(total.private_bytes, 65 * kKiB);
  EXPECT_EQ(total.swap_pss_bytes, 18 * kKiB);
  EXPECT_EQ(total.mapping_count, 6U);
}

TEST(MapsReport, SpanLeavesOutTheKernelsHalf) {
  const MapsReport report = report_of(small_program());
  EXPECT_EQ(report.start_address, 0x400000U);
  EXPECT_EQ(report.end_address, 0x7ffc00000000U + 132 * kKiB);
}

TEST(MapsReport, OfNoMappingsIsEmpty) {
  const MapsReport report = report_of({});
  EXPECT_TRUE(report.regions.empty());
  EXPECT_TRUE(report.categories.empty());
  EXPECT_EQ(report.end_address, 0U);
}

TEST(MapsReport, DescribesTheProcess) {
  Process process = process_named(42, 1, "python3");
  process.command_line = std::string("python3\0x.py", 12);
  process.status.rss_bytes = 1;
  process.status.peak_rss_bytes = 2;
  process.status.page_table_bytes = 3;
  process.mappings = model::known(std::vector<Mapping>());
  Sample sample;
  sample.started_realtime_ns = 7;
  sample.started_monotonic_ns = 100;
  sample.ended_monotonic_ns = 130;
  const MapsReport report =
      make_maps_report(sample, process, {}, MapsSort::Address);
  EXPECT_EQ(report.process, (model::ProcessId{42, 100}));
  EXPECT_EQ(report.name, "python3 x.py");
  EXPECT_EQ(report.command, "python3 x.py");
  EXPECT_EQ(report.status_rss_bytes, 1U);
  EXPECT_EQ(report.peak_rss_bytes, 2U);
  EXPECT_EQ(report.page_table_bytes, 3U);
  EXPECT_EQ(report.realtime_ns, 7U);
  EXPECT_EQ(report.read_ns, 30U);
}

TEST(MapsReport, CountsThreadsAndThoseWithoutAStackPointer) {
  RegionHints hints;
  hints.threads = {{1, "a", 'S', uint64_t{0x7ffc00000010}},
                   {2, "b", 'R', std::nullopt}};
  const MapsReport report =
      report_of(small_program(), MapsSort::Address, hints);
  EXPECT_EQ(report.thread_count, 2U);
  EXPECT_EQ(report.unlocated_thread_count, 1U);
}

// ---- order

TEST(MapsSort, ByAddressKeepsTheOrderOfTheKernel) {
  EXPECT_EQ(names_of(report_of(small_program(), MapsSort::Address)),
            "zoo [heap] /srv/map.bin [stack] [vdso]");
}

TEST(MapsSort, PutsTheLargestFirst) {
  const auto by = [](MapsSort sort) {
    return names_of(report_of(small_program(), sort));
  };
  EXPECT_EQ(by(MapsSort::Size), "/srv/map.bin [stack] [heap] zoo [vdso]");
  EXPECT_EQ(by(MapsSort::Rss), "/srv/map.bin [heap] [stack] zoo [vdso]");
  EXPECT_EQ(by(MapsSort::Pss), "[heap] [stack] /srv/map.bin zoo [vdso]");
  EXPECT_EQ(by(MapsSort::Private), "[heap] [stack] zoo /srv/map.bin [vdso]");
  EXPECT_EQ(by(MapsSort::Swap), "[stack] [heap] zoo /srv/map.bin [vdso]");
}

TEST(MapsSort, KeepsEqualRegionsInOrderOfAddress) {
  const Counters same = {4, 4, 4, 0};
  EXPECT_EQ(
      names_of(report_of({mapping(0x100000, 4, "r--p", "/a", 1, same),
                          mapping(0x200000, 4, "r--p", "/b", 2, same),
                          mapping(0x300000, 4, "r--p", "/c", 3, {5, 5, 5, 0})},
                         MapsSort::Pss)),
      "/c /a /b");
}

// ---- words

TEST(ExplainRegion, HasAnExplanationOfItsOwnForEachKind) {
  std::set<std::string> explanations;
  for (int kind = 0; kind <= static_cast<int>(RegionKind::Vdso); ++kind) {
    MapsRegion region;
    region.kind = static_cast<RegionKind>(kind);
    explanations.insert(explain_region(region));
  }
  EXPECT_EQ(explanations.size(), static_cast<size_t>(RegionKind::Vdso) + 1);
}

TEST(ExplainRegion, BelongsToItsKind) {
  const auto explains = [](RegionKind kind, std::string_view words) {
    MapsRegion region;
    region.kind = kind;
    return explain_region(region).find(words) != std::string::npos;
  };
  EXPECT_TRUE(explains(RegionKind::Image, "bss"));
  EXPECT_TRUE(explains(RegionKind::BrkHeap, "brk()"));
  EXPECT_TRUE(explains(RegionKind::Arena, "malloc arena"));
  EXPECT_TRUE(explains(RegionKind::MainStack, "main thread"));
  EXPECT_TRUE(explains(RegionKind::ThreadStack, "guard"));
  EXPECT_TRUE(explains(RegionKind::NamedAnonymous, "prctl"));
  EXPECT_TRUE(explains(RegionKind::Jit, "executable"));
  EXPECT_TRUE(explains(RegionKind::MemFd, "memfd"));
  EXPECT_TRUE(explains(RegionKind::SysV, "shmget"));
  EXPECT_TRUE(explains(RegionKind::TmpFile, "tmpfs"));
  EXPECT_TRUE(explains(RegionKind::Device, "device"));
  EXPECT_TRUE(explains(RegionKind::HugeTlb, "hugetlb"));
  EXPECT_TRUE(explains(RegionKind::Vdso, "system calls"));
}

TEST(ExplainRegion, SaysThatAStackWasToldByItsShapeAlone) {
  MapsRegion region;
  region.kind = RegionKind::ThreadStack;
  EXPECT_TRUE(explain_region(region).ends_with(
      "(told by its shape: no stack pointer was seen in it)"));
  region.thread_id = 7;
  EXPECT_EQ(explain_region(region).find("shape"), std::string::npos);
}

// ---- any address space

RC_GTEST_PROP(MapsReport, RegionsAndCategoriesSumToTheTotal, ()) {
  std::vector<Mapping> mappings;
  uint64_t at = 0x400000;
  const auto count = *rc::gen::inRange<size_t>(0, 12);
  for (size_t i = 0; i < count; ++i) {
    const auto any_kib = rc::gen::inRange<uint64_t>(0, 1000);
    mappings.push_back(
        mapping(at, 4 * *rc::gen::inRange<uint64_t>(1, 300),
                *rc::gen::element("rw-p", "r-xp", "---p", "rw-s"),
                *rc::gen::element<std::string>("", "[heap]", "/usr/lib/a.so",
                                               "/memfd:x (deleted)", "[vdso]"),
                *rc::gen::inRange<uint64_t>(0, 3),
                {*any_kib, *any_kib, *any_kib, *any_kib}));
    if (*rc::gen::arbitrary<bool>()) {
      mappings.back().fields.set(SmapsField::PrivateHugetlb, *any_kib * kKiB);
    }
    at = mappings.back().end_address + 4 * kKiB * *rc::gen::inRange(0U, 2U);
  }
  CategoryUse expected;
  for (const Mapping& m : mappings) {
    expected.size_bytes += m.size_bytes();
    expected.pss_bytes += *model::in_ram_bytes(m.fields);
    ++expected.mapping_count;
  }
  const auto sort = *rc::gen::element(MapsSort::Address, MapsSort::Pss);
  const MapsReport report = report_of(mappings, sort);
  CategoryUse regions;
  for (const MapsRegion& region : report.regions)
    regions.add(region.sum);
  CategoryUse categories;
  for (const CategoryUse& use : report.categories)
    categories.add(use);
  RC_ASSERT(report.total.size_bytes == expected.size_bytes);
  RC_ASSERT(report.total.pss_bytes == expected.pss_bytes);
  RC_ASSERT(report.total.mapping_count == expected.mapping_count);
  RC_ASSERT(regions == report.total);
  RC_ASSERT(categories == report.total);
}

}  // namespace
}  // namespace tidemark::analysis
