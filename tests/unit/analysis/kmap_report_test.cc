#include "analysis/kmap_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::AddressForm;
using model::VmallocArea;
using model::VmallocKind;

using test::kPage;

VmallocArea area(const char* caller, VmallocKind kind, uint64_t size,
                 std::optional<uint64_t> pages = {}) {
  VmallocArea made;
  made.start = 0xffffc90000000000;
  made.end = *made.start + size;
  made.caller = caller;
  made.kind = kind;
  made.size_bytes = size;
  made.pages = pages;
  return made;
}

KmapInput example() {
  KmapInput input;
  input.meminfo.vmalloc_used_bytes = 20 * kPage;
  input.space = model::known(model::KernelSpace{1 << 30, 1 << 20});
  model::PageCounters counters;
  counters.memmap_boot_pages = 100;
  counters.memmap_pages = 5;
  input.counters = model::known(counters);
  input.iomem =
      model::known(model::IoMemory{{{0x1000, 0xffffff, 0, "System RAM"},
                                    {0x10000, 0x2ffff, 1, "Kernel code"},
                                    {0x40000, 0x4ffff, 1, "Kernel data"}},
                                   AddressForm::Real});
  input.vmalloc = model::known(model::VmallocInfo{
      {area("kernel_clone+0x94/0x3e0", VmallocKind::Vmalloc, 5 * kPage, 4),
       area("kernel_clone+0x10/0x3e0", VmallocKind::Vmalloc, 5 * kPage, 4),
       area("load+0x1/0x2 [xfs 0123]", VmallocKind::Vmalloc, 3 * kPage, 2),
       area("load+0x1/0x2 [xfs 0123]", VmallocKind::Vmap, 9 * kPage),
       area("", VmallocKind::Unpurged, 7 * kPage)},
      AddressForm::Real});
  input.modules = model::known(std::vector<model::KernelModule>{
      {"small", kPage, 0xffffffffc0000000},
      {"large", 4 * kPage, 0xffffffffc0010000}});
  input.symbols = model::known(model::KernelSymbols{
      {{"_text", 0xffffffff81000000}, {"_etext", 0xffffffff81018000}},
      AddressForm::Real});
  return input;
}

const KmapRegion& region(const KmapReport& report, std::string_view token) {
  const auto found =
      std::ranges::find(report.regions, token, &KmapRegion::token);
  EXPECT_NE(found, report.regions.end()) << token;
  return *found;
}

