#include "parse/machine_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/fixture.h"
#include "unit/parse/truncation.h"

namespace tidemark::parse {
namespace {

using base::ErrorKind;
using model::CgroupVersion;
using model::GroupStat;
using model::MemInfo;
using model::ZoneInfo;
using test::read_fixture;

// ---- meminfo

TEST(MemInfo, ReadsARealOne) {
  base::Result<MemInfo> info =
      parse_meminfo(read_fixture("debian-6.1/proc/meminfo"));
  ASSERT_TRUE(info) << info.error().what;
  MemInfo expected;
  expected.total_bytes = 208720U * 1024;
  expected.free_bytes = 169828U * 1024;
  expected.available_bytes = 173240U * 1024;
  expected.buffers_bytes = 0;
  expected.cached_bytes = 3728U * 1024;
  expected.swap_cached_bytes = 0;
  expected.swap_total_bytes = 0;
  expected.swap_free_bytes = 0;
  expected.zswap_bytes = 0;
  expected.anon_pages_bytes = 8400U * 1024;
  expected.mapped_bytes = 2376U * 1024;
  expected.shmem_bytes = 3728U * 1024;
  expected.slab_reclaimable_bytes = 9008U * 1024;
  expected.slab_unreclaimable_bytes = 6720U * 1024;
  expected.kernel_stack_bytes = 768U * 1024;
  expected.page_tables_bytes = 120U * 1024;
  expected.secondary_page_tables_bytes = 0;
  expected.vmalloc_used_bytes = 8172U * 1024;
  expected.percpu_bytes = 260U * 1024;
  expected.hugetlb_bytes = 0;
  expected.huge_page_size_bytes = 2048U * 1024;
  EXPECT_TRUE(*info == expected);
}

TEST(MemInfo, LeavesUnreportedFieldsEmpty) {
  base::Result<MemInfo> info = parse_meminfo("MemTotal: 1 kB\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->total_bytes, 1024U);
  EXPECT_FALSE(info->available_bytes) << "absent must not read as zero";
}

TEST(MemInfo, SkipsUnknownLabels) {
  base::Result<MemInfo> info = parse_meminfo(
      "NewCounter: lots\nHugePages_Total:       0\n\nMemFree: 2 kB");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->free_bytes, 2048U);
}

TEST(MemInfo, RefusesAKnownLabelWithGarbage) {
  for (const char* line :
       {"MemFree: lots kB", "MemFree:", "MemFree: 1", "MemFree: 1 MB",
        "MemFree: -1 kB", "MemFree: 18014398509481984 kB"}) {
    base::Result<MemInfo> info =
        parse_meminfo("MemTotal: 1 kB\n" + std::string(line) + "\n");
    ASSERT_FALSE(info) << line;
    EXPECT_EQ(info.error().what,
              "meminfo: cannot read '" + std::string(line) + "'");
  }
}

TEST(MemInfo, OfNothingKnowsNothing) {
  base::Result<MemInfo> info = parse_meminfo("");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_TRUE(*info == MemInfo());
}

TEST(MemInfo, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(read_fixture("host-6.18/proc/meminfo"),
                                   "meminfo", parse_meminfo);
}

// ---- zoneinfo

TEST(ZoneInfo, SumsOverTheZonesOfARealOne) {
  base::Result<ZoneInfo> info =
      parse_zoneinfo(read_fixture("debian-6.12/proc/zoneinfo"));
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(*info, (ZoneInfo{3808 + 41828, 193, 3840 + 50101}));
}

TEST(ZoneInfo, SumsOverProcessors) {
  base::Result<ZoneInfo> info = parse_zoneinfo(
      "Node 0, zone   Normal\n"
      "  pages free     100\n"
      "        managed  200\n"
      "      nr_free_pages 100\n"
      "  pagesets\n"
      "    cpu: 0\n"
      "              count: 7\n"
      "              high:  42\n"
      "    cpu: 1\n"
      "              count: 8\n");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(*info, (ZoneInfo{100, 15, 200}));
}

TEST(ZoneInfo, RefusesAKnownLabelWithGarbage) {
  for (const char* line : {"  pages free     many", "        managed  ",
                           "              count: -1"}) {
    base::Result<ZoneInfo> info = parse_zoneinfo(line);
    ASSERT_FALSE(info) << line;
    EXPECT_EQ(info.error().what,
              "zoneinfo: cannot read '" + std::string(line) + "'");
  }
}

TEST(ZoneInfo, OfNothingIsZero) {
  base::Result<ZoneInfo> info = parse_zoneinfo("");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(*info, ZoneInfo());
}

TEST(ZoneInfo, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(read_fixture("debian-6.12/proc/zoneinfo"),
                                   "zoneinfo", parse_zoneinfo);
}

// ---- vmstat

constexpr std::string_view kVmStatText =
    "nr_free_pages 1000\n"
    "allocstall_dma 1\nallocstall_normal 2\nallocstall_movable 3\n"
    "pswpin 4\npswpout 5\npgfault 600\npgmajfault 7\n"
    "pgsteal_kswapd 10\npgsteal_direct 20\npgsteal_khugepaged 1\n"
    "pgscan_kswapd 30\npgscan_direct 40\npgscan_khugepaged 2\n"
    "pgscan_direct_throttle 9\npgscan_anon 50\npgscan_file 22\n"
    "pgsteal_anon 11\npgsteal_file 20\noom_kill 8\ncompact_stall 12\n"
    "workingset_refault_anon 13\nworkingset_refault_file 14\n"
    "thp_fault_alloc 15\nthp_fault_fallback 99\n";

TEST(VmStat, ReadsEventsAndSumsFamilies) {
  base::Result<model::VmStat> stat = parse_vmstat(kVmStatText);
  ASSERT_TRUE(stat) << stat.error().what;
  model::VmStat expected;
  expected.fault_count = 600;
  expected.major_fault_count = 7;
  expected.swapped_in_pages = 4;
  expected.swapped_out_pages = 5;
  expected.scanned_pages = 72;
  expected.reclaimed_pages = 31;
  expected.stall_count = 6;
  expected.refault_anon_pages = 13;
  expected.refault_file_pages = 14;
  expected.huge_fault_count = 15;
  expected.compact_stall_count = 12;
  expected.oom_kill_count = 8;
  EXPECT_EQ(*stat, expected);
}

TEST(VmStat, CountsPagesOnceThoughTheyAreListedTwice) {
  base::Result<model::VmStat> stat = parse_vmstat(kVmStatText);
  EXPECT_EQ(stat->scanned_pages, 50U + 22)
      << "anon and file are the same pages";
}

TEST(VmStat, LeavesUnreportedEventsEmpty) {
  base::Result<model::VmStat> stat = parse_vmstat("pgfault 1\n");
  ASSERT_TRUE(stat);
  EXPECT_FALSE(stat->oom_kill_count) << "absent must not read as zero";
  EXPECT_EQ(*parse_vmstat(""), model::VmStat());
}

TEST(VmStat, RefusesAKnownLabelWithGarbage) {
  for (const char* text : {"pgfault x\n", "pgscan_kswapd\n", "oom_kill -1\n"}) {
    base::Result<model::VmStat> stat = parse_vmstat(text);
    ASSERT_FALSE(stat) << text;
    EXPECT_EQ(stat.error().kind, ErrorKind::Malformed);
  }
}

TEST(VmStat, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(kVmStatText, "vmstat", parse_vmstat);
}

// ---- pressure

constexpr std::string_view kPressureText =
    "some avg10=0.12 avg60=0.05 avg300=0.01 total=123456\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=789\n";

TEST(Pressure, ReadsTheTotals) {
  base::Result<model::Pressure> pressure = parse_pressure(kPressureText);
  ASSERT_TRUE(pressure) << pressure.error().what;
  EXPECT_EQ(pressure->some_ns, 123456000U);
  EXPECT_EQ(pressure->full_ns, 789000U);
}

TEST(Pressure, LeavesFullEmptyWhereItIsMissing) {
  base::Result<model::Pressure> pressure =
      parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
  ASSERT_TRUE(pressure);
  EXPECT_EQ(pressure->some_ns, 5000U);
  EXPECT_FALSE(pressure->full_ns);
}

TEST(Pressure, RefusesGarbageAndOverflow) {
  for (const char* text : {"some avg10=0.00\n", "some total=x\n",
                           "full total=18446744073709551615\n"}) {
    EXPECT_FALSE(parse_pressure(text)) << text;
  }
}

TEST(Pressure, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(kPressureText, "pressure", parse_pressure);
}

// ---- zram

TEST(Zram, ReadsWhatIsStoredAndWhatItTakes) {
  base::Result<model::Zram> zram = parse_zram(
      "  4096000  1024000  1228800        0  1300000      250        0     "
      "0\n");
  ASSERT_TRUE(zram) << zram.error().what;
  EXPECT_EQ(zram->stored_bytes, 4096000U);
  EXPECT_EQ(zram->memory_bytes, 1228800U);
}

TEST(Zram, RefusesAShortLine) {
  EXPECT_FALSE(parse_zram(""));
  EXPECT_FALSE(parse_zram("4096 1024\n"));
  EXPECT_FALSE(parse_zram("4096 1024 x\n"));
}

// ---- mountinfo

Mount mount_of(std::string_view line) {
  base::Result<std::vector<Mount>> mounts = parse_mountinfo(line);
  EXPECT_TRUE(mounts) << mounts.error().what;
  if (!mounts || mounts->size() != 1) return {};
  return mounts->front();
}

TEST(MountInfo, ReadsALine) {
  EXPECT_EQ(mount_of("51 47 0:32 /docker/x /sys/fs/cgroup/memory rw,relatime "
                     "- cgroup cgroup rw,memory\n"),
            (Mount{0, 32, "/docker/x", "/sys/fs/cgroup/memory", "cgroup",
                   "rw,memory"}));
}

TEST(MountInfo, SkipsAnyNumberOfOptionalFields) {
  EXPECT_EQ(mount_of("1 2 8:1 / /mnt rw shared:1 master:2 unbindable - ext4 "
                     "/dev/sda1 rw,discard\n"),
            (Mount{8, 1, "/", "/mnt", "ext4", "rw,discard"}));
}

TEST(MountInfo, UndoesOctalEscapes) {
  const Mount mount = mount_of(
      "1 2 0:40 /a\\040b /two\\040words\\011tab\\012line\\134slash rw - tmpfs "
      "a\\040b rw\n");
  EXPECT_EQ(mount.root, "/a b");
  EXPECT_EQ(mount.mount_point, "/two words\ttab\nline\\slash");
  EXPECT_EQ(mount.super_options, "rw");
}

TEST(MountInfo, LeavesABackslashThatIsNoEscape) {
  EXPECT_EQ(mount_of("1 2 0:40 / /a\\09 rw - tmpfs x rw\n").mount_point,
            "/a\\09");
  EXPECT_EQ(mount_of("1 2 0:40 / /a\\400 rw - tmpfs x rw\n").mount_point,
            "/a\\400")
      << "more than a byte";
}

TEST(MountInfo, ReadsAMountWithoutASource) {
  // mount -t tmpfs "" /mnt, as kernel 6.18 prints it.
  EXPECT_EQ(mount_of("63 43 0:39 / /mnt rw,relatime - tmpfs  rw\n"),
            (Mount{0, 39, "/", "/mnt", "tmpfs", "rw"}));
}

TEST(MountInfo, ReadsAMountPointThatIsADash) {
  EXPECT_EQ(mount_of("63 43 0:39 / - rw - tmpfs x rw\n").mount_point, "-");
}

TEST(MountInfo, FindsTheMemoryHierarchyOfARealSystem) {
  base::Result<std::vector<Mount>> mounts =
      parse_mountinfo(read_fixture("host-6.18/proc/3/mountinfo"));
  ASSERT_TRUE(mounts) << mounts.error().what;
  const Mount memory{0,        32,         "/", "/sys/fs/cgroup/memory",
                     "cgroup", "rw,memory"};
  EXPECT_NE(std::find(mounts->begin(), mounts->end(), memory), mounts->end());
}

TEST(MountInfo, OfNothingIsNothing) {
  base::Result<std::vector<Mount>> mounts = parse_mountinfo("");
  ASSERT_TRUE(mounts) << mounts.error().what;
  EXPECT_TRUE(mounts->empty());
}

TEST(MountInfo, RefusesWhatIsNoMount) {
  for (const char* line : {
           "\n",
           "1 2",
           "1 2 x:1 / /mnt rw - tmpfs x rw",
           "1 2 0 / /mnt rw - tmpfs x rw",
           "1 2 4294967296:0 / /mnt rw - tmpfs x rw",
           "1 2 0:1 / /mnt rw tmpfs x rw",
           "1 2 0:1 / /mnt rw -",
           "1 2 0:1 / /mnt rw - ",
       }) {
    base::Result<std::vector<Mount>> mounts = parse_mountinfo(line);
    ASSERT_FALSE(mounts) << line;
    EXPECT_EQ(mounts.error().kind, ErrorKind::Malformed);
  }
}

TEST(MountInfo, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(
      "51 47 0:32 /a\\040b /sys/fs/cgroup/memory rw shared:7 - cgroup cgroup "
      "rw,memory\n"
      "52 47 8:1 / /mnt\\134 rw - ext4 /dev/sda1 rw\n",
      "mountinfo", parse_mountinfo);
}

// ---- cgroup numbers

TEST(CgroupNumber, ReadsBytes) {
  base::Result<std::optional<uint64_t>> number = parse_cgroup_number(
      read_fixture("debian-6.12/cgroup/app/memory.current"));
  ASSERT_TRUE(number) << number.error().what;
  EXPECT_EQ(*number, 8634368U);
}

TEST(CgroupNumber, TakesMaxAsNoLimit) {
  base::Result<std::optional<uint64_t>> number =
      parse_cgroup_number(read_fixture("debian-6.12/cgroup/app/memory.max"));
  ASSERT_TRUE(number) << number.error().what;
  EXPECT_FALSE(*number);
}

TEST(CgroupNumber, TakesTheLargestOfV1AsNoLimit) {
  // 2^63 - 4096
  base::Result<std::optional<uint64_t>> number =
      parse_cgroup_number("9223372036854771712\n");
  ASSERT_TRUE(number) << number.error().what;
  EXPECT_FALSE(*number);
}

TEST(CgroupNumber, TakesALargeLimitAsALimit) {
  base::Result<std::optional<uint64_t>> number =
      parse_cgroup_number("1099511627776\n");
  ASSERT_TRUE(number) << number.error().what;
  EXPECT_EQ(*number, 1099511627776U);
}

TEST(CgroupNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "\n", "-1\n", "4k\n", "1 2\n", "maximum\n",
                           "18446744073709551616\n"}) {
    base::Result<std::optional<uint64_t>> number = parse_cgroup_number(text);
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().kind, ErrorKind::Malformed);
  }
}

