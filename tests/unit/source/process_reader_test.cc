#include "source/process_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "unit/quantities.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Process;
using model::ProcessState;
using model::SmapsField;
using model::Thread;
using test::fixture_roots;
using test::OrdinaryUser;
using test::TemporaryTree;

using test::kKiB;
constexpr const char* kCannotBecomeNobody =
    "root may not become nobody here, so nothing is denied";

base::Result<Process> read(const Roots& roots, int32_t pid,
                           ProcessDetail detail = {}) {
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  return ProcessReader(roots, cgroups, detail).read(pid);
}

Process read_fixture_process(const std::string& tree, int32_t pid,
                             ProcessDetail detail = {}) {
  const Roots roots = fixture_roots(tree + "/proc");
  base::Result<Process> process = read(roots, pid, detail);
  EXPECT_TRUE(process) << process.error().what;
  return process ? *process : Process();
}

Process read_process(const TemporaryTree& tree, int32_t pid,
                     ProcessDetail detail = {}) {
  const Roots roots = tree.roots();
  base::Result<Process> process = read(roots, pid, detail);
  EXPECT_TRUE(process) << process.error().what;
  return process ? *process : Process();
}

ProcessDetail only_mappings() {
  return {.rollup = false, .mappings = true, .cgroup = false};
}

// ---- a process like any other

TEST(ProcessReader, KnowsAProcessByPidAndStart) {
  const Process process = read_fixture_process("debian-6.1", 110);
  EXPECT_EQ(process.id, (model::ProcessId{110, 364}));
  EXPECT_EQ(process.stat.comm, "memhog");
  EXPECT_EQ(process.stat.parent_pid, 106);
  EXPECT_EQ(process.state, ProcessState::Ok);
}

TEST(ProcessReader, ReadsTheCommandLine) {
  EXPECT_EQ(read_fixture_process("debian-6.1", 110).command_line,
            std::string_view("memhog\0anon\0008", 13));
}

TEST(ProcessReader, ReadsTheGroupThatOwnsItsMemory) {
  EXPECT_EQ(read_fixture_process("debian-6.1", 110).cgroup_path, "/app");
  EXPECT_EQ(read_fixture_process("host-6.18", 3).cgroup_path, "/app");
}

TEST(ProcessReader, ReadsStatus) {
  const Process process = read_fixture_process("debian-6.1", 110);
  EXPECT_EQ(process.status.user_id, 0U);
  EXPECT_EQ(process.status.page_table_bytes, 52 * kKiB);
  EXPECT_EQ(process.status.peak_rss_bytes, 8776 * kKiB);
}

TEST(ProcessReader, ReadsTheRollup) {
  const Process process = read_fixture_process("debian-6.1", 110);
  ASSERT_TRUE(process.rollup) << process.rollup.unknown_because;
  EXPECT_EQ(process.rollup->get(SmapsField::Pss), 8889 * kKiB);
  EXPECT_EQ(process.rollup->get(SmapsField::PssShmem), 648 * kKiB);
}

TEST(ProcessReader, LeavesWhatWasNotAskedFor) {
  const Process process = read_fixture_process("host-6.18", 3);
  EXPECT_FALSE(process.mappings);
  EXPECT_FALSE(process.threads);
  EXPECT_FALSE(process.descriptors);
  EXPECT_EQ(process.mappings.unknown_because, "") << "not asked is no reason";
}

// ---- mappings, threads, descriptors

TEST(ProcessReader, ReadsEveryMapping) {
  const Process process = read_fixture_process("host-6.18", 3, only_mappings());
  ASSERT_TRUE(process.mappings) << process.mappings.unknown_because;
  EXPECT_EQ(process.mappings->size(), 35U);
}

TEST(ProcessReader, SumsTheMappingsWhereNoRollupWasAsked) {
  const Process process = read_fixture_process("host-6.18", 3, only_mappings());
  ASSERT_TRUE(process.rollup) << process.rollup.unknown_because;
  EXPECT_EQ(process.rollup->get(SmapsField::Rss), 2992 * kKiB);
  EXPECT_EQ(process.rollup->get(SmapsField::Pss), 906 * kKiB)
      << "the rollup says 915: smaps cuts each mapping to whole KiB";
  EXPECT_FALSE(process.rollup->has(SmapsField::PssAnon));
}

