#include "model/mapping.h"

#include <gtest/gtest.h>

#include <set>

namespace tidemark::model {
namespace {

TEST(VmFlagBit, IsOneBitOfItsOwnForEachCode) {
  std::set<uint64_t> bits;
  for (std::string_view name : kVmFlagNames) {
    const uint64_t bit = vm_flag_bit(name);
    EXPECT_EQ(bit & (bit - 1), 0U) << name;
    EXPECT_NE(bit, kVmFlagOther) << name;
    bits.insert(bit);
  }
  EXPECT_EQ(bits.size(), kVmFlagCount);
}

TEST(VmFlagBit, FollowsTheOrderOfTheNames) {
  EXPECT_EQ(vm_flag_bit("rd"), 1U);
  EXPECT_EQ(vm_flag_bit("wr"), 2U);
  EXPECT_EQ(vm_flag_bit("ex"), 4U);
}

TEST(VmFlagBit, KeepsUnknownCodesTogether) {
  EXPECT_EQ(vm_flag_bit("zz"), kVmFlagOther);
  EXPECT_EQ(vm_flag_bit(""), kVmFlagOther);
  EXPECT_EQ(vm_flag_bit("rdx"), kVmFlagOther);
}

TEST(Mapping, SizeIsTheDistanceOfItsAddresses) {
  Mapping mapping;
  mapping.start_address = 0xffffffffff600000;
  mapping.end_address = 0xffffffffff601000;
  EXPECT_EQ(mapping.size_bytes(), 4096U);
}

TEST(Mapping, IsAFileWhenItHasAnInode) {
  Mapping mapping;
  EXPECT_FALSE(mapping.is_file());
  mapping.inode_id = 7;
  EXPECT_TRUE(mapping.is_file());
}

TEST(Mapping, IsInaccessibleWithoutAnyPermission) {
  Mapping mapping;
  EXPECT_TRUE(mapping.is_inaccessible());
  mapping.permissions.shared = true;
  EXPECT_TRUE(mapping.is_inaccessible()) << "sharing is no access";
  mapping.permissions.execute = true;
  EXPECT_FALSE(mapping.is_inaccessible()) << "vsyscall is execute only";
}

}  // namespace
}  // namespace tidemark::model
