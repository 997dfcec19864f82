#include "parse/kernel_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/fixture.h"
#include "unit/parse/truncation.h"

namespace tidemark::parse {
namespace {

using model::AddressForm;
using model::IoMemory;
using model::IoResource;
using model::KernelModule;
using model::KernelSymbols;
using model::PageCounters;
using model::SlabCache;
using model::SocketMemory;
using model::VmallocArea;
using model::VmallocInfo;
using model::VmallocKind;
using test::read_fixture;

constexpr uint64_t kPage = 4096;

// ---- iomem

TEST(IoMem, ReadsARealOne) {
  base::Result<IoMemory> iomem =
      parse_iomem(read_fixture("kernel-6.18/proc/iomem"));
  ASSERT_TRUE(iomem) << iomem.error().what;
  EXPECT_EQ(iomem->addresses, AddressForm::Real);
  ASSERT_GE(iomem->resources.size(), 7U);
  EXPECT_EQ(iomem->resources[1],
            (IoResource{0x1000, 0x9fbff, 0, "System RAM"}));
  EXPECT_EQ(iomem->resources[6],
            (IoResource{0x1000000, 0x2206447, 1, "Kernel code"}));
  // 6,291,358 whole pages: the last one below 0x9fc00 is broken.
  EXPECT_EQ(model::system_ram_bytes(*iomem, kPage), 6291358 * kPage);
}

TEST(IoMem, SaysThatAddressesAreHidden) {
  base::Result<IoMemory> iomem = parse_iomem(
      "00000000-00000000 : System RAM\n  00000000-00000000 : Kernel code\n");
  ASSERT_TRUE(iomem) << iomem.error().what;
  EXPECT_EQ(iomem->addresses, AddressForm::Hidden);
  EXPECT_EQ(iomem->resources.size(), 2U) << "the tree is still told";
  EXPECT_FALSE(model::system_ram_bytes(*iomem, kPage));
}

TEST(IoMem, CountsRamOfDriversAndNoneTwice) {
  base::Result<IoMemory> iomem = parse_iomem(
      "00000000-00000fff : Reserved\n"
      "00001000-00002fff : System RAM\n"
      "  00001000-00001fff : System RAM\n"
      "00010000-0001ffff : virtio0\n"
      "  00010000-00010fff : System RAM (virtio_mem)\n"
      "00020000-00020fff : System RAMbus\n");
  ASSERT_TRUE(iomem) << iomem.error().what;
  EXPECT_EQ(model::system_ram_bytes(*iomem, kPage), 3 * kPage);
}

TEST(IoMem, OfTheWholeAddressSpaceDoesNotOverflow) {
  base::Result<IoMemory> iomem =
      parse_iomem("0000000000000000-ffffffffffffffff : System RAM\n");
  ASSERT_TRUE(iomem) << iomem.error().what;
  EXPECT_EQ(iomem->resources[0].last, UINT64_MAX);
  (void)model::system_ram_bytes(*iomem, kPage);
}

TEST(IoMem, KeepsANameAsItIs) {
  base::Result<IoMemory> iomem =
      parse_iomem("00001000-00001fff : a : b \x1b[31m\n");
  ASSERT_TRUE(iomem) << iomem.error().what;
  EXPECT_EQ(iomem->resources[0].name, "a : b \x1b[31m");
}

TEST(IoMem, RefusesWhatIsNotARange) {
  for (const char* line : {"", "00001000 : x", "00001000-zz : x",
                           "00002000-00001000 : x", "00001000-00001fff x"}) {
    base::Result<IoMemory> iomem = parse_iomem(std::string(line) + "\n");
    ASSERT_FALSE(iomem) << line;
    EXPECT_EQ(iomem.error().what,
              "iomem: cannot read '" + std::string(line) + "'");
  }
}

TEST(IoMem, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(read_fixture("kernel-6.18/proc/iomem"),
                                   "iomem", parse_iomem);
}

// ---- vmallocinfo

TEST(VmallocInfoFile, ReadsARealOne) {
  base::Result<VmallocInfo> info =
      parse_vmallocinfo(read_fixture("kernel-6.18/proc/vmallocinfo"));
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->addresses, AddressForm::Hashed);
  uint64_t pages = 0;
  for (const VmallocArea& area : info->areas) {
    if (area.kind == VmallocKind::Vmalloc) pages += area.pages.value_or(0);
    EXPECT_NE(area.kind, VmallocKind::Other) << area.caller;
  }
  EXPECT_GT(pages, 3000U);
}

TEST(VmallocInfoFile, TellsKindsApart) {
  base::Result<VmallocInfo> info = parse_vmallocinfo(
      "0xffffc90000000000-0xffffc90000005000   20480 start+0xca/0x100 vmap\n"
      "0xffffc90000005000-0xffffc90000007000    8192 load+0x1/0x2 [nf_tables "
      "0123abcd] pages=1 vmalloc user vpages N0=1\n"
      "0xffffc90000010000-0xffffc90000020000   65536 vm_map_ram\n"
      "0xffffc90000020000-0xffffc90000022000    8192 memremap+0x1/0x2 "
      "phys=0x00000000000df000 ioremap\n"
      "0xffffc90000022000-0xffffc90000024000    8192 unpurged vm_area\n"
      "0xffffc90000024000-0xffffc90000026000    8192 dma_common+0x1/0x2 "
      "dma-coherent\n"
      "0xffffc90000026000-0xffffc90000028000    8192 0xffffffffc0001234 "
      "sparse\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->addresses, AddressForm::Real);
  const std::vector<VmallocArea>& areas = info->areas;
  ASSERT_EQ(areas.size(), 7U);
  EXPECT_EQ(areas[0].kind, VmallocKind::Vmap);
  EXPECT_EQ(areas[0].caller, "start+0xca/0x100");
  EXPECT_FALSE(areas[0].pages);
  EXPECT_EQ(areas[1].kind, VmallocKind::Vmalloc);
  EXPECT_EQ(areas[1].caller, "load+0x1/0x2 [nf_tables 0123abcd]");
  EXPECT_EQ(areas[1].pages, 1U);
  EXPECT_TRUE(areas[1].is_user);
  EXPECT_TRUE(areas[1].has_vpages);
  EXPECT_EQ(areas[2].kind, VmallocKind::VmMapRam);
  EXPECT_EQ(areas[2].caller, "");
  EXPECT_EQ(areas[3].kind, VmallocKind::Ioremap);
  EXPECT_EQ(areas[3].phys, 0xdf000U);
  EXPECT_EQ(areas[4].kind, VmallocKind::Unpurged);
  EXPECT_EQ(areas[5].kind, VmallocKind::DmaCoherent);
  EXPECT_EQ(areas[6].kind, VmallocKind::Sparse);
  EXPECT_EQ(areas[6].caller, "0xffffffffc0001234");
}

TEST(VmallocInfoFile, SaysThatAddressesAreHidden) {
  base::Result<VmallocInfo> info = parse_vmallocinfo(
      "0x0000000000000000-0x0000000000000000    8192 f+0x1/0x2 pages=1 "
      "vmalloc\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->addresses, AddressForm::Hidden);
}

TEST(VmallocInfoFile, ReadsWhatTheKernelWritesBeforeItCanHash) {
  base::Result<VmallocInfo> info = parse_vmallocinfo(
      "0x(____ptrval____)-0x(____ptrval____)    8192 f+0x1/0x2 vmap\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->addresses, AddressForm::Hashed);
  EXPECT_FALSE(info->areas[0].start);
}

TEST(VmallocInfoFile, ReadsWhatOldKernelsWrite) {
  base::Result<VmallocInfo> info = parse_vmallocinfo(
      "0xffffc90000000000-0xffffc90000002000    8192 hpet_enable+0x2d/0x2a0 "
      "phys=fed00000 ioremap\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->areas[0].phys, 0xfed00000U);
}

TEST(VmallocInfoFile, RefusesGarbage) {
  for (const char* line : {"", "0x1-0x2", "0x1-0x2 many f", "1-2 8192 f",
                           "0x1-0x2 1 f pages=x", "0x1-0x2 1 f phys=x"}) {
    base::Result<VmallocInfo> info =
        parse_vmallocinfo(std::string(line) + "\n");
    ASSERT_FALSE(info) << line;
    EXPECT_EQ(info.error().what,
              "vmallocinfo: cannot read '" + std::string(line) + "'");
  }
}

TEST(VmallocInfoFile, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(
      read_fixture("kernel-6.18/proc/vmallocinfo").substr(0, 2000),
      "vmallocinfo", parse_vmallocinfo);
}

// ---- slabinfo

TEST(SlabInfo, ReadsARealOne) {
  base::Result<std::vector<SlabCache>> caches =
      parse_slabinfo(read_fixture("kernel-6.18/proc/slabinfo"));
  ASSERT_TRUE(caches) << caches.error().what;
  EXPECT_GT(caches->size(), 100U);
  EXPECT_EQ((*caches)[2], (SlabCache{"bio-312", 12, 12, 320, 12, 1, 1, 1}));
}

TEST(SlabInfo, ReadsNamesWithBlanksAndStatistics) {
  base::Result<std::vector<SlabCache>> caches = parse_slabinfo(
      "slabinfo - version: 2.1 (statistics)\n"
      "# name <active_objs>\n"
      "odd : tunables name 1 2 3 4 5 : tunables 0 0 0 : slabdata 6 7 0 : "
      "globalstat 1 2\n");
  ASSERT_TRUE(caches) << caches.error().what;
  EXPECT_EQ((*caches)[0],
            (SlabCache{"odd : tunables name", 1, 2, 3, 4, 5, 6, 7}));
}

TEST(SlabInfo, RefusesAnotherVersionAndGarbage) {
  EXPECT_FALSE(parse_slabinfo(""));
  EXPECT_FALSE(parse_slabinfo("slabinfo - version: 1.1\n"));
  for (const char* line :
       {"", "x 1 2 3 4 5", "x 1 2 3 4 y : tunables 0 0 0 : slabdata 6 7 0",
        "1 2 3 4 5 : tunables 0 0 0 : slabdata 6 7 0",
        "x 1 2 3 4 5 : tunables 0 0 0 : slabdata 6 : "}) {
    base::Result<std::vector<SlabCache>> caches =
        parse_slabinfo("slabinfo - version: 2.1\n" + std::string(line) + "\n");
    ASSERT_FALSE(caches) << line;
    EXPECT_EQ(caches.error().what,
              "slabinfo: cannot read '" + std::string(line) + "'");
  }
}

TEST(SlabInfo, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(
      read_fixture("kernel-6.18/proc/slabinfo").substr(0, 2000), "slabinfo",
      parse_slabinfo);
}

// ---- sockstat

TEST(SockStat, ReadsARealOne) {
  base::Result<SocketMemory> memory =
      parse_sockstat(read_fixture("kernel-6.18/proc/net/sockstat"));
  ASSERT_TRUE(memory) << memory.error().what;
  EXPECT_TRUE(memory->tcp_pages);
  EXPECT_EQ(memory->udp_pages, 0U);
  EXPECT_EQ(memory->fragment_bytes, 0U);
}

TEST(SockStat, SumsFragmentsOfBothProtocols) {
  base::Result<SocketMemory> memory = parse_sockstat(
      "sockets: used 13\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 93\n"
      "UDP: inuse 0 mem 7\nUDPLITE: inuse 0\nFRAG: inuse 1 memory 100\n"
      "TCP6: inuse 0\nFRAG6: inuse 1 memory 20\n");
  ASSERT_TRUE(memory) << memory.error().what;
  EXPECT_EQ(*memory, (SocketMemory{93, 7, 120}));
}

TEST(SockStat, LeavesUnreportedFieldsEmpty) {
  base::Result<SocketMemory> memory = parse_sockstat("TCP: inuse 1\n");
  ASSERT_TRUE(memory) << memory.error().what;
  EXPECT_EQ(*memory, SocketMemory());
}

TEST(SockStat, RefusesGarbage) {
  EXPECT_FALSE(parse_sockstat("TCP: inuse 1 mem\n"));
  EXPECT_FALSE(parse_sockstat("UDP: inuse 1 mem -1\n"));
  EXPECT_FALSE(
      parse_sockstat("FRAG: memory 18446744073709551615\n"
                     "FRAG6: memory 1\n"));
}

// ---- modules

TEST(Modules, AreReadWithTheirPlaces) {
  base::Result<std::vector<KernelModule>> modules = parse_modules(
      "nf_tables 311296 2 nft_ct,nft_chain, Live 0xffffffffc0400000 (OE)\n"
      "virtio_net 73728 0 - Live 0x0000000000000000\n");
  ASSERT_TRUE(modules) << modules.error().what;
  EXPECT_EQ((*modules)[0],
            (KernelModule{"nf_tables", 311296, 0xffffffffc0400000U}));
  EXPECT_EQ((*modules)[1], (KernelModule{"virtio_net", 73728, std::nullopt}));
}

TEST(Modules, RefuseGarbage) {
  for (const char* line : {"", "x", "x y 0 - Live 0x0", "x 1 0 - Live"}) {
    EXPECT_FALSE(parse_modules(std::string(line) + "\n")) << line;
  }
}

// ---- kallsyms

TEST(SectionSymbols, AreTakenOutOfARealFile) {
  base::Result<KernelSymbols> symbols =
      parse_section_symbols(read_fixture("kernel-6.18/proc/kallsyms"));
  ASSERT_TRUE(symbols) << symbols.error().what;
  EXPECT_EQ(symbols->addresses, AddressForm::Real);
  EXPECT_EQ(model::find_symbol(*symbols, "_text"), 0xffffffff81000000U);
  EXPECT_EQ(model::find_symbol(*symbols, "_etext"), 0xffffffff82206448U);
  EXPECT_FALSE(model::find_symbol(*symbols, "__bss_stop"))
      << "this kernel keeps no data symbols";
}

TEST(SectionSymbols, SayThatAddressesAreHidden) {
  base::Result<KernelSymbols> symbols = parse_section_symbols(
      "0000000000000000 T _text\n0000000000000000 t f\t[xfs]\n");
  ASSERT_TRUE(symbols) << symbols.error().what;
  EXPECT_EQ(symbols->addresses, AddressForm::Hidden);
}

TEST(SectionSymbols, OfModulesAreNotTheKernels) {
  base::Result<KernelSymbols> symbols =
      parse_section_symbols("ffffffffc0000000 t _text\t[xfs]\n");
  ASSERT_TRUE(symbols) << symbols.error().what;
  EXPECT_TRUE(symbols->sections.empty());
}

TEST(SectionSymbols, RefuseAnAddressThatIsNone) {
  base::Result<KernelSymbols> symbols = parse_section_symbols("xyz T _text\n");
  ASSERT_FALSE(symbols);
  EXPECT_EQ(symbols.error().what, "kallsyms: cannot read 'xyz T _text'");
}

// ---- counters of pages

TEST(PageCountersOfVmstat, AreReadFromARealOne) {
  base::Result<PageCounters> counters =
      parse_page_counters(read_fixture("kernel-6.18/proc/vmstat"));
  ASSERT_TRUE(counters) << counters.error().what;
  EXPECT_EQ(counters->balloon_pages, 0U);
  EXPECT_EQ(counters->zsmalloc_pages, 0U);
  EXPECT_EQ(counters->memmap_boot_pages, 98304U);
  EXPECT_TRUE(counters->inactive_anon_pages);
}

TEST(PageCountersOfVmstat, LeaveUnreportedFieldsEmpty) {
  base::Result<PageCounters> counters =
      parse_page_counters("nr_unevictable 3\n");
  ASSERT_TRUE(counters) << counters.error().what;
  PageCounters expected;
  expected.unevictable_pages = 3;
  EXPECT_EQ(*counters, expected);
}

TEST(PageCountersOfVmstat, RefuseGarbage) {
  EXPECT_FALSE(parse_page_counters("nr_zspages many\n"));
}

// ---- size of the address space

TEST(KernelSpaceOfMeminfo, SumsTheDirectMapOverPageSizes) {
  base::Result<model::KernelSpace> space =
      parse_kernel_space(read_fixture("kernel-6.18/proc/meminfo"));
  ASSERT_TRUE(space) << space.error().what;
  EXPECT_EQ(space->vmalloc_total_bytes, 34359738367U * 1024);
  EXPECT_EQ(space->direct_map_bytes, (28672U + 2068480U + 25165824U) * 1024UL);
}

TEST(KernelSpaceOfMeminfo, LeavesUnreportedFieldsEmpty) {
  base::Result<model::KernelSpace> space = parse_kernel_space("MemFree: x\n");
  ASSERT_TRUE(space) << space.error().what;
  EXPECT_EQ(*space, model::KernelSpace());
}

TEST(KernelSpaceOfMeminfo, RefusesGarbage) {
  EXPECT_FALSE(parse_kernel_space("DirectMap4k: x kB\n"));
}

}  // namespace
}  // namespace tidemark::parse
