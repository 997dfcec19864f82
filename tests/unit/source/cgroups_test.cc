#include "source/cgroups.h"

#include <gtest/gtest.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::Cgroup;
using model::CgroupVersion;
using parse::CgroupMembership;
using test::fixture_roots;
using test::TemporaryTree;

// /proc/PID/cgroup of a machine with v1 memory, and both at once.
const std::vector<CgroupMembership> kMemberships = {
    {9, "name=systemd", "/init.scope"},
    {4, "memory", "/v1/app"},
    {1, "cpu,cpuacct", "/cpu"},
    {0, "", "/v2/app"},
};

void add_v2(const TemporaryTree& tree, const std::string& directory,
            std::string_view controllers) {
  tree.add(directory + "/cgroup.controllers", controllers);
  tree.add(directory + "/app/memory.current", "2000\n");
  tree.add(directory + "/app/memory.peak", "3000\n");
  tree.add(directory + "/app/memory.max", "4000\n");
}

void add_v1(const TemporaryTree& tree, const std::string& directory) {
  tree.add(directory + "/memory.usage_in_bytes", "1\n");
  tree.add(directory + "/app/memory.usage_in_bytes", "200\n");
  tree.add(directory + "/app/memory.max_usage_in_bytes", "300\n");
  tree.add(directory + "/app/memory.limit_in_bytes", "400\n");
}

// One mount of the running system, at `directory` of the tree.
std::string mount_line(const TemporaryTree& tree, const std::string& root,
                       const std::string& directory, const std::string& type,
                       const std::string& options) {
  return "51 47 0:32 " + root + " " + tree.path(directory) + " rw,relatime - " +
         type + " " + type + " " + options + "\n";
}

// ---- which hierarchy

TEST(CgroupHierarchy, FindsV2BesideACapturedTree) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  EXPECT_EQ(cgroups.version(), CgroupVersion::V2);
  EXPECT_EQ(cgroups.note(), "");
}

TEST(CgroupHierarchy, FindsV1BesideACapturedTree) {
  const Roots roots = fixture_roots("host-6.18/proc");
  EXPECT_EQ(CgroupHierarchy::find(roots).version(), CgroupVersion::V1);
}

TEST(CgroupHierarchy, FindsItWhereSysfsWouldHaveIt) {
  TemporaryTree tree;
  add_v2(tree, "../sys/fs/cgroup", "cpu memory\n");
  const Roots roots = tree.roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/app").charged_bytes,
            model::known<uint64_t>(2000));
}

TEST(CgroupHierarchy, OfAHybridIsTheOneThatAccountsMemory) {
  TemporaryTree v1;
  add_v1(v1, "../cgroup/memory");
  add_v2(v1, "../cgroup/unified", "\n");
  const Roots v1_roots = v1.roots();
  EXPECT_EQ(CgroupHierarchy::find(v1_roots).version(), CgroupVersion::V1);

  TemporaryTree v2;
  v2.add("../cgroup/cpu/cgroup.procs", "");
  add_v2(v2, "../cgroup/unified", "memory pids\n");
  const Roots v2_roots = v2.roots();
  EXPECT_EQ(CgroupHierarchy::find(v2_roots).version(), CgroupVersion::V2);
}

TEST(CgroupHierarchy, TakesAV2GroupCalledMemoryForNoHierarchy) {
  TemporaryTree tree;
  add_v2(tree, "../cgroup", "memory\n");
  tree.add("../cgroup/memory/memory.current", "1\n");
  const Roots roots = tree.roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).version(), CgroupVersion::V2);
}

TEST(CgroupHierarchy, NeedsTheMemoryController) {
  TemporaryTree tree;
  add_v2(tree, "../cgroup", "cpu memory_recursive pids\n");
  const Roots roots = tree.roots();
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  EXPECT_EQ(cgroups.version(), CgroupVersion::None);
  EXPECT_EQ(cgroups.note(),
            "no cgroup tree with memory files beside " + tree.path());
}

