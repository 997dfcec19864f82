#include "analysis/ps_groups.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "unit/analysis/processes.h"

namespace tidemark::analysis {
namespace {

using model::amount_of;
using model::Process;
using model::Sample;
using test::denied_process;
using test::in_cgroup;
using test::kernel_thread;
using test::kKiB;
using test::process_with;
using test::sample_of;

const std::vector<UserLabel> kUsers = {{0, "root"}, {1000, "ann"}};

std::unique_ptr<PsGroup> group_all(const Sample& sample, GroupBy group_by) {
  std::vector<size_t> all;
  std::vector<Use> uses;
  for (size_t i = 0; i < sample.processes.size(); ++i) {
    all.push_back(i);
    uses.push_back(use_of(sample.processes[i], {}));
  }
  return group_processes(sample, all, uses, group_by, kUsers);
}

// "app(10,11 sub(12))": each group with its own processes, then its groups.
std::string outline(const Sample& sample, const PsGroup& group) {
  std::string text;
  for (size_t index : group.processes) {
    if (!text.empty()) text += ',';
    text += std::to_string(sample.processes[index].id.pid);
  }
  for (const std::unique_ptr<PsGroup>& child : group.groups) {
    if (!text.empty()) text += ' ';
    text += child->name + "(" + outline(sample, *child) + ")";
  }
  return text;
}

std::string outline(const Sample& sample, GroupBy group_by) {
  return outline(sample, *group_all(sample, group_by));
}

Process of_user(Process process, std::optional<uint32_t> user_id) {
  process.status.user_id = user_id;
  return process;
}

Process of_session(Process process, int32_t session) {
  process.stat.session_id = session;
  return process;
}

model::Cgroup numbered_cgroup(std::string_view path, uint64_t inode) {
  model::Cgroup group;
  group.path = path;
  group.inode_id = inode;
  return group;
}

// ---- by control group

TEST(GroupByCgroup, NestsAsThePathsDo) {
  const Sample sample =
      sample_of({in_cgroup(process_with(1, 0, "init", 1), "/"),
                 in_cgroup(process_with(10, 1, "a", 1), "/x"),
                 in_cgroup(process_with(11, 1, "b", 1), "/x/y")});
  EXPECT_EQ(outline(sample, GroupBy::Cgroup), "/(1 x(10 y(11)))");
}

TEST(GroupByCgroup, FindsAGroupWhoseSubgroupCameFirst) {
  const Sample sample =
      sample_of({in_cgroup(process_with(11, 1, "b", 1), "/x/y"),
                 in_cgroup(process_with(10, 1, "a", 1), "/x")});
  EXPECT_EQ(outline(sample, GroupBy::Cgroup), "x(10 y(11))");
}

TEST(GroupByCgroup, JoinsAChainOfGroupsWithoutProcesses) {
  const Sample sample = sample_of(
      {in_cgroup(process_with(1, 0, "init", 1), "/"),
       in_cgroup(process_with(10, 1, "a", 1), "/user.slice/user-1.slice/x")});
  EXPECT_EQ(outline(sample, GroupBy::Cgroup), "/(1 x(10))");
}

TEST(GroupByCgroup, KeepsAGroupThatHasTwoSubgroups) {
  const Sample sample =
      sample_of({in_cgroup(process_with(10, 1, "a", 1), "/s/a"),
                 in_cgroup(process_with(11, 1, "b", 1), "/s/b")});
  EXPECT_EQ(outline(sample, GroupBy::Cgroup), "s(a(10) b(11))");
}

TEST(GroupByCgroup, ShowsWhatIsInNoGroup) {
  const Sample sample = sample_of({process_with(10, 1, "a", 1)});
  EXPECT_EQ(outline(sample, GroupBy::Cgroup), "in no group(10)");
}

TEST(GroupByCgroup, NamesContainers) {
  const Sample sample = sample_of({in_cgroup(
      process_with(10, 1, "a", 1),
      "/system.slice/docker-00112233445566778899aabbccddeeff.scope")});
  EXPECT_EQ(outline(sample, GroupBy::Cgroup), "docker 001122334455(10)");
}

TEST(GroupByCgroup, NumbersGroupsByInodeAndTheOthersBehind) {
  Sample sample = sample_of({in_cgroup(process_with(10, 1, "a", 1), "/a"),
                             in_cgroup(process_with(11, 1, "b", 1), "/b")});
  sample.cgroups = {numbered_cgroup("/a", 77)};
  const std::unique_ptr<PsGroup> root = group_all(sample, GroupBy::Cgroup);
  const PsGroup& top = *root->groups.at(0);
  EXPECT_EQ(top.groups.at(0)->id, 77U);
  EXPECT_EQ(std::set<uint64_t>({top.id, top.groups.at(1)->id}),
            std::set<uint64_t>({78, 79}));
}

// ---- by parent

TEST(GroupByParent, HasAGroupForEachProcessWithChildren) {
  const Sample sample =
      sample_of({process_with(1, 0, "init", 1), process_with(2, 1, "a", 1),
                 process_with(3, 1, "make", 1), process_with(4, 3, "cc", 1)});
  EXPECT_EQ(outline(sample, GroupBy::Parent),
            "init and 3 below(1,2 make and 1 below(3,4))");
}

TEST(GroupByParent, LeavesAProcessWithoutFamilyAlone) {
  const Sample sample =
      sample_of({process_with(1, 0, "a", 1), process_with(2, 0, "b", 1)});
  EXPECT_EQ(outline(sample, GroupBy::Parent), "1,2");
}

TEST(GroupByParent, ComesBackUpAfterAFamily) {
  const Sample sample =
      sample_of({process_with(1, 0, "init", 1), process_with(2, 1, "make", 1),
                 process_with(3, 2, "cc", 1), process_with(4, 1, "cron", 1)});
  EXPECT_EQ(outline(sample, GroupBy::Parent),
            "init and 3 below(1,4 make and 1 below(2,3))");
}

// ---- by user, program, session, container

TEST(GroupByUser, NamesUsersAndNumbersStrangers) {
  const Sample sample = sample_of({of_user(process_with(1, 0, "a", 1), 0),
                                   of_user(process_with(2, 1, "b", 1), 1000),
                                   of_user(process_with(3, 1, "c", 1), 7),
                                   of_user(process_with(4, 1, "d", 1), 1000)});
  EXPECT_EQ(outline(sample, GroupBy::User), "root(1) ann(2,4) 7(3)");
}

TEST(GroupByUser, ShowsAProcessOfAnUnknownUser) {
  const Sample sample =
      sample_of({of_user(process_with(1, 0, "a", 1), std::nullopt)});
  EXPECT_EQ(outline(sample, GroupBy::User), "?(1)");
}

TEST(GroupByExe, JoinsProcessesOfOneProgramWhateverTheyAreCalled) {
  Sample sample =
      sample_of({process_with(1, 0, "bash", 1), process_with(2, 1, "vim", 1),
                 process_with(3, 1, "renamed", 1)});
  sample.processes[0].executable = model::known<std::string>("/bin/bash");
  sample.processes[1].executable = model::known<std::string>("/bin/vim");
  sample.processes[2].executable = model::known<std::string>("/bin/bash");
  EXPECT_EQ(outline(sample, GroupBy::Exe), "/bin/bash(1,3) /bin/vim(2)");
}

TEST(GroupByExe, SaysWhenOnlyTheNameIsKnown) {
  const Sample sample =
      sample_of({process_with(1, 0, "bash", 1), process_with(2, 1, "vim", 1),
                 process_with(3, 1, "bash", 1)});
  EXPECT_EQ(outline(sample, GroupBy::Exe),
            "bash (by name)(1,3) vim (by name)(2)");
}

TEST(GroupBySession, NamesTheLeader) {
  const Sample sample =
      sample_of({of_session(process_with(10, 1, "bash", 1), 10),
                 of_session(process_with(11, 10, "vim", 1), 10),
                 of_session(process_with(12, 1, "lost", 1), 9)});
  EXPECT_EQ(outline(sample, GroupBy::Session),
            "session 10 of bash(10,11) session 9(12)");
}

TEST(GroupByContainer, PutsTheRestTogether) {
  const Sample sample =
      sample_of({in_cgroup(process_with(1, 0, "a", 1), "/lxc/web"),
                 in_cgroup(process_with(2, 1, "b", 1), "/lxc/web/init.scope"),
                 in_cgroup(process_with(3, 1, "c", 1), "/system.slice")});
  EXPECT_EQ(outline(sample, GroupBy::Container),
            "lxc web(1,2) in no container(3)");
}

TEST(KernelThreads, AreAGroupOfTheirOwnInEveryGrouping) {
  const Sample sample = sample_of({kernel_thread(2, "kthreadd"),
                                   in_cgroup(process_with(9, 1, "a", 1), "/"),
                                   kernel_thread(3, "rcu")});
  for (GroupBy group_by :
       {GroupBy::Cgroup, GroupBy::Parent, GroupBy::User, GroupBy::Exe,
        GroupBy::Session, GroupBy::Container}) {
    const std::unique_ptr<PsGroup> root = group_all(sample, group_by);
    ASSERT_FALSE(root->groups.empty());
    EXPECT_TRUE(root->groups[0]->is_kernel);
    EXPECT_EQ(root->groups[0]->id, 0U);
    EXPECT_EQ(root->groups[0]->processes, (std::vector<size_t>{0, 2}));
  }
}

// ---- sums

TEST(PsGroup, SumsItsProcessesAndGroups) {
  const Sample sample =
      sample_of({in_cgroup(process_with(10, 1, "a", 5), "/x"),
                 in_cgroup(process_with(11, 1, "b", 7), "/x/y")});
  const std::unique_ptr<PsGroup> root = group_all(sample, GroupBy::Cgroup);
  EXPECT_EQ(root->groups.at(0)->use.pss, amount_of(12 * kKiB));
  EXPECT_EQ(root->groups.at(0)->process_count, 2U);
  EXPECT_EQ(root->use.pss, amount_of(12 * kKiB));
  EXPECT_EQ(root->process_count, 2U);
}

TEST(PsGroup, IsALowerBoundWithADeniedProcess) {
  const Sample sample =
      sample_of({in_cgroup(process_with(10, 1, "a", 5), "/x"),
                 in_cgroup(denied_process(11, 1, "b"), "/x/y")});
  EXPECT_TRUE(group_all(sample, GroupBy::Cgroup)->use.pss.is_lower_bound());
}

TEST(PsGroup, HasOnlyTheChosenProcesses) {
  const Sample sample =
      sample_of({process_with(1, 0, "a", 1), process_with(2, 0, "b", 2)});
  const std::vector<Use> uses = {use_of(sample.processes[0], {}),
                                 use_of(sample.processes[1], {})};
  const std::unique_ptr<PsGroup> root =
      group_processes(sample, {1}, uses, GroupBy::Exe, {});
  EXPECT_EQ(outline(sample, *root), "b (by name)(2)");
  EXPECT_EQ(root->use.pss, amount_of(2 * kKiB));
}

// ---- looking one up

class FindGroup : public testing::Test {
 protected:
  FindGroup() {
    sample_ =
        sample_of({in_cgroup(process_with(10, 1, "a", 1), "/s/nginx.service"),
                   in_cgroup(process_with(11, 1, "b", 1), "/s/b"),
                   in_cgroup(process_with(12, 1, "c", 1), "/u/v/w"),
                   kernel_thread(2, "kthreadd")});
    sample_.cgroups = {numbered_cgroup("/s/nginx.service", 77)};
    root_ = group_all(sample_, GroupBy::Cgroup);
  }

