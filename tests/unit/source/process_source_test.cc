#include "source/process_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Process;
using model::ProcessId;
using model::ProcessState;
using model::Sample;
using test::fixture_roots;
using test::OrdinaryUser;
using test::TemporaryTree;

base::Result<Sample> collect(const Roots& roots, CollectOptions options = {}) {
  Sample sample;
  base::Status status =
      ProcessSource(roots, std::move(options)).collect(sample);
  if (!status) return status.error();
  return sample;
}

base::Result<Sample> collect_targets(const Roots& roots,
                                     std::vector<ProcessId> targets,
                                     bool with_descendants = false) {
  CollectOptions options;
  options.selection = {std::move(targets), with_descendants};
  return collect(roots, std::move(options));
}

std::vector<int32_t> pids_of(const base::Result<Sample>& sample) {
  std::vector<int32_t> pids;
  if (!sample) {
    ADD_FAILURE() << sample.error().what;
    return pids;
  }
  for (const Process& process : sample->processes)
    pids.push_back(process.id.pid);
  return pids;
}

std::string error_of(const base::Result<Sample>& sample) {
  if (sample) return "no error";
  EXPECT_EQ(sample.error().kind, ErrorKind::Gone);
  return sample.error().what;
}

// 10 with its children 11 and 12, and 13 below 11; 20 stands apart. All have
// started at 100 ticks.
void add_family(const TemporaryTree& tree) {
  tree.add_process(10, 1, "shell");
  tree.add_process(11, 10, "make");
  tree.add_process(12, 10, "less");
  tree.add_process(13, 11, "cc1");
  tree.add_process(20, 1, "cron");
}

// ---- which processes

TEST(ProcessSource, ReadsEveryProcessOfATree) {
  const Roots roots = fixture_roots("hostile/proc");
  EXPECT_EQ(pids_of(collect(roots)),
            (std::vector<int32_t>{1, 10, 11, 12, 13, 14, 15, 16}));
}

TEST(ProcessSource, ReadsOnlyTheTargets) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(pids_of(collect_targets(roots, {{20, 100}, {10, 100}})),
            (std::vector<int32_t>{20, 10}));
}

TEST(ProcessSource, ReadsDescendantsWhenAsked) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(pids_of(collect_targets(roots, {{10, 100}}, true)),
            (std::vector<int32_t>{10, 11, 12, 13}));
}

TEST(ProcessSource, ReadsATargetBelowAnotherOnce) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(pids_of(collect_targets(roots, {{10, 100}, {11, 100}}, true)),
            (std::vector<int32_t>{10, 11, 12, 13}));
}

TEST(ProcessSource, LeavesOutAListedChildThatHasEnded) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_EQ(pids_of(collect_targets(roots, {{106, 356}}, true)),
            (std::vector<int32_t>{106, 110}))
      << "196 is in the list of children and no longer in the tree";
}

TEST(ProcessSource, CountsADeniedProcessAmongTheOthers) {
  TemporaryTree tree;
  add_family(tree);
  tree.deny("12");
  const Roots roots = tree.roots();
  OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root may not become nobody here";
  EXPECT_EQ(pids_of(collect(roots)),
            (std::vector<int32_t>{10, 11, 12, 13, 20}));
}

// ---- targets that end

TEST(ProcessSource, IsGoneWhenItsTargetHasEnded) {
  TemporaryTree tree;
  add_family(tree);
  tree.remove("20");
  const Roots roots = tree.roots();
  EXPECT_EQ(error_of(collect_targets(roots, {{20, 100}})),
            "process 20 has ended");
}

TEST(ProcessSource, IsGoneWhenThePidOfItsTargetWasReused) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(error_of(collect_targets(roots, {{20, 99}})),
            "process 20 has ended");
}

TEST(ProcessSource, DoesNotTakeChildrenOfAReusedPidForItsTargets) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(error_of(collect_targets(roots, {{10, 99}}, true)),
            "process 10 has ended");
}

TEST(ProcessSource, LeavesOutTheFamilyOfAReusedPidBesideALivingTarget) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(pids_of(collect_targets(roots, {{10, 99}, {20, 100}}, true)),
            (std::vector<int32_t>{20}));
}

