#include "parse/process_files.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/fixture.h"
#include "unit/parse/truncation.h"

namespace tidemark::parse {
namespace {

using base::ErrorKind;
using test::read_fixture;

// What follows comm up to the start time, as of pid 42.
constexpr std::string_view kAfterComm =
    " S 1 42 40 0 -1 4194304 11 0 22 0 1 2 0 0 20 0 3 0 188246 4096 700\n";

std::string stat_of(std::string_view comm) {
  return "42 (" + std::string(comm) + ")" + std::string(kAfterComm);
}

// ---- stat

TEST(Stat, ReadsTheFieldsWeNeed) {
  base::Result<model::ProcessStat> stat = parse_stat(stat_of("zoo"));
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->comm, "zoo");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent_pid, 1);
  EXPECT_EQ(stat->session_id, 40);
  EXPECT_FALSE(stat->is_kernel_thread);
  EXPECT_EQ(stat->minor_fault_count, 11U);
  EXPECT_EQ(stat->major_fault_count, 22U);
  EXPECT_EQ(stat->thread_count, 3U);
  EXPECT_EQ(stat->start_ticks, 188246U);
}

TEST(Stat, EndsCommAtTheLastBracket) {
  for (const char* comm : {"a) (b", ") R 9 (", "(((())))", ")", "(", "",
                           "a) R 1\n(b", "two words", "\xff\x1b[m"}) {
    base::Result<model::ProcessStat> stat = parse_stat(stat_of(comm));
    ASSERT_TRUE(stat) << stat.error().what;
    EXPECT_EQ(stat->comm, comm);
    EXPECT_EQ(stat->parent_pid, 1) << comm;
  }
}

RC_GTEST_PROP(Stat, ReadsAnyComm, (const std::string& comm)) {
  base::Result<model::ProcessStat> stat = parse_stat(stat_of(comm));
  RC_ASSERT(static_cast<bool>(stat));
  RC_ASSERT(stat->comm == comm);
  RC_ASSERT(stat->start_ticks == 188246U);
}

TEST(Stat, KnowsAKernelThreadByItsFlag) {
  base::Result<model::ProcessStat> stat =
      parse_stat(read_fixture("debian-6.12/proc/2/stat"));
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_TRUE(stat->is_kernel_thread);
  EXPECT_EQ(stat->comm, "kthreadd");
  EXPECT_EQ(stat->parent_pid, 0);
}

TEST(Stat, ReadsAChildOfARealProcess) {
  base::Result<model::ProcessStat> stat =
      parse_stat(read_fixture("host-6.18/proc/5/stat"));
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_EQ(stat->comm, "zoo) (worker");
  EXPECT_EQ(stat->parent_pid, 3);
}

TEST(Stat, TakesTheSessionOfADeadProcess) {
  base::Result<model::ProcessStat> stat = parse_stat(
      "42 (x) X 0 -1 -1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 0 0 7 0 0\n");
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_EQ(stat->session_id, -1);
}

TEST(Stat, RefusesWhatIsNoStat) {
  for (const std::string& text : {
           std::string(),
           std::string("42"),
           std::string("42 zoo S 1"),
           std::string("42 )zoo("),
           std::string("42 (zoo)"),
           std::string("42 (zoo) S 1 42"),
           "x" + stat_of("zoo"),
           "-" + stat_of("zoo"),
           "0 (zoo)" + std::string(kAfterComm),
           "42 (zoo) SS" + std::string(kAfterComm.substr(2)),
       }) {
    base::Result<model::ProcessStat> stat = parse_stat(text);
    ASSERT_FALSE(stat) << text;
    EXPECT_EQ(stat.error().kind, ErrorKind::Malformed);
  }
}

TEST(Stat, RefusesNumbersThatDoNotFit) {
  constexpr std::string_view kRest =
      " 42 40 0 -1 4194304 11 0 22 0 1 2 0 0 20 0 3 0 188246\n";
  EXPECT_TRUE(parse_stat("42 (x) S 2147483647" + std::string(kRest)));
  EXPECT_FALSE(parse_stat("42 (x) S 2147483648" + std::string(kRest)))
      << "a parent must not become negative";
  EXPECT_FALSE(
      parse_stat("42 (x) S 1 42 4294967297 0 -1 4194304 11 0 22 0 1 2 0 0 20 0 "
                 "3 0 188246\n"))
      << "a session must not become 1";
}

TEST(Stat, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(read_fixture("host-6.18/proc/5/stat"),
                                   "stat", parse_stat);
}