TEST(ProcessReader, PrefersTheRollupToTheSumOfMappings) {
  const Process process =
      read_fixture_process("host-6.18", 3, {.mappings = true});
  ASSERT_TRUE(process.rollup) << process.rollup.unknown_because;
  EXPECT_EQ(process.rollup->get(SmapsField::Pss), 915 * kKiB);
}

TEST(ProcessReader, FindsTheStackPointersOfThreads) {
  const Process process =
      read_fixture_process("host-6.18", 3, {.mappings = true, .threads = true});
  ASSERT_TRUE(process.threads) << process.threads.unknown_because;
  EXPECT_EQ(*process.threads,
            (std::vector<Thread>{{3, "zoo", 'S', 0x7ffc5ac30bf0},
                                 {7, "arena user", 'S', 0x7f361f7fee90},
                                 {8, "own stack", 'S', 0x7f361fc78eb0}}));
}

TEST(ProcessReader, LeavesTheStackPointersWithoutMappings) {
  const Process process =
      read_fixture_process("host-6.18", 3, {.threads = true});
  ASSERT_TRUE(process.threads) << process.threads.unknown_because;
  EXPECT_EQ(process.threads->front(), (Thread{3, "zoo", 'S', std::nullopt}));
}

TEST(ProcessReader, AThreadThatWasRunningHasNoStackPointer) {
  TemporaryTree tree;
  tree.add_process(42, 1, "busy");
  tree.add("42/smaps", "00400000-00401000 rw-p 00000000 00:00 0 \n");
  tree.add("42/task/42/stat", TemporaryTree::stat(42, 1, "busy", 'R', 100));
  tree.add("42/task/42/syscall", "running\n");
  const Process process =
      read_process(tree, 42, {.mappings = true, .threads = true});
  ASSERT_TRUE(process.threads) << process.threads.unknown_because;
  EXPECT_EQ(*process.threads,
            (std::vector<Thread>{{42, "busy", 'R', std::nullopt}}));
}

TEST(ProcessReader, CountsDescriptorsByKind) {
  TemporaryTree tree;
  tree.add_process(42, 1, "server");
  tree.link("42/fd/0", "/dev/null");
  tree.link("42/fd/1", "socket:[12]");
  tree.link("42/fd/2", "socket:[13]");
  const Process process = read_process(tree, 42, {.descriptors = true});
  ASSERT_TRUE(process.descriptors) << process.descriptors.unknown_because;
  EXPECT_EQ(*process.descriptors, (std::vector<model::DescriptorCount>{
                                      {"socket", 2}, {"device", 1}}));
}

TEST(ProcessReader, SumsTheKernelMemoryBehindBpfDescriptors) {
  TemporaryTree tree;
  tree.add_process(42, 1, "tracer");
  tree.link("42/fd/3", "anon_inode:bpf-map");
  tree.add("42/fdinfo/3", "pos:\t0\nmap_type:\t1\nmemlock:\t4096\n");
  tree.link("42/fd/4", "anon_inode:bpf-map");
  tree.add("42/fdinfo/4", "memlock:\t8192\n");
  tree.link("42/fd/5", "anon_inode:bpf-map");  // closed before its fdinfo
  const Process process = read_process(tree, 42, {.descriptors = true});
  ASSERT_TRUE(process.descriptors) << process.descriptors.unknown_because;
  EXPECT_EQ(*process.descriptors,
            (std::vector<model::DescriptorCount>{{"bpf-map", 3, 12288}}));
}

// ---- what has no memory

TEST(ProcessReader, AKernelThreadHasNoMemoryToRead) {
  const Process process = read_fixture_process("debian-6.12", 2);
  EXPECT_EQ(process.state, ProcessState::KernelThread);
  EXPECT_EQ(process.stat.comm, "kthreadd");
  EXPECT_FALSE(process.rollup);
}