// ---- memory.stat

GroupStat stat_of(std::string_view text, CgroupVersion version) {
  base::Result<GroupStat> stat = parse_group_stat(text, version);
  EXPECT_TRUE(stat) << stat.error().what;
  return stat ? *stat : GroupStat();
}

TEST(GroupStat, ReadsARealOneOfV2) {
  GroupStat expected;
  expected.anon_bytes = 8441856;
  expected.file_bytes = 0;
  expected.shmem_bytes = 0;
  expected.file_mapped_bytes = 0;
  expected.kernel_bytes = 77824;
  expected.slab_bytes = 4136;
  expected.page_tables_bytes = 57344;
  expected.kernel_stack_bytes = 0;
  expected.percpu_bytes = 0;
  expected.socket_bytes = 0;
  expected.vmalloc_bytes = 0;
  EXPECT_EQ(stat_of(read_fixture("debian-6.12/cgroup/app/memory.stat"),
                    CgroupVersion::V2),
            expected);
}

TEST(GroupStat, ReadsARealOneOfV1) {
  GroupStat expected;
  expected.anon_bytes = 2256896;
  expected.file_bytes = 204800;
  expected.shmem_bytes = 167936;
  expected.file_mapped_bytes = 180224;
  expected.swap_bytes = 0;
  EXPECT_EQ(stat_of(read_fixture("host-6.18/cgroup/memory/app/memory.stat"),
                    CgroupVersion::V1),
            expected)
      << "of kernel memory it tells nothing";
}