TEST(Stat, TellsWhereTheArgumentsLie) {
  // Fields 25 to 52 of a process that may be looked into.
  const std::string whole =
      "42 (zoo) S 1 42 40 0 -1 4194304 11 0 22 0 1 2 0 0 20 0 3 0 188246 4096 "
      "700 18446744073709551615 1 2 3 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 4 5 "
      "6 "
      "140722601234567 140722601234599 8 9 0\n";
  base::Result<model::ProcessStat> stat = parse_stat(whole);
  ASSERT_TRUE(stat) << stat.error().what;
  EXPECT_EQ(stat->argument_address, 140722601234567U);
  EXPECT_EQ(parse_stat(stat_of("zoo"))->argument_address, 0U)
      << "unknown where the line is short";
}

// ---- oom_score, oom_score_adj

TEST(OomNumber, ReadsBothSigns) {
  EXPECT_EQ(*parse_oom_number("666\n"), 666);
  EXPECT_EQ(*parse_oom_number("-1000\n"), -1000);
  EXPECT_EQ(*parse_oom_number("0"), 0);
}

TEST(OomNumber, RefusesGarbage) {
  for (const char* text : {"", "\n", "x\n", "1 2\n", "--1\n"}) {
    base::Result<int64_t> number = parse_oom_number(text);
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().kind, ErrorKind::Malformed);
  }
}

// ---- statm

TEST(Statm, ReadsPagesInTheOrderOfTheKernel) {
  base::Result<model::Statm> statm =
      parse_statm(read_fixture("debian-6.12/proc/151/statm"));
  ASSERT_TRUE(statm) << statm.error().what;
  EXPECT_EQ(*statm, (model::Statm{2295, 2224, 163, 121, 2123}));
}

TEST(Statm, OfAKernelThreadIsZero) {
  base::Result<model::Statm> statm =
      parse_statm(read_fixture("debian-6.12/proc/2/statm"));
  ASSERT_TRUE(statm) << statm.error().what;
  EXPECT_EQ(*statm, model::Statm());
}

TEST(Statm, RefusesFewerNumbersAndGarbage) {
  for (const char* text :
       {"", "\n", "1 2 3 4 5 6", "1 2 3 4 5 6 x", "1 2 -3 4 5 6 7",
        "1 2 3 4 5 6 99999999999999999999"}) {
    EXPECT_FALSE(parse_statm(text)) << text;
  }
}

TEST(Statm, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation("2295 2224 163 121 0 2123 0\n", "statm",
                                   parse_statm);
}

// ---- status

TEST(StatusFile, ReadsTheMemoryLinesOfARealProcess) {
  base::Result<model::ProcessStatus> status =
      parse_status(read_fixture("debian-6.12/proc/151/status"));
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->user_id, 0U);
  EXPECT_EQ(status->thread_count, 1U);
  EXPECT_EQ(status->peak_size_bytes, 9180U * 1024);
  EXPECT_EQ(status->size_bytes, 9180U * 1024);
  EXPECT_EQ(status->locked_bytes, 0U);
  EXPECT_EQ(status->peak_rss_bytes, 8896U * 1024);
  EXPECT_EQ(status->rss_bytes, 8896U * 1024);
  EXPECT_EQ(status->rss_anon_bytes, 8244U * 1024);
  EXPECT_EQ(status->rss_file_bytes, 4U * 1024);
  EXPECT_EQ(status->rss_shmem_bytes, 648U * 1024);
  EXPECT_EQ(status->page_table_bytes, 56U * 1024);
  EXPECT_EQ(status->swap_bytes, 0U);
  EXPECT_EQ(status->hugetlb_bytes, 0U);
}

TEST(StatusFile, LeavesTheMemoryOfAKernelThreadEmpty) {
  base::Result<model::ProcessStatus> status =
      parse_status(read_fixture("debian-6.12/proc/2/status"));
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->thread_count, 1U);
  EXPECT_FALSE(status->rss_bytes) << "absent must not read as zero";
  EXPECT_FALSE(status->swap_bytes);
}

TEST(StatusFile, OfNothingKnowsNothing) {
  base::Result<model::ProcessStatus> status = parse_status("");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(*status, model::ProcessStatus());
}

TEST(StatusFile, TakesTheRealUser) {
  base::Result<model::ProcessStatus> status =
      parse_status("Uid:\t1000\t0\t0\t0\n");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->user_id, 1000U);
}

TEST(StatusFile, TakesTheLargestUser) {
  base::Result<model::ProcessStatus> status =
      parse_status("Uid:\t4294967295\t0\t0\t0\n");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->user_id, 4294967295U);
}