TEST(ProcessReader, AZombieHasNoMemoryButAnOwner) {
  const Process process = read_fixture_process("hostile", 12);
  EXPECT_EQ(process.state, ProcessState::Zombie);
  EXPECT_EQ(process.status.user_id, 1000U);
  EXPECT_FALSE(process.rollup);
  EXPECT_EQ(process.rollup.unknown_because, "");
}

TEST(ProcessReader, AProcessTornDownIsAZombie) {
  TemporaryTree tree;
  tree.add("42/stat", TemporaryTree::stat(42, 1, "x", 'X', 100));
  EXPECT_EQ(read_process(tree, 42).state, ProcessState::Zombie);
}

TEST(ProcessReader, IsReadThroughAThreadThatLives) {
  TemporaryTree tree;
  tree.add_headless(42, 3);
  tree.add_thread(42, 43, 'Z', 0);
  tree.add_thread(42, 44, 'S', 100);
  tree.add_process(44, 1, "other");  // a thread and a process of one number
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.state, ProcessState::Ok);
  EXPECT_EQ(process.id, (model::ProcessId{42, 100}));
  EXPECT_EQ(process.stat.comm, "server");
  EXPECT_EQ(process.stat.state, 'S');
  ASSERT_TRUE(process.rollup) << process.rollup.unknown_because;
  EXPECT_EQ(process.rollup->get(SmapsField::Rss), 400 * kKiB);
}

TEST(ProcessReader, IsAZombieWhenNoThreadHasMemory) {
  TemporaryTree tree;
  tree.add_headless(42, 2);
  tree.add_thread(42, 43, 'X', 0);
  EXPECT_EQ(read_process(tree, 42).state, ProcessState::Zombie);
}

// ---- files that are not there

TEST(ProcessReader, WithoutARollupSumsSmaps) {
  const Process process = read_fixture_process("hostile", 14);
  EXPECT_EQ(process.state, ProcessState::Ok);
  ASSERT_TRUE(process.rollup) << process.rollup.unknown_because;
  EXPECT_EQ(process.rollup->get(SmapsField::Rss), (64 + 400 + 12) * kKiB);
  EXPECT_EQ(process.rollup->get(SmapsField::Pss), (44 + 400 + 12) * kKiB);
  EXPECT_EQ(process.rollup->get(SmapsField::PssAnon), std::nullopt)
      << "smaps does not split";
}

TEST(ProcessReader, WithNeitherRollupNorSmapsSaysWhichIsMissing) {
  const Process process = read_fixture_process("hostile", 15);
  EXPECT_EQ(process.state, ProcessState::Failed);
  EXPECT_TRUE(process.rollup.unknown_because.ends_with(
      "proc/15/smaps: No such file or directory"))
      << process.rollup.unknown_because;
}

TEST(ProcessReader, WithNeitherRollupNorSmapsStillHasStatm) {
  const Process process = read_fixture_process("hostile", 15);
  ASSERT_TRUE(process.statm);
  EXPECT_EQ(process.statm->resident_pages, 119U);
}

TEST(ProcessReader, WithoutStatusKeepsTheRest) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.status, model::ProcessStatus());
  EXPECT_EQ(process.state, ProcessState::Ok);
  EXPECT_TRUE(process.rollup);
}

TEST(ProcessReader, WithoutACommandLineKeepsTheRest) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.command_line, "");
  EXPECT_TRUE(process.rollup);
}

TEST(ProcessReader, WithoutACgroupKeepsTheRest) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  EXPECT_EQ(read_process(tree, 42).cgroup_path, "");
  tree.add("42/cgroup", "garbage\n");
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.cgroup_path, "");
  EXPECT_TRUE(process.rollup);
}

TEST(ProcessReader, WithoutATaskDirectorySaysWhyItHasNoThreads) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  const Process process = read_process(tree, 42, {.threads = true});
  EXPECT_FALSE(process.threads);
  EXPECT_EQ(process.threads.unknown_because,
            tree.path("42/task") + ": No such file or directory");
  EXPECT_TRUE(process.rollup);
}

