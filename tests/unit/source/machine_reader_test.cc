#include "source/machine_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::DeviceNumber;
using model::Machine;
using test::fixture_roots;
using test::TemporaryTree;

base::Result<Machine> read(const Roots& roots) {
  return read_machine(roots, CgroupHierarchy::find(roots));
}

TEST(Machine, ReadsACapturedTree) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  base::Result<Machine> machine = read(roots);
  ASSERT_TRUE(machine) << machine.error().what;
  EXPECT_EQ(machine->meminfo.total_bytes, 208720U * 1024);
  ASSERT_TRUE(machine->zoneinfo);
  EXPECT_EQ(machine->zoneinfo->per_cpu_free_pages, 55U);
  EXPECT_EQ(machine->zoneinfo->managed_pages, 3840U + 48340U);
  EXPECT_EQ(machine->cgroup_version, model::CgroupVersion::V2);
}

TEST(Machine, NeedsMeminfo) {
  TemporaryTree tree;
  const Roots roots = tree.roots();
  base::Result<Machine> machine = read(roots);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(machine.error().what,
            tree.path("meminfo") + ": No such file or directory");
}

TEST(Machine, RefusesMeminfoThatCannotBeParsed) {
  TemporaryTree tree;
  tree.add("meminfo", "MemTotal: lots kB\n");
  const Roots roots = tree.roots();
  base::Result<Machine> machine = read(roots);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().what,
            tree.path() + ": meminfo: cannot read 'MemTotal: lots kB'");
}

TEST(Machine, WithoutZoneinfoLosesOnlyThat) {
  for (const char* zoneinfo : {"", "managed lots\n"}) {
    TemporaryTree tree;
    tree.add("meminfo", "MemTotal: 4 kB\n");
    if (*zoneinfo) tree.add("zoneinfo", zoneinfo);
    const Roots roots = tree.roots();
    base::Result<Machine> machine = read(roots);
    ASSERT_TRUE(machine) << machine.error().what;
    EXPECT_EQ(machine->meminfo.total_bytes, 4096U);
    EXPECT_FALSE(machine->zoneinfo);
  }
}

TEST(Machine, SaysWhyItHasNoGroups) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  const Roots roots = tree.roots();
  base::Result<Machine> machine = read(roots);
  ASSERT_TRUE(machine) << machine.error().what;
  EXPECT_EQ(machine->cgroup_version, model::CgroupVersion::None);
  EXPECT_EQ(machine->cgroup_note,
            "no cgroup tree with memory files beside " + tree.path());
}

TEST(Machine, OfACopiedTreeHasTheUsualPages) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  const Roots roots = tree.roots();
  base::Result<Machine> machine = read(roots);
  ASSERT_TRUE(machine) << machine.error().what;
  EXPECT_EQ(machine->page_size_bytes, 4096U);
}

TEST(Machine, OfTheRunningKernelHasItsPages) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  const Roots roots = tree.live_roots();
  base::Result<Machine> machine = read(roots);
  ASSERT_TRUE(machine) << machine.error().what;
  EXPECT_EQ(machine->page_size_bytes,
            static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
}

// ---- devices of tmpfs

TEST(MemoryDevices, AreTheTmpfsOfTheProcess) {
  const Roots roots = fixture_roots("host-6.18/proc");
  EXPECT_EQ(read_memory_devices(roots, 3),
            (std::vector<DeviceNumber>{{0, 28}, {0, 23}, {0, 27}}));
}

TEST(MemoryDevices, HoldRamfsAndTheUnpackedInitramfs) {
  TemporaryTree tree;
  tree.add("7/mountinfo",
           "1 0 0:2 / / rw - rootfs rootfs rw\n"
           "2 1 0:9 / /run rw - ramfs ramfs rw\n"
           "3 1 254:0 / /srv rw - ext4 /dev/vda rw\n");
  const Roots roots = tree.roots();
  EXPECT_EQ(read_memory_devices(roots, 7),
            (std::vector<DeviceNumber>{{0, 2}, {0, 9}}));
}

TEST(MemoryDevices, AreOurOwnWhereThoseOfTheProcessAreUnknown) {
  TemporaryTree tree;
  tree.add("self/mountinfo", "1 0 0:5 / / rw - tmpfs tmpfs rw\n");
  const Roots roots = tree.roots();
  EXPECT_EQ(read_memory_devices(roots, 7), (std::vector<DeviceNumber>{{0, 5}}));
}

TEST(MemoryDevices, AreNoneWithoutMountinfo) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_TRUE(read_memory_devices(roots, 110).empty());
}

TEST(MemoryDevices, AreNoneWhereMountinfoCannotBeParsed) {
  TemporaryTree tree;
  tree.add("7/mountinfo", "garbage\n");
  const Roots roots = tree.roots();
  EXPECT_TRUE(read_memory_devices(roots, 7).empty());
}

// ---- users

TEST(UserNames, OfACopiedTreeAreNotOurs) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_TRUE(read_user_names(roots).empty());
}

}  // namespace
}  // namespace tidemark::source