TEST(StatusFile, RefusesAKnownLabelWithGarbage) {
  for (const char* line :
       {"VmRSS:\t lots kB", "VmRSS:", "VmRSS:\t1", "VmSwap:\t1 MB",
        "VmHWM:\t18014398509481984 kB", "Uid:\troot",
        "Uid:", "Uid:\t4294967296\t0\t0\t0", "Threads:\tx", "Threads:\t-1"}) {
    base::Result<model::ProcessStatus> status =
        parse_status("Name:\tzoo\n" + std::string(line) + "\n");
    ASSERT_FALSE(status) << line;
    EXPECT_EQ(status.error().kind, ErrorKind::Malformed);
    EXPECT_TRUE(status.error().what.starts_with("status: cannot read '"));
  }
}

TEST(StatusFile, SkipsUnknownLabels) {
  base::Result<model::ProcessStatus> status =
      parse_status("VmNew:\tx\nno colon\n\nVmRSS:\t4 kB");
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->rss_bytes, 4096U);
}

TEST(StatusFile, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(read_fixture("debian-6.12/proc/151/status"),
                                   "status", parse_status);
}

// ---- children

TEST(Children, ReadsPidsPartedByBlanks) {
  base::Result<std::vector<int32_t>> children =
      parse_children(read_fixture("host-6.18/proc/3/task/3/children"));
  ASSERT_TRUE(children) << children.error().what;
  EXPECT_EQ(*children, (std::vector<int32_t>{5, 6}));
}

TEST(Children, OfNobodyAreNone) {
  base::Result<std::vector<int32_t>> children = parse_children("");
  ASSERT_TRUE(children) << children.error().what;
  EXPECT_TRUE(children->empty());
}

TEST(Children, RefusesWhatIsNoPid) {
  for (const char* text : {"x ", "1 x 2", "0", "-1", "99999999999", "1,2"}) {
    EXPECT_FALSE(parse_children(text)) << text;
  }
}

TEST(Children, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation("147 151 4194304 ", "children",
                                   parse_children);
}

// ---- syscall

TEST(SyscallStackPointer, IsTheLastButOneInsideASystemCall) {
  base::Result<std::optional<uint64_t>> pointer = parse_syscall_stack_pointer(
      "61 0xffffffff 0x7ffc789e74fc 0x0 0x0 0x0 0x0 0x7ffc789e74d8 0x460a63\n");
  ASSERT_TRUE(pointer) << pointer.error().what;
  EXPECT_EQ(*pointer, 0x7ffc789e74d8U);
}

TEST(SyscallStackPointer, IsTheLastButOneOutsideToo) {
  base::Result<std::optional<uint64_t>> pointer =
      parse_syscall_stack_pointer("-1 0x7ffc789e74d8 0x460a63\n");
  ASSERT_TRUE(pointer) << pointer.error().what;
  EXPECT_EQ(*pointer, 0x7ffc789e74d8U);
}

TEST(SyscallStackPointer, IsUnknownWhileRunning) {
  base::Result<std::optional<uint64_t>> pointer =
      parse_syscall_stack_pointer("running\n");
  ASSERT_TRUE(pointer) << pointer.error().what;
  EXPECT_FALSE(*pointer);
}

TEST(SyscallStackPointer, IsNoneOfAKernelThread) {
  base::Result<std::optional<uint64_t>> pointer = parse_syscall_stack_pointer(
      read_fixture("debian-6.12/proc/2/task/2/syscall"));
  ASSERT_TRUE(pointer) << pointer.error().what;
  EXPECT_FALSE(*pointer);
}

TEST(SyscallStackPointer, RefusesWhatIsNoPointer) {
  for (const char* text : {"", "\n", "61", "61 7ffc 0x1", "-1 0xzz 0x1",
                           "-1 0x 0x1", "-1 0x12345678901234567 0x1"}) {
    EXPECT_FALSE(parse_syscall_stack_pointer(text)) << text;
  }
}

TEST(SyscallStackPointer, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(
      "61 0xffffffff 0x0 0x7ffc789e74d8 0x460a63\n", "syscall",
      parse_syscall_stack_pointer);
}

// ---- cmdline

TEST(CommandLine, KeepsTheNulsBetweenArguments) {
  EXPECT_EQ(parse_command_line(std::string_view("zoo\0a b\0", 8)),
            std::string_view("zoo\0a b", 7));
}

TEST(CommandLine, DropsWhatProgramsLeaveBehindATitle) {
  EXPECT_EQ(
      parse_command_line(std::string_view("postgres: writer  \0\0 \0", 22)),
      "postgres: writer");
}

TEST(CommandLine, OfAKernelThreadIsEmpty) {
  EXPECT_EQ(parse_command_line(""), "");
  EXPECT_EQ(parse_command_line(std::string_view("\0\0", 2)), "");
}

TEST(CommandLine, KeepsNewlinesAndBrokenBytes) {
  EXPECT_EQ(parse_command_line(std::string_view("a\nb\xff\0", 5)), "a\nb\xff");
}

// ---- cgroup