TEST(ProcessSource, GoesOnWhileOneTargetIsLeft) {
  TemporaryTree tree;
  add_family(tree);
  tree.remove("20");
  const Roots roots = tree.roots();
  EXPECT_EQ(pids_of(collect_targets(roots, {{10, 100}, {20, 100}})),
            (std::vector<int32_t>{10}));
}

TEST(ProcessSource, SaysThatAllTargetsHaveEnded) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  EXPECT_EQ(error_of(collect_targets(roots, {{98, 1}, {99, 1}})),
            "all 2 processes have ended");
}

TEST(ProcessSource, SaysThatItsTargetIsAZombie) {
  const Roots roots = fixture_roots("hostile/proc");
  EXPECT_EQ(error_of(collect_targets(roots, {{12, 220}})),
            "process 12 is a zombie: it has ended and has no memory, its "
            "parent has not collected it yet");
}

TEST(ProcessSource, IsNotGoneForAProcessItMayNotRead) {
  const Roots roots = fixture_roots("hostile/proc");
  base::Result<Sample> sample = collect_targets(roots, {{15, 240}});
  ASSERT_TRUE(sample) << sample.error().what;
  EXPECT_EQ(sample->processes.at(0).state, ProcessState::Failed);
}

// ---- what else is in a sample

TEST(ProcessSource, ReadsTheMachine) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  base::Result<Sample> sample = collect(roots);
  ASSERT_TRUE(sample) << sample.error().what;
  ASSERT_TRUE(sample->machine);
  EXPECT_EQ(sample->machine->meminfo.total_bytes, 208720U * 1024);
}

TEST(ProcessSource, AnswersForProcessesWithoutAMachine) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  base::Result<Sample> sample = collect(roots);
  EXPECT_EQ(pids_of(sample).size(), 5U);
  EXPECT_FALSE(sample->machine);
}

TEST(ProcessSource, ReadsEveryGroupOnTheWayToAProcess) {
  TemporaryTree tree;
  tree.add_process(10, 1, "x");
  tree.add("10/cgroup", "0::/system.slice/app.service\n");
  tree.add("../cgroup/cgroup.controllers", "memory\n");
  tree.add("../cgroup/system.slice/memory.current", "200\n");
  tree.add("../cgroup/system.slice/app.service/memory.current", "100\n");
  const Roots roots = tree.roots();
  CollectOptions options;
  options.cgroups = true;
  base::Result<Sample> sample = collect(roots, std::move(options));
  ASSERT_TRUE(sample) << sample.error().what;
  ASSERT_EQ(sample->cgroups.size(), 3U);
  EXPECT_EQ(sample->cgroups[0].path, "/");
  EXPECT_EQ(sample->cgroups[1].path, "/system.slice");
  EXPECT_EQ(sample->cgroups[1].charged_bytes, model::known<uint64_t>(200));
  EXPECT_EQ(sample->cgroups[2].path, "/system.slice/app.service");
  EXPECT_EQ(sample->cgroups[2].charged_bytes, model::known<uint64_t>(100));
}

TEST(ProcessSource, ReadsNoGroupsUnlessAsked) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  base::Result<Sample> sample = collect(roots);
  ASSERT_TRUE(sample) << sample.error().what;
  EXPECT_TRUE(sample->cgroups.empty());
}

TEST(ProcessSource, ReplacesTheSampleBefore) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  ProcessSource source(roots, {});
  Sample sample;
  ASSERT_TRUE(source.collect(sample));
  tree.remove("20");
  ASSERT_TRUE(source.collect(sample));
  EXPECT_EQ(sample.processes.size(), 4U);
}

TEST(ProcessSource, SaysWhoReadAndHowLongItTook) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  base::Result<Sample> sample = collect(roots);
  ASSERT_TRUE(sample) << sample.error().what;
  EXPECT_EQ(sample->reader_is_root, ::geteuid() == 0);
  EXPECT_GT(sample->started_realtime_ns, 0U);
  EXPECT_GE(sample->ended_monotonic_ns, sample->started_monotonic_ns);
}