  std::string key_of(const std::string& job) const {
    const PsGroup* group = find_group(*root_, job);
    return group ? group->key : "none";
  }

  Sample sample_;
  std::unique_ptr<PsGroup> root_;
};

TEST_F(FindGroup, ByItsId) {
  EXPECT_EQ(key_of("77"), "/s/nginx.service");
  EXPECT_EQ(key_of("j:77"), "/s/nginx.service");
}

TEST_F(FindGroup, ByItsPath) {
  EXPECT_EQ(key_of("/s"), "/s");
}

TEST_F(FindGroup, ByItsName) {
  EXPECT_EQ(key_of("nginx.service"), "/s/nginx.service");
}

TEST_F(FindGroup, ByThePathOrNameOfAGroupThatWasJoinedIntoIt) {
  EXPECT_EQ(key_of("/u"), "/u/v/w");
  EXPECT_EQ(key_of("/u/v"), "/u/v/w");
  EXPECT_EQ(key_of("v"), "/u/v/w");
}

TEST_F(FindGroup, FindsTheKernelThreads) {
  EXPECT_EQ(key_of("j:0"), "kernel threads");
}

TEST_F(FindGroup, FindsNoneForOtherWords) {
  for (const char* job :
       {"", "nginx", "/s/", "s/b", "j:", "j:4711", "-1", "77x"}) {
    EXPECT_EQ(key_of(job), "none") << job;
  }
}

// ---- any sample

void collect_ids(const PsGroup& group, std::vector<uint64_t>& ids) {
  for (const std::unique_ptr<PsGroup>& child : group.groups) {
    ids.push_back(child->id);
    collect_ids(*child, ids);
  }
}

RC_GTEST_PROP(PsGroup, IdsAreUnique, ()) {
  std::vector<Process> processes;
  const auto count = *rc::gen::inRange<int32_t>(1, 15);
  for (int32_t pid = 1; pid <= count; ++pid) {
    Process process =
        process_with(pid, *rc::gen::inRange<int32_t>(0, 15),
                     *rc::gen::element<std::string>("a", "b", "c"), 1);
    process.cgroup_path =
        *rc::gen::element<std::string>("", "/", "/a", "/a/b", "/a/c", "/lxc/w");
    process.stat.session_id = *rc::gen::inRange<int32_t>(-1, 5);
    if (*rc::gen::arbitrary<bool>()) {
      process.status.user_id = *rc::gen::inRange<uint32_t>(0, 4);
    }
    process.stat.is_kernel_thread = *rc::gen::inRange(0, 5) == 0;
    processes.push_back(std::move(process));
  }
  Sample sample = sample_of(std::move(processes));
  sample.cgroups = {numbered_cgroup("/a", *rc::gen::inRange<uint64_t>(1, 5))};
  const auto group_by =
      *rc::gen::element(GroupBy::Cgroup, GroupBy::Parent, GroupBy::User,
                        GroupBy::Exe, GroupBy::Session, GroupBy::Container);
  std::vector<uint64_t> ids;
  collect_ids(*group_all(sample, group_by), ids);
  RC_ASSERT(std::set<uint64_t>(ids.begin(), ids.end()).size() == ids.size());
}

TEST(UserLabel, IsTheNameTheNumberOrAQuestionMark) {
  EXPECT_EQ(user_label(1000, kUsers), "ann");
  EXPECT_EQ(user_label(7, kUsers), "7");
  EXPECT_EQ(user_label(std::nullopt, kUsers), "?");
}

}  // namespace
}  // namespace tidemark::analysis