TEST(CgroupHierarchy, OfTheRunningSystemIsFoundByItsMounts) {
  TemporaryTree tree;
  add_v1(tree, "elsewhere");
  tree.add("self/mountinfo",
           mount_line(tree, "/", "nowhere", "cgroup", "rw,cpu") +
               mount_line(tree, "/", "elsewhere", "cgroup", "rw,memory"));
  const Roots roots = tree.live_roots();
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  EXPECT_EQ(cgroups.version(), CgroupVersion::V1);
  EXPECT_EQ(cgroups.read("/app").charged_bytes, model::known<uint64_t>(200));
}

TEST(CgroupHierarchy, OfARunningHybridIsTheOneThatAccountsMemory) {
  TemporaryTree tree;
  add_v1(tree, "v1");
  add_v2(tree, "unified", "\n");
  tree.add("self/mountinfo",
           mount_line(tree, "/", "unified", "cgroup2", "rw") +
               mount_line(tree, "/", "v1", "cgroup", "rw,memory"));
  const Roots roots = tree.live_roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).version(), CgroupVersion::V1);
}

TEST(CgroupHierarchy, ChargesHugePagesWhereTheMountSaysSo) {
  const auto charges = [](const std::string& options) {
    TemporaryTree tree;
    add_v2(tree, "here", "memory\n");
    tree.add("self/mountinfo",
             mount_line(tree, "/", "here", "cgroup2", options));
    const Roots roots = tree.live_roots();
    return CgroupHierarchy::find(roots).charges_hugetlb();
  };
  EXPECT_FALSE(charges("rw,nsdelegate"));
  EXPECT_TRUE(charges("rw,memory_hugetlb_accounting"));
}

TEST(CgroupHierarchy, WithoutAMountSaysSo) {
  TemporaryTree tree;
  tree.add("self/mountinfo", "");
  const Roots roots = tree.live_roots();
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  EXPECT_EQ(cgroups.version(), CgroupVersion::None);
  EXPECT_EQ(cgroups.note(), "no mounted cgroup hierarchy accounts memory");
}

TEST(CgroupHierarchy, SurvivesMountinfoThatCannotBeParsed) {
  TemporaryTree tree;
  tree.add("self/mountinfo", "garbage\n");
  const Roots roots = tree.live_roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).version(), CgroupVersion::None);
}

// ---- whose group

TEST(CgroupPath, IsOfTheMemoryControllerInV1) {
  const Roots roots = fixture_roots("host-6.18/proc");
  EXPECT_EQ(CgroupHierarchy::find(roots).path_of(kMemberships), "/v1/app");
}

TEST(CgroupPath, IsOfTheLineWithoutControllersInV2) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_EQ(CgroupHierarchy::find(roots).path_of(kMemberships), "/v2/app");
}

TEST(CgroupPath, NamesTheUnitEvenWithoutAHierarchy) {
  EXPECT_EQ(CgroupHierarchy().path_of(kMemberships), "/v2/app");
}

TEST(CgroupPath, IsEmptyWhereNoLineIsOfThisHierarchy) {
  const Roots roots = fixture_roots("host-6.18/proc");
  const CgroupHierarchy v1 = CgroupHierarchy::find(roots);
  EXPECT_EQ(v1.path_of({{1, "cpu,memory_recursive", "/x"}, {0, "", "/y"}}), "");
}

TEST(CgroupPath, FindsMemoryAmongJoinedControllers) {
  const Roots roots = fixture_roots("host-6.18/proc");
  const CgroupHierarchy v1 = CgroupHierarchy::find(roots);
  EXPECT_EQ(v1.path_of({{3, "cpuset,memory", "/x"}}), "/x");
}

// ---- what it has

TEST(Cgroup, ReadsTheAccountOfV2) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  const Cgroup app = CgroupHierarchy::find(roots).read("/app");
  EXPECT_EQ(app.path, "/app");
  EXPECT_EQ(app.charged_bytes, model::known<uint64_t>(8634368));
  EXPECT_EQ(app.peak_bytes, model::known<uint64_t>(8634368));
  EXPECT_EQ(app.limit_bytes, std::nullopt) << "memory.max says max";
}

