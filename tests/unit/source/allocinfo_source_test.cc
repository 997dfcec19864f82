#include "source/allocinfo_source.h"

#include <gtest/gtest.h>

#include "unit/fixture.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::OrdinaryUser;
using test::TemporaryTree;

TEST(AllocinfoSource, ReadsTheFileAndRamInUse) {
  const TemporaryTree tree;
  tree.add("allocinfo", test::read_fixture("allocinfo/linux-6.12.txt"));
  tree.add("meminfo", "MemTotal: 100 kB\nMemFree: 40 kB\n");
  tree.add("sys/vm/mem_profiling", "1\n");
  const base::Result<model::AllocationReading> reading =
      read_allocinfo(tree.roots());
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(reading->sites.size(), 76U);
  EXPECT_EQ(reading->used_bytes, 60U * 1024);
  EXPECT_NE(reading->realtime_ns, 0U);
  EXPECT_TRUE(reading->notes.empty());
}

TEST(AllocinfoSource, SaysThatCountingIsOff) {
  const TemporaryTree tree;
  tree.add("allocinfo", "allocinfo - version: 1.0\n");
  tree.add("sys/vm/mem_profiling", "0\n");
  const base::Result<model::AllocationReading> reading =
      read_allocinfo(tree.roots());
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(reading->used_bytes, 0U);
  ASSERT_EQ(reading->notes.size(), 1U);
  EXPECT_EQ(reading->notes[0],
            "vm.mem_profiling is 0: what is taken now is not counted");
}

TEST(AllocinfoSource, SaysWhatAKernelWithoutItNeeds) {
  const TemporaryTree tree;
  const base::Result<model::AllocationReading> reading =
      read_allocinfo(tree.roots());
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().kind, base::ErrorKind::Unsupported);
  EXPECT_EQ(reading.error().hint,
            "CONFIG_MEM_ALLOC_PROFILING, sysctl vm.mem_profiling=1");
}

TEST(AllocinfoSource, SaysWhoMayRead) {
  TemporaryTree tree;
  tree.add("allocinfo", "");
  tree.deny("allocinfo");
  const Roots roots = tree.roots();
  const OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root cannot become another user here";
  const base::Result<model::AllocationReading> reading = read_allocinfo(roots);
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().kind, base::ErrorKind::Denied);
  EXPECT_EQ(reading.error().hint, "run as root");
}

TEST(AllocinfoSource, NamesTheTreeOfATextItCannotRead) {
  const TemporaryTree tree;
  tree.add("allocinfo", "allocinfo - version: 9.9\n");
  const base::Result<model::AllocationReading> reading =
      read_allocinfo(tree.roots());
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().kind, base::ErrorKind::Unsupported);
  EXPECT_TRUE(reading.error().what.starts_with(tree.path() + ": allocinfo"));
}

}  // namespace
}  // namespace tidemark::source