TEST(CgroupFile, ReadsTheOneLineOfV2) {
  base::Result<std::vector<CgroupMembership>> groups =
      parse_cgroup(read_fixture("debian-6.12/proc/151/cgroup"));
  ASSERT_TRUE(groups) << groups.error().what;
  EXPECT_EQ(*groups, (std::vector<CgroupMembership>{{0, "", "/app"}}));
}

TEST(CgroupFile, ReadsEveryHierarchyOfV1) {
  base::Result<std::vector<CgroupMembership>> groups =
      parse_cgroup(read_fixture("host-6.18/proc/3/cgroup"));
  ASSERT_TRUE(groups) << groups.error().what;
  ASSERT_EQ(groups->size(), 10U);
  EXPECT_EQ(groups->at(0), (CgroupMembership{9, "name=systemd", "/"}));
  EXPECT_EQ(groups->at(5), (CgroupMembership{4, "memory", "/app"}));
  EXPECT_EQ(groups->at(9), (CgroupMembership{0, "", "/"}));
}

TEST(CgroupFile, KeepsControllersThatShareAHierarchy) {
  base::Result<std::vector<CgroupMembership>> groups =
      parse_cgroup("3:cpu,cpuacct:/a\n");
  ASSERT_TRUE(groups) << groups.error().what;
  EXPECT_EQ(groups->at(0).controllers, "cpu,cpuacct");
}

TEST(CgroupFile, KeepsColonsBlanksAndEscapesOfThePath) {
  for (const char* path :
       {"/a:b:c", "/a b (deleted)", "/\x1b[2J\"<b>", "/../x", "/\xff"}) {
    base::Result<std::vector<CgroupMembership>> groups =
        parse_cgroup("0::" + std::string(path) + "\n");
    ASSERT_TRUE(groups) << groups.error().what;
    EXPECT_EQ(*groups, (std::vector<CgroupMembership>{{0, "", path}}));
  }
}

TEST(CgroupFile, OfNothingIsNothing) {
  base::Result<std::vector<CgroupMembership>> groups = parse_cgroup("");
  ASSERT_TRUE(groups) << groups.error().what;
  EXPECT_TRUE(groups->empty());
}

TEST(CgroupFile, RefusesWhatIsNoMembership) {
  for (const char* text :
       {"\n", "0", "0:", "0::", "0::app", "x::/", "::/", "4:memory", "-1::/"}) {
    EXPECT_FALSE(parse_cgroup(text)) << text;
  }
}

TEST(CgroupFile, SurvivesTruncationAtEveryByte) {
  test::expect_survives_truncation(read_fixture("host-6.18/proc/3/cgroup"),
                                   "cgroup", parse_cgroup);
}

// ---- fd

TEST(DescriptorKind, IsReadFromTheTargetOfTheLink) {
  const std::pair<const char*, const char*> cases[] = {
      {"/var/log/syslog", "file"},
      {"/dev/shm/segment", "file"},
      {"/tmp/x (deleted)", "deleted file"},
      {"/dev/null", "device"},
      {"/dev/pts/3", "device"},
      {"/memfd:frame cache (deleted)", "memfd"},
      {"/dmabuf:", "dma-buf"},
      {"/SYSV00000000 (deleted)", "sysv"},
      {"socket:[40680]", "socket"},
      {"pipe:[40679]", "pipe"},
      {"net:[4026531840]", "namespace"},
      {"anon_inode:[eventfd]", "eventfd"},
      {"anon_inode:[eventpoll]", "eventpoll"},
      {"anon_inode:bpf-map", "bpf-map"},
      {"anon_inode:inotify", "inotify"},
      {"anon_inode:kvm-vcpu:0", "kvm-vcpu"},
      {"something else", "other"},
      {"", "other"},
  };
  for (const auto& [target, kind] : cases) {
    EXPECT_EQ(descriptor_kind(target), kind) << target;
  }
}

TEST(FdInfo, TellsTheMemoryOfABpfMap) {
  base::Result<std::optional<uint64_t>> bytes = parse_fdinfo_memlock(
      "pos:\t0\nflags:\t02000002\nmap_type:\t2\nmemlock:\t4194616\n");
  ASSERT_TRUE(bytes) << bytes.error().what;
  EXPECT_EQ(*bytes, 4194616U);
}

TEST(FdInfo, OfOtherDescriptorsTellsNone) {
  base::Result<std::optional<uint64_t>> bytes =
      parse_fdinfo_memlock("pos:\t0\nflags:\t02\n");
  ASSERT_TRUE(bytes) << bytes.error().what;
  EXPECT_FALSE(*bytes);
}

TEST(FdInfo, WithAnUnreadableNumberIsRefused) {
  EXPECT_FALSE(parse_fdinfo_memlock("memlock:\tmuch\n"));
}

}  // namespace
}  // namespace tidemark::parse
