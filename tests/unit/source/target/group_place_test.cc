#include "source/target/group_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "unit/child.h"
#include "unit/source/target/groups.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::CgroupVersion;
using test::Child;
using test::is_there;
using test::Line;
using test::lists;
using test::PlannedGroup;
using test::TemporaryTree;

using Pids = std::vector<int32_t>;

Pids sorted(Pids pids) {
  std::ranges::sort(pids);
  return pids;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// ---- where: made-up hierarchies ---------------------------------------------

std::string mount_line(const TemporaryTree& tree, const std::string& type,
                       const std::string& options,
                       const std::string& root = "/") {
  return "51 47 0:32 " + root + " " + tree.path("groups") + " rw - " + type +
         " none rw," + options + "\n";
}

// We are in /user/app of a v1 memory hierarchy.
TemporaryTree& as_v1(TemporaryTree& tree) {
  tree.add("self/mountinfo", mount_line(tree, "cgroup", "memory"));
  tree.add("self/cgroup", "4:memory:/user/app\n0::/elsewhere\n");
  tree.add("groups/memory.usage_in_bytes", "1\n");
  tree.add("groups/user/app/cgroup.procs", "");
  return tree;
}

// We are in /user/app of v2, which is handed no controllers.
TemporaryTree& as_v2(TemporaryTree& tree) {
  tree.add("self/mountinfo", mount_line(tree, "cgroup2", "nsdelegate"));
  tree.add("self/cgroup", "0::/user/app\n");
  tree.add("groups/cgroup.controllers", "cpu memory\n");
  for (const char* group : {"groups", "groups/user", "groups/user/app"}) {
    tree.add(std::string(group) + "/cgroup.subtree_control", "cpu\n");
    tree.add(std::string(group) + "/cgroup.procs", "");
  }
  tree.add("groups/user/app/cgroup.procs",
           std::to_string(::getpid()) + "\n1\n");
  return tree;
}

base::Result<GroupPlace> plan_in(const TemporaryTree& tree) {
  const Roots roots = tree.live_roots();
  return plan_memory_group(roots, CgroupHierarchy::find(roots));
}

std::string our_name() {
  return "tidemark-" + std::to_string(::getpid());
}

TEST(PlanMemoryGroup, OfV1LiesBelowOurOwnGroup) {
  TemporaryTree tree;
  const base::Result<GroupPlace> place = plan_in(as_v1(tree));
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(
      *place,
      (GroupPlace{CgroupVersion::V1, tree.path("groups/user/app/" + our_name()),
                  tree.path("groups/user/app/cgroup.procs"), "", ""}));
}

TEST(PlanMemoryGroup, AvoidsANameThatIsTaken) {
  TemporaryTree tree;
  as_v1(tree).add("groups/user/app/" + our_name() + "/cgroup.procs", "");
  const base::Result<GroupPlace> place = plan_in(tree);
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(place->directory,
            tree.path("groups/user/app/" + our_name() + "-2"));
}

TEST(PlanMemoryGroup, OfV2LiesWhereMemoryIsHandedDown) {
  TemporaryTree tree;
  as_v2(tree).add("groups/user/cgroup.subtree_control", "cpu memory\n");
  const base::Result<GroupPlace> place = plan_in(tree);
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(place->directory, tree.path("groups/user/" + our_name()));
  EXPECT_EQ(place->home_procs, tree.path("groups/user/app/cgroup.procs"));
  EXPECT_EQ(place->enabled_in, "") << "nothing has to be switched on";
}

TEST(PlanMemoryGroup, OfV2DividesAGroupThatWeHaveForOurselves) {
  TemporaryTree tree;
  as_v2(tree).add("groups/user/app/cgroup.procs",
                  std::to_string(::getpid()) + "\n");
  tree.add("groups/user/app/cgroup.controllers", "memory\n");
  const base::Result<GroupPlace> place = plan_in(tree);
  ASSERT_TRUE(place) << place.error().what;
  const std::string home = tree.path("groups/user/app");
  EXPECT_EQ(*place, (GroupPlace{CgroupVersion::V2, home + "/" + our_name(),
                                home + "/cgroup.procs", home,
                                home + "/" + our_name() + "-tool"}));
}

TEST(PlanMemoryGroup, OfV2FallsBackToTheRootOfAll) {
  TemporaryTree tree;
  const base::Result<GroupPlace> place = plan_in(as_v2(tree));
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(place->directory, tree.path("groups/" + our_name()));
  EXPECT_EQ(place->enabled_in, tree.path("groups"));
  EXPECT_EQ(place->tool_directory, "") << "it may hold processes beside";
}

// Inside a container the top is a group like any other.
TEST(PlanMemoryGroup, OfV2IsDeniedWhereNothingMayBeDivided) {
  TemporaryTree tree;
  as_v2(tree).add("groups/cgroup.type", "domain\n");
  const base::Result<GroupPlace> place = plan_in(tree);
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error(),
            base::fail(ErrorKind::Denied,
                       "no group at or above " + tree.path("groups/user/app") +
                           " may be divided",
                       "systemd-run --user --scope -p Delegate=yes tidemark "
                       "run"));
}