// The command may make groups of its own below ours.
TEST(GroupStat, OfV1IncludesTheGroupsBelow) {
  const GroupStat stat = stat_of(
      "cache 8224768\nrss 663552\nshmem 0\ntotal_cache 10117709824\n"
      "total_rss 1331695616\ntotal_shmem 2191360\n",
      CgroupVersion::V1);
  EXPECT_EQ(stat.anon_bytes, 1331695616U);
  EXPECT_EQ(stat.file_bytes, 10117709824U);
  EXPECT_EQ(stat.shmem_bytes, 2191360U);
}

TEST(GroupStat, LeavesUnreportedFieldsEmpty) {
  const GroupStat stat = stat_of("anon 4096\n", CgroupVersion::V2);
  EXPECT_EQ(stat.anon_bytes, 4096U);
  EXPECT_FALSE(stat.kernel_bytes) << "before 5.18; absent must not be zero";
}

TEST(GroupStat, ReadsTheNamesOfItsVersionOnly) {
  const char* const text = "anon 1\nkernel 2\ntotal_rss 3\ntotal_swap 4\n";
  EXPECT_EQ(stat_of(text, CgroupVersion::V1).anon_bytes, 3U);
  EXPECT_EQ(stat_of(text, CgroupVersion::V1).kernel_bytes, std::nullopt);
  EXPECT_EQ(stat_of(text, CgroupVersion::V2).anon_bytes, 1U);
  EXPECT_EQ(stat_of(text, CgroupVersion::V2).swap_bytes, std::nullopt);
}