bool mentions(const KmapReport& report, std::string_view words) {
  return std::ranges::any_of(report.notes, [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

TEST(KmapReport, GroupsAreasByFunctionAndKind) {
  const KmapReport report = make_kmap_report(example());
  EXPECT_EQ(
      report.groups,
      (std::vector<KmapGroup>{
          {"kernel_clone", VmallocKind::Vmalloc, 2, 10 * kPage, 8 * kPage},
          {"load [xfs]", VmallocKind::Vmalloc, 1, 3 * kPage, 2 * kPage},
          {"load [xfs]", VmallocKind::Vmap, 1, 9 * kPage, {}},
          {"", VmallocKind::Unpurged, 1, 7 * kPage, {}}}));
}

TEST(KmapReport, TellsWhatOfVmallocNoAreaHas) {
  EXPECT_EQ(make_kmap_report(example()).vmalloc_residue_bytes, 10 * kPage);
  KmapInput input = example();
  input.meminfo.vmalloc_used_bytes = 0;
  EXPECT_EQ(make_kmap_report(std::move(input)).vmalloc_residue_bytes,
            -10 * static_cast<int64_t>(kPage));
}

TEST(KmapReport, TakesSectionsFromSymbolsAndElseFromTheirDistance) {
  const KmapReport report = make_kmap_report(example());
  const KmapRegion& image = region(report, "image");
  ASSERT_EQ(image.parts.size(), 2U);
  EXPECT_EQ(
      image.parts[0],
      (KmapPart{"text", AddressRange{0xffffffff81000000, 0xffffffff81018000},
                0x18000}));
  EXPECT_EQ(
      image.parts[1],
      (KmapPart{"data", AddressRange{0xffffffff81030000, 0xffffffff81040000},
                0x10000}));
  EXPECT_EQ(image.range,
            (AddressRange{0xffffffff81000000, 0xffffffff81040000}));
}

TEST(KmapReport, SaysThatAddressesAreHashed) {
  KmapInput input = example();
  input.vmalloc.value->addresses = AddressForm::Hashed;
  const KmapReport report = make_kmap_report(std::move(input));
  EXPECT_FALSE(region(report, "vmalloc").range);
  EXPECT_TRUE(mentions(report, "hashed; with kernel.kptr_restrict=1 and"));
}

TEST(KmapReport, WithoutPrivilegeKnowsSizesAndNoPlaces) {
  KmapInput input = example();
  input.vmalloc = model::unknown<model::VmallocInfo>("denied: vmallocinfo");
  input.iomem.value->addresses = AddressForm::Hidden;
  input.symbols.value->addresses = AddressForm::Hidden;
  input.modules.value->front().address.reset();
  input.modules.value->back().address.reset();
  const KmapReport report = make_kmap_report(std::move(input));
  EXPECT_FALSE(region(report, "image").range);
  EXPECT_FALSE(region(report, "image").memory_bytes);
  EXPECT_FALSE(region(report, "modules").range);
  EXPECT_EQ(region(report, "modules").size_bytes.value, 5 * kPage);
  EXPECT_FALSE(report.vmalloc_residue_bytes);
  EXPECT_FALSE(report.ram_bytes);
  EXPECT_TRUE(mentions(report, "denied: vmallocinfo"));
  EXPECT_TRUE(mentions(report, "iomem hides its addresses: CAP_SYS_ADMIN"));
  EXPECT_TRUE(
      mentions(report, "denied: kallsyms hides its addresses; CAP_SYSLOG"));
}

// Another architecture, or a tree with nothing in it.
TEST(KmapReport, OfNothingHasEveryRegionWithItsReason) {
  const KmapReport report = make_kmap_report(KmapInput());
  EXPECT_EQ(report.regions.size(), 5U);
  for (const KmapRegion& known : report.regions) {
    EXPECT_FALSE(known.range) << known.token;
  }
}

TEST(KmapReport, PutsTheLargestModuleFirst) {
  const KmapReport report = make_kmap_report(example());
  const KmapRegion& modules = region(report, "modules");
  ASSERT_EQ(modules.parts.size(), 2U);
  EXPECT_EQ(modules.parts[0].name, "large");
  EXPECT_EQ(modules.range,
            (AddressRange{0xffffffffc0000000, 0xffffffffc0014000}));
}

TEST(KmapReport, CountsPageStructsMadeAtBootAndLater) {
  EXPECT_EQ(region(make_kmap_report(example()), "vmemmap").memory_bytes.value,
            105 * kPage);
}

TEST(KmapReport, SegmentsTellWhereRegionsBegin) {
  KmapInput input = example();
  input.segments = model::known(
      std::vector<model::KernelSegment>{{0xffff888000001000, 0xfff000, 0x1000},
                                        {0xffffc90000000000, 1 << 30, {}},
                                        {0xffffea0000000000, 0x40000, {}}});
  const KmapReport report = make_kmap_report(std::move(input));
  EXPECT_EQ(region(report, "direct_map").range->start, 0xffff888000000000U);
  EXPECT_EQ(region(report, "vmalloc").range->start, 0xffffc90000000000U);
  EXPECT_EQ(region(report, "vmemmap").size_bytes.value, 0x40000U);
  EXPECT_FALSE(mentions(report, "kcore"));
}

TEST(KmapReport, WithoutKcoreItSaysWhatWouldShowTheRegions) {
  KmapInput input = example();
  input.segments = model::unknown<std::vector<model::KernelSegment>>(
      "denied: /proc/kcore: Operation not permitted");
  const KmapReport report = make_kmap_report(std::move(input));
  EXPECT_FALSE(region(report, "direct_map").range);
  EXPECT_TRUE(mentions(report, "CAP_SYS_RAWIO"));
}

}  // namespace
}  // namespace tidemark::analysis