TEST(PlanMemoryGroup, IsDeniedWithoutTheRightToMakeOne) {
  TemporaryTree tree;
  as_v1(tree).deny("groups/user/app");
  ::chmod(tree.path("groups/user/app").c_str(), 0555);
  const test::OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "cannot become an ordinary user";
  const base::Result<GroupPlace> place = plan_in(tree);
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().kind, ErrorKind::Denied);
}

TEST(PlanMemoryGroup, OfACapturedTreeIsUnsupported) {
  const Roots roots = test::fixture_roots("debian-6.12/proc");
  const base::Result<GroupPlace> place =
      plan_memory_group(roots, CgroupHierarchy::find(roots));
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error(),
            base::fail(ErrorKind::Unsupported, "no live cgroup hierarchy"));
}

TEST(PlanMemoryGroup, WithoutAHierarchySaysWhichIsMissing) {
  TemporaryTree tree;
  tree.add("self/mountinfo", "");
  tree.add("self/cgroup", "");
  const base::Result<GroupPlace> place = plan_in(tree);
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().kind, ErrorKind::Unsupported);
  EXPECT_FALSE(place.error().what.empty());
}

TEST(PlanFreezerGroup, PrefersV2) {
  TemporaryTree tree;
  as_v2(tree).add("self/mountinfo",
                  mount_line(tree, "cgroup", "freezer") +
                      mount_line(tree, "cgroup2", "nsdelegate"));
  tree.add("self/cgroup", "6:freezer:/user\n0::/user/app\n");
  const base::Result<GroupPlace> place = plan_freezer_group(tree.live_roots());
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(place->version, CgroupVersion::V2);
  EXPECT_EQ(place->directory, tree.path("groups/user/app/" + our_name()));
}

TEST(PlanFreezerGroup, TakesV1WhereThereIsNoOther) {
  TemporaryTree tree;
  as_v1(tree).add("self/mountinfo", mount_line(tree, "cgroup", "freezer"));
  tree.add("self/cgroup", "6:freezer:/user\n4:memory:/\n");
  const base::Result<GroupPlace> place = plan_freezer_group(tree.live_roots());
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(place->version, CgroupVersion::V1);
  EXPECT_EQ(place->directory, tree.path("groups/user/" + our_name()));
}

// A container that sees only its own part of the hierarchy.
TEST(PlanFreezerGroup, TakesOffWhatIsAboveTheMount) {
  TemporaryTree tree;
  as_v1(tree).add("self/mountinfo",
                  mount_line(tree, "cgroup", "freezer", "/docker/x"));
  tree.add("self/cgroup", "6:freezer:/docker/x/user\n");
  const base::Result<GroupPlace> place = plan_freezer_group(tree.live_roots());
  ASSERT_TRUE(place) << place.error().what;
  EXPECT_EQ(place->directory, tree.path("groups/user/" + our_name()));
}

TEST(PlanFreezerGroup, WithoutAnyIsUnsupported) {
  TemporaryTree tree;
  as_v1(tree);
  const base::Result<GroupPlace> place = plan_freezer_group(tree.live_roots());
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error(), base::fail(ErrorKind::Unsupported,
                                      "no cgroup hierarchy can freeze here",
                                      "leave out --freeze"));
}

// ---- what: plain directories stand in for groups ----------------------------

GroupPlace place_at(const TemporaryTree& tree, const std::string& name,
                    CgroupVersion version = CgroupVersion::V2) {
  GroupPlace place;
  place.version = version;
  place.directory = tree.path(name);
  place.home_procs = tree.path("home/cgroup.procs");
  return place;
}

TEST(MakeGroup, MakesADirectory) {
  const TemporaryTree tree;
  const GroupPlace place = place_at(tree, "group");
  const base::Status status = make_group(place, {::getpid()});
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_TRUE(is_there(place));
}

