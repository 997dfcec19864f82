#include "model/guest_ram.h"

#include <gtest/gtest.h>

#include "unit/quantities.h"

namespace tidemark::model {
namespace {

using test::kMiB;

Mapping area(uint64_t start, uint64_t size_bytes, const std::string& name = "",
             uint64_t inode = 0, uint64_t offset = 0) {
  Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + size_bytes;
  mapping.permissions = {true, true, false, inode != 0};
  mapping.name = name;
  mapping.inode_id = inode;
  mapping.device_minor = inode != 0 ? 1 : 0;
  mapping.offset_bytes = offset;
  return mapping;
}

TEST(GuestRam, IsKnownByTheNameOfItsMemfd) {
  const FoundRam found = find_guest_ram(
      {area(0x1000, 512 * kMiB),
       area(0x7f0000000000, 256 * kMiB, "/memfd:crosvm_guest (deleted)", 7)},
      {});
  EXPECT_EQ(found.means, RamMeans::Name);
  EXPECT_EQ(found.indices, std::vector<size_t>{1});
  EXPECT_EQ(found.backing, "memfd crosvm_guest");
  EXPECT_EQ(found.configured_bytes, 256 * kMiB);
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].inode_id, 7U);
}

TEST(GuestRam, OfAMemfdMappedTwiceIsThereOnce) {
  const std::string name = "/memfd:ch_ram (deleted)";
  const FoundRam found =
      find_guest_ram({area(0x10000000, 64 * kMiB, name, 7),
                      area(0x20000000, 64 * kMiB, name, 7),
                      area(0x30000000, 32 * kMiB, name, 7, 64 * kMiB)},
                     {});
  EXPECT_EQ(found.configured_bytes, 96 * kMiB);
  EXPECT_EQ(found.objects.size(), 1U);
}

TEST(GuestRam, OfANameThatOnlyBeginsAlikeIsNone) {
  const FoundRam found = find_guest_ram(
      {area(0x10000000, kMiB, "/memfd:crosvm_guest_other (deleted)", 7)}, {});
  EXPECT_EQ(found.means, RamMeans::None);
}

TEST(GuestRam, IsAFileInAFolderOfTheCommandLine) {
  RamHints hints;
  hints.paths = {"/dev/hugepages/"};
  const FoundRam found =
      find_guest_ram({area(0x10000000, 64 * kMiB,
                           "/dev/hugepages/qemu_back_mem.m.X (deleted)", 9),
                      area(0x20000000, 64 * kMiB, "/dev/hugepages/other", 10)},
                     hints);
  EXPECT_EQ(found.indices, std::vector<size_t>{0});
}

TEST(GuestRam, IsAnAnonymousAreaOfExactlyItsSize) {
  RamHints hints;
  hints.total_bytes = 256 * kMiB;
  const FoundRam found = find_guest_ram(
      {area(0x10000000, 512 * kMiB), area(0x7f0000000000, 256 * kMiB)}, hints);
  EXPECT_EQ(found.means, RamMeans::Size);
  EXPECT_EQ(found.indices, std::vector<size_t>{1});
}

TEST(GuestRam, IsFoundWhereTheKernelHasSplitIt) {
  RamHints hints;
  hints.total_bytes = 3 * kMiB;
  const FoundRam found = find_guest_ram(
      {area(0x100000, kMiB), area(0x300000, kMiB), area(0x400000, 2 * kMiB)},
      hints);
  EXPECT_EQ(found.indices, (std::vector<size_t>{1, 2}));
}

TEST(GuestRam, OfSeveralBackendsIsAllOfThemOrNone) {
  RamHints hints;
  hints.total_bytes = 96 * kMiB;
  hints.part_bytes = {32 * kMiB, 64 * kMiB};
  const std::vector<Mapping> both = {area(0x10000000, 32 * kMiB),
                                     area(0x20000000, 64 * kMiB)};
  EXPECT_EQ(find_guest_ram(both, hints).indices, (std::vector<size_t>{0, 1}));
  const std::vector<Mapping> one = {area(0x10000000, 32 * kMiB)};
  EXPECT_EQ(find_guest_ram(one, hints).means, RamMeans::None);
}