TEST(Cgroup, ReadsTheAccountOfV1) {
  const Roots roots = fixture_roots("host-6.18/proc");
  const Cgroup app = CgroupHierarchy::find(roots).read("/app");
  EXPECT_EQ(app.charged_bytes, model::known<uint64_t>(3141632));
  EXPECT_EQ(app.peak_bytes, model::known<uint64_t>(3141632));
  EXPECT_EQ(app.limit_bytes, std::nullopt)
      << "v1 says no limit as 2^63 less a page";
}

TEST(Cgroup, ReadsALimit) {
  TemporaryTree tree;
  add_v2(tree, "../cgroup", "memory\n");
  const Roots roots = tree.roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/app").limit_bytes, 4000U);
}

TEST(Cgroup, RootOfV1HasAnAccount) {
  const Roots roots = fixture_roots("host-6.18/proc");
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/").charged_bytes,
            model::known<uint64_t>(451715072));
}

TEST(Cgroup, RootOfV2HasNone) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/").charged_bytes,
            model::unknown<uint64_t>("the root group of v2 has no account"));
}

TEST(Cgroup, WithoutAPeakKeepsItsCharge) {
  TemporaryTree tree;
  tree.add("../cgroup/cgroup.controllers", "memory\n");
  tree.add("../cgroup/app/memory.current", "2000\n");
  const Roots roots = tree.roots();
  const Cgroup app = CgroupHierarchy::find(roots).read("/app");
  EXPECT_EQ(app.charged_bytes, model::known<uint64_t>(2000));
  EXPECT_FALSE(app.peak_bytes) << "kernels before 5.19 have no memory.peak";
}

TEST(Cgroup, WithAnUnreadableNumberSaysWhichOne) {
  TemporaryTree tree;
  tree.add("../cgroup/cgroup.controllers", "memory\n");
  tree.add("../cgroup/app/memory.current", "lots\n");
  const Roots roots = tree.roots();
  const Cgroup app = CgroupHierarchy::find(roots).read("/app");
  EXPECT_FALSE(app.charged_bytes);
  EXPECT_NE(app.charged_bytes.unknown_because.find("lots"), std::string::npos);
}

TEST(Cgroup, ThatIsNotThereIsUnknownWithItsPath) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  const Cgroup gone = CgroupHierarchy::find(roots).read("/gone");
  EXPECT_FALSE(gone.charged_bytes);
  EXPECT_TRUE(gone.charged_bytes.unknown_because.ends_with(
      "/gone: No such file or directory"));
  EXPECT_FALSE(gone.peak_bytes);
}

TEST(Cgroup, WithoutAHierarchyIsUnknownForItsReason) {
  TemporaryTree tree;
  const Roots roots = tree.roots();
  const CgroupHierarchy none = CgroupHierarchy::find(roots);
  EXPECT_EQ(none.read("/app").charged_bytes,
            model::unknown<uint64_t>(none.note()));
  EXPECT_EQ(none.read("/app").peak_bytes,
            model::unknown<uint64_t>(none.note()));
}

TEST(Cgroup, OfACopiedTreeHasNoInode) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/app").inode_id, 0U);
}

// ---- inside a container, where a part of the hierarchy is mounted

class MountedPart : public testing::Test {
 protected:
  void SetUp() override {
    add_v2(tree_, "here", "memory\n");
    tree_.add("here/memory.current", "9000\n");
    tree_.add("here/def/memory.current", "1\n");
    tree_.add("self/mountinfo",
              mount_line(tree_, "/docker/abc", "here", "cgroup2", "rw"));
  }

  TemporaryTree tree_;
};

TEST_F(MountedPart, IsTheGroupItself) {
  const Roots roots = tree_.live_roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/docker/abc").charged_bytes,
            model::known<uint64_t>(9000));
}

TEST_F(MountedPart, HasTheGroupsBelow) {
  const Roots roots = tree_.live_roots();
  EXPECT_EQ(CgroupHierarchy::find(roots).read("/docker/abc/app").charged_bytes,
            model::known<uint64_t>(2000));
}

TEST_F(MountedPart, IsNotAGroupWhoseNameBeginsAlike) {
  const Roots roots = tree_.live_roots();
  EXPECT_FALSE(
      CgroupHierarchy::find(roots).read("/docker/abcdef").charged_bytes)
      << "must not be taken for the group /docker/abc/def";
}

}  // namespace
}  // namespace tidemark::source
