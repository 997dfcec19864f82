#include "source/target/memory_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "unit/child.h"
#include "unit/fixture.h"
#include "unit/quantities.h"
#include "unit/source/target/groups.h"

namespace tidemark::source {
namespace {

using model::CgroupVersion;
using test::Child;
using test::Line;
using test::PlannedGroup;
using test::TemporaryTree;

using test::kMiB;

// ---- captured groups --------------------------------------------------------

GroupPlace place_of(CgroupVersion version, const std::string& directory) {
  GroupPlace place;
  place.version = version;
  place.directory = directory;
  return place;
}

MemoryGroup opened(const GroupPlace& place) {
  base::Result<MemoryGroup> group = MemoryGroup::open(place);
  EXPECT_TRUE(group) << group.error().what;
  return std::move(*group);
}

MemoryGroup captured(CgroupVersion version, const std::string& path) {
  return opened(place_of(version, test::fixture_path(path)));
}

TEST(MemoryGroup, ReadsTheAccountOfV2) {
  const MemoryGroup group =
      captured(CgroupVersion::V2, "debian-6.12/cgroup/app");
  EXPECT_EQ(group.charged_bytes(), 8634368U);
  EXPECT_EQ(group.peak_name(), "memory.peak");
  EXPECT_GE(group.peak_bytes().value_or(0), 8634368U);
  const model::GroupStat stat = group.stat();
  EXPECT_EQ(stat.anon_bytes, 8441856U);
  EXPECT_EQ(stat.kernel_bytes, 77824U);
  EXPECT_EQ(stat.swap_bytes, 0U) << "from memory.swap.current";
}

TEST(MemoryGroup, ReadsTheAccountOfV1) {
  const MemoryGroup group =
      captured(CgroupVersion::V1, "host-6.18/cgroup/memory/app");
  EXPECT_EQ(group.peak_name(), "memory.max_usage_in_bytes");
  EXPECT_GE(group.peak_bytes().value_or(0), group.charged_bytes().value_or(1));
  EXPECT_EQ(group.stat().file_bytes, 204800U);
}

TEST(MemoryGroup, OfV1HasItsKernelMemoryFromAFileOfItsOwn) {
  const TemporaryTree tree;
  tree.add("group/memory.usage_in_bytes", "9000\n");
  tree.add("group/memory.stat", "total_rss 4096\n");
  tree.add("group/memory.kmem.usage_in_bytes", "777\n");
  const MemoryGroup group =
      opened(place_of(CgroupVersion::V1, tree.path("group")));
  EXPECT_EQ(group.stat().kernel_bytes, 777U);
  EXPECT_EQ(group.swap_peak_bytes(), std::nullopt)
      << "its mark is of memory and swap together";
}

TEST(MemoryGroup, KnowsNoPeakBeforeTheKernelKeptOne) {
  const TemporaryTree tree;
  tree.add("group/memory.current", "9000\n");
  const MemoryGroup group =
      opened(place_of(CgroupVersion::V2, tree.path("group")));
  EXPECT_EQ(group.charged_bytes(), 9000U);
  EXPECT_EQ(group.peak_bytes(), std::nullopt);
  EXPECT_EQ(group.stat(), model::GroupStat());
}

TEST(MemoryGroup, ReadsTheChargeAnew) {
  const TemporaryTree tree;
  tree.add("group/memory.current", "9000\n");
  const MemoryGroup group =
      opened(place_of(CgroupVersion::V2, tree.path("group")));
  EXPECT_EQ(group.charged_bytes(), 9000U);
  tree.add("group/memory.current", "12\n");
  EXPECT_EQ(group.charged_bytes(), 12U);
}

TEST(MemoryGroup, OfAHalfReadStatIsUnknownAndNotZero) {
  const TemporaryTree tree;
  tree.add("group/memory.current", "9000\n");
  tree.add("group/memory.stat", "anon 4096\nfile lots\n");
  EXPECT_EQ(opened(place_of(CgroupVersion::V2, tree.path("group"))).stat(),
            model::GroupStat());
}

TEST(MemoryGroup, NeedsTheMemoryController) {
  const TemporaryTree tree;
  tree.add("group/cgroup.procs", "");
  for (const CgroupVersion version : {CgroupVersion::V1, CgroupVersion::V2}) {
    base::Result<MemoryGroup> group =
        MemoryGroup::open(place_of(version, tree.path("group")));
    ASSERT_FALSE(group);
    EXPECT_EQ(group.error().kind, base::ErrorKind::NotFound);
  }
}

TEST(MemoryGroup, NeedsADirectory) {
  EXPECT_FALSE(
      MemoryGroup::open(place_of(CgroupVersion::V2, "/nonexistent/group")));
}

// ---- real groups ------------------------------------------------------------

int touch_when_told(const Line& line) {
  line.hear();
  test::touch_pages(8 * kMiB / 4096);
  line.say('!');
  line.rest();
  return 0;
}

TEST(RealMemoryGroup, IsChargedForWhatItsMembersTouch) {
  const PlannedGroup planned(PlannedGroup::memory());
  if (!planned) GTEST_SKIP() << planned.reason();
  ASSERT_TRUE(make_group(*planned, {::getpid()}));
  const MemoryGroup group = opened(*planned);
  EXPECT_EQ(group.charged_bytes(), 0U);
  const Child child(touch_when_told);
  ASSERT_TRUE(add_to_group(*planned, child.pid()));
  child.say('g');
  ASSERT_EQ(child.hear(), '!');
  EXPECT_GE(group.charged_bytes().value_or(0), 8 * kMiB);
  // The kernel hands its sums in by the batch.
  EXPECT_GE(group.stat().anon_bytes.value_or(0), 7 * kMiB);
  EXPECT_GT(group.stat().kernel_bytes.value_or(0), 0U);
}

TEST(RealMemoryGroup, RemembersItsPeakWhenAllHaveEnded) {
  const PlannedGroup planned(PlannedGroup::memory());
  if (!planned) GTEST_SKIP() << planned.reason();
  ASSERT_TRUE(make_group(*planned, {::getpid()}));
  const MemoryGroup group = opened(*planned);
  if (!group.peak_bytes()) GTEST_SKIP() << "this kernel has no memory.peak";
  {
    Child child(touch_when_told);
    ASSERT_TRUE(add_to_group(*planned, child.pid()));
    child.say('g');
    ASSERT_EQ(child.hear(), '!');
  }
  EXPECT_GE(group.peak_bytes().value_or(0), 8 * kMiB);
  EXPECT_LT(group.charged_bytes().value_or(0), 4 * kMiB);
}

}  // namespace
}  // namespace tidemark::source