TEST(GuestRam, IsGuessedOnlyWhereOneAreaIsMostOfAll) {
  const std::vector<Mapping> clear = {area(0x10000000, 300 * kMiB),
                                      area(0x40000000, 8 * kMiB)};
  EXPECT_EQ(find_guest_ram(clear, {}).means, RamMeans::Largest);
  const std::vector<Mapping> unclear = {area(0x10000000, 300 * kMiB),
                                        area(0x40000000, 300 * kMiB)};
  EXPECT_EQ(find_guest_ram(unclear, {}).means, RamMeans::None);
  EXPECT_EQ(find_guest_ram({area(0x10000000, 8 * kMiB)}, {}).means,
            RamMeans::None)
      << "that is a stack";
}

TEST(VmKind, IsKnownByTheProgramWithAndWithoutItsRelease) {
  EXPECT_EQ(vm_kind_of_program("qemu-system-x86_64"), VmKind::Qemu);
  EXPECT_EQ(vm_kind_of_program("firecracker-v1.13.1-x86_64"),
            VmKind::Firecracker);
  EXPECT_EQ(vm_kind_of_program("firecracker-containerd"), VmKind::Other);
  EXPECT_EQ(vm_kind_of_program("cloud-hypervisor-static"),
            VmKind::CloudHypervisor);
  EXPECT_EQ(vm_kind_of_program("qemu-img"), VmKind::Other);
}

TEST(GuestRam, LiesWhereTheMonitorTells) {
  RamHints hints;
  hints.total_bytes = 64 * kMiB;
  hints.blocks = {{64 * kMiB, 0x20000000}, {16 * kMiB, 0x50000000}};
  const FoundRam found =
      find_guest_ram({area(0x10000000, 64 * kMiB), area(0x20000000, 48 * kMiB),
                      area(0x23000000, 16 * kMiB), area(0x50000000, 16 * kMiB)},
                     hints);
  EXPECT_EQ(found.means, RamMeans::Block);
  EXPECT_EQ(found.indices, (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(found.configured_bytes, 80 * kMiB);
  EXPECT_EQ(found.backing, "anonymous memory");
}

TEST(GuestRam, OfBlocksWithoutAddressIsFoundByTheirSizes) {
  RamHints hints;
  hints.blocks = {{16 * kMiB, std::nullopt}, {16 * kMiB, 0x10000000}};
  const FoundRam found = find_guest_ram(
      {area(0x10000000, 16 * kMiB), area(0x30000000, 16 * kMiB)}, hints);
  EXPECT_EQ(found.means, RamMeans::Block);
  EXPECT_EQ(found.indices, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(are_same_blocks(found.areas, hints.blocks));
}

TEST(GuestRam, ThatHasANameInPartIsFoundWhole) {
  RamHints hints;
  hints.blocks = {{64 * kMiB, 0x10000000}, {16 * kMiB, std::nullopt}};
  const std::vector<Mapping> mappings = {
      area(0x10000000, 64 * kMiB),
      area(0x20000000, 16 * kMiB, "/memfd:memory-backend-memfd (deleted)", 7)};
  const FoundRam found = find_guest_ram(mappings, hints);
  EXPECT_EQ(found.means, RamMeans::Block);
  EXPECT_EQ(found.configured_bytes, 80 * kMiB);
  EXPECT_EQ(found.backing, "memfd memory-backend-memfd and anonymous memory");
  EXPECT_EQ(found.objects.size(), 1U);
  hints.blocks = {{16 * kMiB, std::nullopt}};
  EXPECT_EQ(find_guest_ram(mappings, hints).means, RamMeans::Name);
}

TEST(GuestRam, OfBlocksThatAreNotThereIsFoundAsBefore) {
  RamHints hints;
  hints.total_bytes = 64 * kMiB;
  hints.blocks = {{64 * kMiB, 0x30000000}};
  const std::vector<Mapping> mappings = {area(0x10000000, 64 * kMiB)};
  EXPECT_EQ(find_guest_ram(mappings, hints).means, RamMeans::Size);
  hints.blocks = {{0, std::nullopt}};
  EXPECT_EQ(find_guest_ram(mappings, hints).means, RamMeans::Size);
}

TEST(GuestRam, IsTheSameOnlyWithAllItsBlocks) {
  const std::vector<RamBlock> found = {{4, 100}, {4, 200}};
  EXPECT_TRUE(are_same_blocks(found, {{4, 200}, {4, std::nullopt}}));
  EXPECT_FALSE(are_same_blocks(found, {{4, 200}}));
  EXPECT_FALSE(are_same_blocks(found, {{4, 200}, {4, 200}}));
  EXPECT_FALSE(are_same_blocks(found, {{4, 200}, {8, std::nullopt}}));
}

}  // namespace
}  // namespace tidemark::model
