#include "parse/object_files.h"

#include <gtest/gtest.h>

#include "unit/parse/truncation.h"

namespace tidemark::parse {
namespace {

using Type = DescriptorLink::Type;

constexpr const char* kHead =
    "       key      shmid perms                  size  cpid  lpid nattch   uid"
    "   gid  cuid  cgid      atime      dtime      ctime                   rss"
    "                  swap\n";

TEST(DescriptorLink, TellsNumberedThingsByTheirNumber) {
  EXPECT_EQ(parse_descriptor_link("socket:[1968827]"),
            (DescriptorLink{Type::Socket, 1968827, "socket:[1968827]"}));
  EXPECT_EQ(parse_descriptor_link("pipe:[12]").type, Type::Pipe);
  EXPECT_EQ(parse_descriptor_link("net:[4026531840]"),
            (DescriptorLink{Type::Namespace, 4026531840, "net"}));
}

TEST(DescriptorLink, TellsTheTypeOfAnonymousInodes) {
  EXPECT_EQ(parse_descriptor_link("anon_inode:[eventfd]").name, "eventfd");
  EXPECT_EQ(parse_descriptor_link("anon_inode:bpf-map").name, "bpf-map");
  EXPECT_EQ(parse_descriptor_link("anon_inode:kvm-vcpu:0").name, "kvm-vcpu");
}

TEST(DescriptorLink, APathStaysAPathWhateverItIsCalled) {
  EXPECT_EQ(parse_descriptor_link("/socket:[7]").type, Type::Path);
  EXPECT_EQ(parse_descriptor_link("socket:[7").type, Type::Other);
  EXPECT_EQ(parse_descriptor_link("socket:[-7]").type, Type::Other);
  EXPECT_EQ(parse_descriptor_link("").type, Type::Other);
}

TEST(ObjectFdInfo, ReadsTheSizeOfABpfMap) {
  base::Result<ObjectFdInfo> info = parse_object_fdinfo(
      "pos:\t0\nflags:\t02\nmap_type:\t2\nkey_size:\t4\nvalue_size:\t4096\n"
      "max_entries:\t83\nmemlock:\t340272\nmap_id:\t87509\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->memlock_bytes, 340272);
  EXPECT_EQ(info->map_id, 87509);
  EXPECT_EQ(info->entry_count, 83);
  EXPECT_FALSE(info->program_id);
}

TEST(ObjectFdInfo, ReadsRingsInHexadecimal) {
  base::Result<ObjectFdInfo> info =
      parse_object_fdinfo("SqMask:\t0x1ff\nSqHead:\t0\nCqMask:\t0x3ff\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->submission_mask, 511);
  EXPECT_EQ(info->completion_mask, 1023);
}

TEST(ObjectFdInfo, RefusesAnUnreadableNumber) {
  EXPECT_FALSE(parse_object_fdinfo("memlock:\tmuch\n"));
  EXPECT_FALSE(parse_object_fdinfo("size:\t-1\n"));
}

TEST(ObjectFdInfo, SurvivesTruncation) {
  test::expect_survives_truncation("memlock:\t340272\nmap_id:\t87509\n",
                                   "fdinfo", parse_object_fdinfo);
}

TEST(SysvTable, ReadsWhatIsResidentAndWhatIsSwapped) {
  base::Result<std::vector<SysvSegment>> table = parse_sysvipc_shm(
      std::string(kHead) +
      "-559038737  20   600  290816  5447  5447  0  0  0  0  0  1  2  3  "
      "286720  4096\n");
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_EQ(table->size(), 1);
  EXPECT_EQ(table->front(),
            (SysvSegment{0xdeadbeef, 20, 290816, 0, 5447, 286720, 4096}));
}

TEST(SysvTable, LeavesMissingColumnsEmpty) {
  base::Result<std::vector<SysvSegment>> table =
      parse_sysvipc_shm("key shmid size nattch\n0 3 4096 1\n");
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_FALSE(table->front().rss_bytes) << "absent must not read as zero";
  EXPECT_EQ(table->front().attach_count, 1);
}

TEST(SysvTable, HeadAloneIsAnEmptyTable) {
  base::Result<std::vector<SysvSegment>> table = parse_sysvipc_shm(kHead);
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_TRUE(table->empty());
}

TEST(SysvTable, RefusesALineThatIsNoNumber) {
  EXPECT_FALSE(parse_sysvipc_shm("key shmid\n0 three\n"));
  EXPECT_FALSE(parse_sysvipc_shm("key shmid\n0 -3\n"));
  EXPECT_FALSE(parse_sysvipc_shm("key\n0\n")) << "no id, no segment";
}

TEST(SysvTable, SurvivesTruncation) {
  test::expect_survives_truncation(std::string(kHead) +
                                       "0 20 600 290816 5447 5447 0 0 0 0 0 1 "
                                       "2 3 286720 4096\n",
                                   "sysvipc/shm", parse_sysvipc_shm);
}

}  // namespace
}  // namespace tidemark::parse