TEST(MakeGroup, AFailureNamesTheGroup) {
  const TemporaryTree tree;
  const base::Status status = make_group(place_at(tree, "none/group"), {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(),
            base::fail(ErrorKind::NotFound, tree.path("none/group") +
                                                ": No such file or directory"));
}

TEST(MakeGroup, AFailureLeavesNothingBehind) {
  const TemporaryTree tree;
  GroupPlace place = place_at(tree, "group");
  // No cgroup.subtree_control there: the controller cannot be switched on.
  place.enabled_in = tree.path();
  place.tool_directory = tree.path("group-tool");
  ASSERT_FALSE(make_group(place, {::getpid()}));
  EXPECT_FALSE(std::filesystem::exists(place.tool_directory));
  EXPECT_FALSE(is_there(place));
}

// Whoever made it was quicker than our look for a free name.
TEST(MakeGroup, AGroupThatWasThereIsNotOursToRemove) {
  const TemporaryTree tree;
  const GroupPlace place = place_at(tree, "group");
  ASSERT_TRUE(make_group(place, {::getpid()}));
  ASSERT_FALSE(make_group(place, {::getpid()}));
  EXPECT_TRUE(is_there(place));
}

TEST(AddToGroup, WritesThePid) {
  const TemporaryTree tree;
  tree.add("group/cgroup.procs", "");
  const base::Status status = add_to_group(place_at(tree, "group"), 42);
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(contents_of(tree.path("group/cgroup.procs")), "42");
}

TEST(AddToGroup, NeedsAGroup) {
  const TemporaryTree tree;
  EXPECT_FALSE(add_to_group(place_at(tree, "group"), 42));
  EXPECT_FALSE(std::filesystem::exists(tree.path("group")));
}

TEST(GroupMembers, AreThoseOfTheGroupsBelowToo) {
  const TemporaryTree tree;
  tree.add("group/cgroup.procs", "12\n34\n");
  tree.add("group/below/cgroup.procs", "56\n");
  tree.add("group/below/further/cgroup.procs", "78\n");
  EXPECT_EQ(sorted(group_members(place_at(tree, "group"))),
            (Pids{12, 34, 56, 78}));
}

TEST(GroupMembers, SkipProcessesOfOtherNamespaces) {
  const TemporaryTree tree;
  // 0 stands for a process that has no pid here.
  tree.add("group/cgroup.procs", "0\n34\nnot a pid\n");
  EXPECT_EQ(group_members(place_at(tree, "group")), Pids{34});
}

TEST(GroupMembers, OfAGroupThatIsGoneAreNone) {
  const TemporaryTree tree;
  EXPECT_EQ(group_members(place_at(tree, "group")), Pids());
}

TEST(SetFrozen, SpeaksTheLanguageOfItsVersion) {
  const TemporaryTree tree;
  tree.add("group/cgroup.freeze", "");
  tree.add("group/freezer.state", "");
  ASSERT_TRUE(set_frozen(place_at(tree, "group", CgroupVersion::V2), true));
  ASSERT_TRUE(set_frozen(place_at(tree, "group", CgroupVersion::V1), true));
  EXPECT_EQ(contents_of(tree.path("group/cgroup.freeze")), "1");
  EXPECT_EQ(contents_of(tree.path("group/freezer.state")), "FROZEN");
}

TEST(IsFrozen, IsSoOnceTheKernelSaysSo) {
  const TemporaryTree tree;
  const GroupPlace v2 = place_at(tree, "group", CgroupVersion::V2);
  const GroupPlace v1 = place_at(tree, "group", CgroupVersion::V1);
  tree.add("group/cgroup.events", "populated 1\nfrozen 0\n");
  tree.add("group/freezer.state", "FREEZING\n");
  EXPECT_FALSE(is_frozen(v2));
  EXPECT_FALSE(is_frozen(v1));
  tree.add("group/cgroup.events", "populated 1\nfrozen 1\n");
  tree.add("group/freezer.state", "FROZEN\n");
  EXPECT_TRUE(is_frozen(v2));
  EXPECT_TRUE(is_frozen(v1));
}

TEST(UndoGroup, RemovesGroupsBelowFirst) {
  const TemporaryTree tree;
  const GroupPlace place = place_at(tree, "group");
  std::filesystem::create_directories(place.directory + "/below/further");
  const base::Status status = undo_group(place);
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_FALSE(is_there(place));
}

TEST(UndoGroup, OfNothingIsHarmless) {
  const TemporaryTree tree;
  const base::Status status = undo_group(place_at(tree, "group"));
  EXPECT_TRUE(status) << status.error().what;
}

TEST(UndoGroup, RemovesWhereWeMovedToAndSwitchesMemoryOff) {
  const TemporaryTree tree;
  GroupPlace place = place_at(tree, "group");
  place.enabled_in = tree.path();
  place.tool_directory = tree.path("group-tool");
  tree.add("cgroup.subtree_control", "");
  std::filesystem::create_directory(place.directory);
  std::filesystem::create_directory(place.tool_directory);
  ASSERT_TRUE(undo_group(place));
  EXPECT_FALSE(is_there(place));
  EXPECT_FALSE(std::filesystem::exists(place.tool_directory));
  EXPECT_EQ(contents_of(tree.path("cgroup.subtree_control")), "-memory");
}

// ---- real groups ------------------------------------------------------------

// One that answers: it lives and is not frozen.
int answer(const Line& line) {
  for (char word = line.hear(); word != 0; word = line.hear())
    line.say(word);
  return 0;
}

bool answers(const Child& child) {
  child.say('?');
  return child.hear() == '?';
}

TEST(RealGroup, TakesInAProcessAndSendsItHome) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child child(answer);
  const base::Status added = add_to_group(*group, child.pid());
  ASSERT_TRUE(added) << added.error().what;
  EXPECT_EQ(group_members(*group), Pids{child.pid()});
  const base::Status undone = undo_group(*group);
  EXPECT_TRUE(undone) << undone.error().what;
  EXPECT_FALSE(is_there(*group));
  EXPECT_TRUE(lists(group->home_procs, child.pid()));
  EXPECT_TRUE(answers(child));
}