TEST(GroupStat, SkipsUnknownLines) {
  EXPECT_EQ(stat_of("\nnew_counter many\nslab_reclaimable -5\n \nslab 7",
                    CgroupVersion::V2)
                .slab_bytes,
            7U);
}

TEST(GroupStat, RefusesAKnownLabelWithGarbage) {
  for (const char* line : {"anon lots", "anon", "anon ", "anon -1", "anon 4k",
                           "anon 1 2", "anon 18446744073709551616"}) {
    base::Result<GroupStat> stat = parse_group_stat(
        "file 1\n" + std::string(line) + "\n", CgroupVersion::V2);
    ASSERT_FALSE(stat) << line;
    EXPECT_EQ(stat.error().kind, ErrorKind::Malformed);
    EXPECT_EQ(stat.error().what,
              "memory.stat: cannot read '" + std::string(line) + "'");
  }
}

TEST(GroupStat, OfNothingKnowsNothing) {
  EXPECT_EQ(stat_of("", CgroupVersion::V1), GroupStat());
  EXPECT_EQ(stat_of("", CgroupVersion::V2), GroupStat());
}

TEST(GroupStat, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(
      read_fixture("debian-6.1/cgroup/app/memory.stat"), "memory.stat",
      [](std::string_view text) {
        return parse_group_stat(text, CgroupVersion::V2);
      });
  test::expect_survives_truncation(
      read_fixture("host-6.18/cgroup/memory/app/memory.stat"), "memory.stat",
      [](std::string_view text) {
        return parse_group_stat(text, CgroupVersion::V1);
      });
}

TEST(ListsController, FindsAWholeWord) {
  EXPECT_TRUE(lists_controller("cpuset cpu io memory pids\n", "memory"));
  EXPECT_TRUE(lists_controller("memory\n", "memory"));
  EXPECT_FALSE(lists_controller("cpu hugetlb memory2\n", "memory"));
  EXPECT_FALSE(lists_controller("", "memory"));
  EXPECT_FALSE(lists_controller("\n", ""));
}

// ---- passwd

TEST(Passwd, ReadsNamesById) {
  const std::vector<UserName> users = parse_passwd(
      "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false");
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0].user_id, 0U);
  EXPECT_EQ(users[0].name, "root");
  EXPECT_EQ(users[1].user_id, 65534U);
  EXPECT_EQ(users[1].name, "nobody");
}

TEST(Passwd, SkipsLinesThatAreNoUser) {
  const std::vector<UserName> users = parse_passwd(
      "# comment\n\n+::::::\nbad:x:abc:0::/:\nbig:x:4294967296:0::/:\n:x:5:\n"
      "ok:x:7:7::/:/bin/sh\n");
  ASSERT_EQ(users.size(), 1U);
  EXPECT_EQ(users[0].name, "ok");
}

}  // namespace
}  // namespace tidemark::parse