TEST(ProcessReader, WithoutADescriptorDirectorySaysWhyItHasNone) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  const Process process = read_process(tree, 42, {.descriptors = true});
  EXPECT_FALSE(process.descriptors);
  EXPECT_EQ(process.descriptors.unknown_because,
            tree.path("42/fd") + ": No such file or directory");
}

TEST(ProcessReader, ARollupThatCannotBeParsedIsAFailureAndNoZero) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.add("42/smaps_rollup", "Pss: lots kB\n");
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.state, ProcessState::Failed);
  EXPECT_FALSE(process.rollup);
}

// ---- files that may not be read

TEST(ProcessReader, ADeniedProcessSaysSoAndShowsItsStatm) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.deny("42/smaps_rollup");
  OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << kCannotBecomeNobody;
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.state, ProcessState::Denied);
  EXPECT_EQ(process.rollup.unknown_because,
            "denied: " + tree.path("42/smaps_rollup") + ": Permission denied");
  ASSERT_TRUE(process.statm);
  EXPECT_EQ(process.statm->resident_pages, 10U);
}

TEST(ProcessReader, DeniedMappingsAreDenied) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.add("42/smaps", "");
  tree.deny("42/smaps");
  OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << kCannotBecomeNobody;
  const Process process = read_process(tree, 42, only_mappings());
  EXPECT_EQ(process.state, ProcessState::Denied);
  EXPECT_EQ(process.mappings.unknown_because,
            "denied: " + tree.path("42/smaps") + ": Permission denied");
}

TEST(ProcessReader, DeniedDescriptorsCostOnlyThemselves) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.link("42/fd/0", "/dev/null");
  tree.deny("42/fd");
  OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << kCannotBecomeNobody;
  const Process process = read_process(tree, 42, {.descriptors = true});
  EXPECT_EQ(process.state, ProcessState::Ok);
  EXPECT_EQ(process.descriptors.unknown_because,
            "denied: " + tree.path("42/fd") + ": Permission denied");
}

// As with the mount option hidepid=1: the pid is listed, nothing else is told.
TEST(ProcessReader, AProcessWithADeniedDirectoryIsDeniedAndNoError) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.deny("42");
  {
    OrdinaryUser user;
    if (!user.is_bound()) GTEST_SKIP() << kCannotBecomeNobody;
    const Process process = read_process(tree, 42);
    EXPECT_EQ(process.state, ProcessState::Denied);
    EXPECT_EQ(process.id.pid, 42);
    EXPECT_EQ(process.rollup.unknown_because,
              "denied: " + tree.path("42") + ": Permission denied");
  }
}

// ---- processes that are not there

TEST(ProcessReader, AStatThatWasCutShortIsAFailedRowAndNoError) {
  TemporaryTree tree;
  tree.add("7/stat", "7 (cut");
  const Process process = read_process(tree, 7);
  EXPECT_EQ(process.id.pid, 7);
  EXPECT_EQ(process.state, ProcessState::Failed);
  EXPECT_NE(process.rollup.unknown_because.find("stat: cannot read"),
            std::string::npos)
      << process.rollup.unknown_because;
}

TEST(ProcessReader, AProcessThatIsNotThereIsNotFound) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  base::Result<Process> process = read(roots, 4711);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().kind, ErrorKind::NotFound);
}

TEST(ProcessReader, AnEmptySmapsInACopyIsAFailureThatIsSaid) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.remove("42/smaps_rollup");
  tree.add("42/smaps", "");
  const Process process = read_process(tree, 42);
  EXPECT_EQ(process.state, ProcessState::Failed);
  EXPECT_TRUE(process.rollup.unknown_because.ends_with("it is empty"));
}

TEST(ProcessReader, CountsDescriptorsWhoseLinksAreDenied) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.add("42/fd/3", "no link, so that reading it as one fails");
  const Process process = read_process(tree, 42, {.descriptors = true});
  ASSERT_TRUE(process.descriptors);
  EXPECT_EQ(*process.descriptors,
            (std::vector<model::DescriptorCount>{{"unreadable", 1, 0}}));
}