TEST(ProcessSource, TellsItsProgress) {
  TemporaryTree tree;
  add_family(tree);
  const Roots roots = tree.roots();
  std::vector<size_t> done;
  CollectOptions options;
  options.progress = [&](size_t so_far, size_t total) {
    EXPECT_EQ(total, 5U);
    done.push_back(so_far);
  };
  ASSERT_TRUE(collect(roots, std::move(options)));
  EXPECT_EQ(done, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

// ---- what a user typed

base::Error find_error(const Roots& roots, const std::string& word) {
  base::Result<ProcessId> id = find_process(roots, word);
  if (!id) return id.error();
  ADD_FAILURE() << word << " is " << id->pid;
  return {};
}

TEST(FindProcess, TakesAPid) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  base::Result<ProcessId> id = find_process(roots, "110");
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(*id, (ProcessId{110, 364}));
}

TEST(FindProcess, TakesTheNameOfOneProcess) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  base::Result<ProcessId> id = find_process(roots, "memhog");
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(*id, (ProcessId{110, 364}));
}

TEST(FindProcess, TakesTheNameOfAProgramThatRenamedItself) {
  const Roots roots = fixture_roots("hostile/proc");
  base::Result<ProcessId> id = find_process(roots, "wide");
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(id->pid, 16) << "/usr/bin/wide, which calls itself (((())))";
}

TEST(FindProcess, TakesANameOfAnyBytes) {
  const Roots roots = fixture_roots("hostile/proc");
  base::Result<ProcessId> id = find_process(roots, "a) R 1\n(b");
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(id->pid, 10);
}

TEST(FindProcess, MatchesNamesWhole) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  const base::Error error = find_error(roots, "memho");
  EXPECT_EQ(error.kind, ErrorKind::NotFound);
  EXPECT_EQ(error.what, "no process is called 'memho'");
  EXPECT_EQ(error.hint, "names are matched whole; `tidemark ps` lists them");
}

TEST(FindProcess, EscapesANameItCannotFind) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_EQ(find_error(roots, "\x1b[2J").what,
            "no process is called '\\x1b[2J'");
}

TEST(FindProcess, RefusesPidsThatCannotBe) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  for (const char* word :
       {"0", "4711", "2147483648", "99999999999999999999999"}) {
    const base::Error error = find_error(roots, word);
    EXPECT_EQ(error.kind, ErrorKind::NotFound);
    EXPECT_EQ(error.what, "no process has the pid " + std::string(word));
  }
}

TEST(FindProcess, RefusesWhatLooksLikeAnOption) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  for (const char* word : {"-1", "-memhog", "-"}) {
    const base::Error error = find_error(roots, word);
    EXPECT_EQ(error.kind, ErrorKind::Misused);
    EXPECT_EQ(error.what, "'" + std::string(word) + "' is no pid and no name");
  }
}

TEST(FindProcess, TakesOtherNumbersForNames) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  for (const char* word : {"1.5", "0x1", "+1", ""}) {
    EXPECT_EQ(find_error(roots, word).what,
              "no process is called '" + std::string(word) + "'");
  }
}

TEST(FindProcess, ListsTheBearersOfANameThatSeveralHave) {
  TemporaryTree tree;
  tree.add_process(10, 1, "worker");
  tree.add("10/cmdline", std::string_view("/opt/worker\0--fast\0", 19));
  tree.add_process(11, 1, "worker");
  const Roots roots = tree.roots();
  const base::Error error = find_error(roots, "worker");
  EXPECT_EQ(error.kind, ErrorKind::Misused);
  EXPECT_EQ(error.what,
            "'worker' is the name of 2 processes:\n"
            "  10  /opt/worker --fast\n"
            "  11  worker");
  EXPECT_EQ(error.hint, "name one of them by its pid");
}

TEST(FindProcess, ListsTenBearersAndCountsTheRest) {
  TemporaryTree tree;
  for (int32_t pid = 10; pid < 22; ++pid)
    tree.add_process(pid, 1, "worker");
  const Roots roots = tree.roots();
  const std::string what = find_error(roots, "worker").what;
  EXPECT_EQ(std::ranges::count(what, '\n'), 11);
  EXPECT_TRUE(what.ends_with("\n  19  worker\n  and 2 more")) << what;
}

TEST(FindProcess, SaysThatAPidMayNotBeLookedAt) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.deny("42");
  const Roots roots = tree.roots();
  OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root may not become nobody here";
  EXPECT_EQ(find_error(roots, "42").kind, ErrorKind::Denied);
}

}  // namespace
}  // namespace tidemark::source