TEST(RealGroup, ChildrenOfAMemberAreMembers) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child child([](const Line& line) {
    line.hear();
    if (test::fork_mortal() == 0) line.say('!');
    line.rest();
    return 0;
  });
  ASSERT_TRUE(add_to_group(*group, child.pid()));
  child.say('g');
  ASSERT_EQ(child.hear(), '!');
  EXPECT_EQ(group_members(*group).size(), 2U);
}

TEST(RealGroup, IsUndoneWithGroupsItsMembersMade) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child child(answer);
  GroupPlace below = *group;
  below.directory += "/of-its-own";
  ASSERT_TRUE(make_group(below, {::getpid()}));
  ASSERT_TRUE(add_to_group(below, child.pid()));
  EXPECT_EQ(group_members(*group), Pids{child.pid()});
  const base::Status undone = undo_group(*group);
  EXPECT_TRUE(undone) << undone.error().what;
  EXPECT_FALSE(is_there(*group));
  EXPECT_TRUE(lists(group->home_procs, child.pid()));
  EXPECT_TRUE(answers(child));
}

TEST(RealGroup, IsUndoneWhileItsMembersEnd) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child child(answer);
  ASSERT_TRUE(add_to_group(*group, child.pid()));
  ::kill(child.pid(), SIGKILL);
  const base::Status undone = undo_group(*group);
  EXPECT_TRUE(undone) << undone.error().what;
  EXPECT_FALSE(is_there(*group));
}

TEST(RealGroup, TakesInNobodyWhoHasGone) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  Child child([](const Line&) { return 0; });
  child.wait();
  const base::Status added = add_to_group(*group, child.pid());
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, ErrorKind::Gone) << added.error().what;
}

TEST(RealGroup, OfSomebodyElseIsLeftAlone) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child child(answer);
  ASSERT_TRUE(add_to_group(*group, child.pid()));
  ASSERT_FALSE(make_group(*group, {::getpid()}));
  EXPECT_EQ(group_members(*group), Pids{child.pid()});
}

TEST(RealGroup, CanBeFrozenAndIsThawedWhenUndone) {
  const PlannedGroup group(PlannedGroup::freezer());
  if (!group) GTEST_SKIP() << group.reason();
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child child(answer);
  ASSERT_TRUE(add_to_group(*group, child.pid()));
  ASSERT_TRUE(answers(child));
  const base::Status frozen = set_frozen(*group, true);
  ASSERT_TRUE(frozen) << frozen.error().what;
  ASSERT_TRUE(test::eventually([&] { return is_frozen(*group); }));
  child.say('?');
  EXPECT_EQ(child.hear(30), '\0') << "it stands still";
  const base::Status undone = undo_group(*group);
  EXPECT_TRUE(undone) << undone.error().what;
  EXPECT_EQ(child.hear(), '?') << "it goes on";
  EXPECT_FALSE(is_there(*group));
}

}  // namespace
}  // namespace tidemark::source