// Reads pid 42, which ends when its command line is about to be read: by then
// its identity is known and its memory is not.
ProcessState state_of_one_that_ends_meanwhile(ProcessDetail detail) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  EXPECT_EQ(::mkfifo(tree.path("42/cmdline").c_str(), 0600), 0);
  std::thread killer([&] {
    // Blocks until the reader has opened the other end.
    std::ofstream fifo(tree.path("42/cmdline"), std::ios::binary);
    for (const char* name : {"42/stat", "42/statm", "42/smaps_rollup"}) {
      tree.remove(name);
    }
  });
  const ProcessState state = read_process(tree, 42, detail).state;
  killer.join();
  return state;
}

TEST(ProcessReader, OneThatEndsBeforeItsRollupIsReadIsGone) {
  EXPECT_EQ(state_of_one_that_ends_meanwhile({}), ProcessState::Gone);
}

TEST(ProcessReader, OneThatEndsBeforeItsMappingsAreReadIsGone) {
  EXPECT_EQ(state_of_one_that_ends_meanwhile(only_mappings()),
            ProcessState::Gone);
}

// ---- pids and children

std::vector<int32_t> children_of(const Roots& roots, int32_t pid) {
  const CgroupHierarchy none;
  base::Result<std::vector<int32_t>> children =
      ProcessReader(roots, none, {}).children(pid);
  EXPECT_TRUE(children) << children.error().what;
  std::vector<int32_t> sorted = children ? *children : std::vector<int32_t>();
  std::ranges::sort(sorted);
  return sorted;
}

TEST(Pids, AreListedAscendingAndWithoutOtherFiles) {
  TemporaryTree tree;
  for (const char* name :
       {"100/stat", "9/stat", "23/stat", "0/stat", "-5/stat", "self/stat",
        "12x/stat", "4294967297/stat", "meminfo"}) {
    tree.add(name, "");
  }
  const Roots roots = tree.roots();
  const CgroupHierarchy none;
  base::Result<std::vector<int32_t>> pids =
      ProcessReader(roots, none, {}).list_pids();
  ASSERT_TRUE(pids) << pids.error().what;
  EXPECT_EQ(*pids, (std::vector<int32_t>{9, 23, 100}));
}

TEST(Children, AreReadFromTheKernelsList) {
  const Roots roots = fixture_roots("debian-6.1/proc");
  EXPECT_EQ(children_of(roots, 106), (std::vector<int32_t>{110, 196}))
      << "196 was the copying cp: listed, though not in the tree";
}

TEST(Children, AreThoseOfEveryThread) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.add("42/task/42/children", "50 \n");
  tree.add("42/task/43/children", "51 52 ");
  const Roots roots = tree.roots();
  EXPECT_EQ(children_of(roots, 42), (std::vector<int32_t>{50, 51, 52}));
}

TEST(Children, AreFoundByParentWhereTheKernelHasNoList) {
  TemporaryTree tree;
  for (int32_t pid : {42, 50, 51})
    tree.add_process(pid, pid == 42 ? 1 : 42, "x");
  tree.add_process(60, 50, "x");
  tree.add("42/task/42/stat", "");
  const Roots roots = tree.roots();
  EXPECT_EQ(children_of(roots, 42), (std::vector<int32_t>{50, 51}));
}

TEST(Children, AreFoundByParentWhereATreeHasNoTasks) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.add_process(50, 42, "x");
  const Roots roots = tree.roots();
  EXPECT_EQ(children_of(roots, 42), (std::vector<int32_t>{50}));
}

TEST(Children, OfAThreadThatEndedMeanwhileAreLeftOut) {
  TemporaryTree tree;
  tree.add_process(42, 1, "x");
  tree.add("42/task/42/children", "50 ");
  tree.add("42/task/43/comm", "");
  tree.add_process(50, 42, "x");
  tree.add_process(51, 42, "not in the list");
  const Roots roots = tree.roots();
  EXPECT_EQ(children_of(roots, 42), (std::vector<int32_t>{50}));
}

}  // namespace
}  // namespace tidemark::source
