#include "analysis/ps_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/analysis/processes.h"

namespace tidemark::analysis {
namespace {

using base::ErrorKind;
using model::amount_of;
using model::Process;
using model::Sample;
using model::SmapsField;
using test::denied_process;
using test::having;
using test::in_cgroup;
using test::kernel_thread;
using test::kKiB;
using test::process_with;
using test::sample_of;
using test::zombie;

const std::vector<UserLabel> kLabels = {{0, "root"}, {1000, "ann"}};

PsReport report_of(const Sample& sample, const PsOptions& options = {}) {
  base::Result<PsReport> report = make_ps_report(sample, options, kLabels);
  EXPECT_TRUE(report) << report.error().what;
  return report ? std::move(*report) : PsReport();
}

// One line a row: "  p:10 nginx 60", two blanks a level, PSS in KiB.
std::string outline(const PsReport& report) {
  std::string text;
  for (const PsRow& row : report.rows) {
    text += std::string(2 * row.depth, ' ');
    if (row.kind == RowKind::Group) text += "j: ";
    if (row.kind == RowKind::Process) text += "p:" + std::to_string(row.id);
    if (row.kind == RowKind::Thread) text += "t:" + std::to_string(row.id);
    if (row.kind == RowKind::Process || row.kind == RowKind::Thread) {
      text += ' ';
    }
    text += row.name;
    if (row.kind != RowKind::Thread) {
      text += row.use.pss.is_unknown()
                  ? " ?"
                  : " " + std::to_string(row.use.in_ram().bytes / kKiB);
    }
    text += '\n';
  }
  return text;
}

std::string outline(const Sample& sample, const PsOptions& options = {}) {
  return outline(report_of(sample, options));
}

// Processes of the root group, with these KiB each, pids from 10 on.
Sample flat_sample(const std::vector<uint64_t>& sizes) {
  std::vector<Process> processes;
  int32_t pid = 10;
  for (uint64_t kib : sizes) {
    processes.push_back(in_cgroup(process_with(pid++, 1, "x", kib), "/"));
  }
  return sample_of(std::move(processes));
}

Sample small_machine() {
  return sample_of(
      {kernel_thread(2, "kthreadd"), kernel_thread(3, "rcu"),
       in_cgroup(process_with(10, 1, "nginx", 60), "/system.slice/nginx"),
       in_cgroup(process_with(11, 1, "cron", 30), "/system.slice/cron"),
       in_cgroup(process_with(20, 1, "bash", 10), "/user.slice/ann")});
}

// ---- rows

TEST(PsReport, HasGroupsBeforeTheirMembersLargestFirst) {
  EXPECT_EQ(outline(small_machine()),
            "j: / 100\n"
            "  j: system.slice 90\n"
            "    j: nginx 60\n"
            "      p:10 nginx 60\n"
            "    j: cron 30\n"
            "      p:11 cron 30\n"
            "  j: ann 10\n"
            "    p:20 bash 10\n"
            "j: 2 kernel threads 0\n");
}

TEST(PsReport, CountsHugePagesInTheOrder) {
  Sample sample = flat_sample({100, 90});
  sample.processes[1] =
      having(sample.processes[1], SmapsField::PrivateHugetlb, 2048);
  EXPECT_EQ(outline(sample),
            "j: / 2238\n"
            "  p:11 x 2138\n"
            "  p:10 x 100\n");
}

TEST(PsReport, OfNothingIsEmpty) {
  const PsReport report = report_of(Sample());
  EXPECT_TRUE(report.rows.empty());
  EXPECT_EQ(report.total.pss.known_bytes(), 0U);
}

TEST(PsReport, DescribesAProcess) {
  Process process = in_cgroup(process_with(10, 1, "python3", 1), "/app");
  process.command_line = std::string("python3\0x.py", 12);
  process.status.user_id = 1000;
  process.descriptors =
      model::known(std::vector<model::DescriptorCount>{{"socket", 2}});
  const PsRow row = report_of(sample_of({process})).rows.at(1);
  EXPECT_EQ(row.kind, RowKind::Process);
  EXPECT_EQ(row.process, (model::ProcessId{10, 100}));
  EXPECT_EQ(row.parent_pid, 1);
  EXPECT_EQ(row.name, "python3 x.py");
  EXPECT_EQ(row.comm, "python3");
  EXPECT_EQ(row.command, "python3 x.py");
  EXPECT_EQ(row.user, "ann");
  EXPECT_EQ(row.cgroup_path, "/app");
  EXPECT_EQ(row.run_state, 'S');
  EXPECT_EQ(row.descriptors->at(0).count, 2U);
}

TEST(PsReport, SaysWhyDescriptorsAreUnknown) {
  Process process = in_cgroup(process_with(10, 1, "x", 1), "/");
  process.status.user_id = 0;
  process.descriptors =
      model::unknown<std::vector<model::DescriptorCount>>("denied: fd");
  const PsRow row = report_of(sample_of({process})).rows.at(1);
  EXPECT_EQ(row.unknown, (std::vector<std::pair<std::string, std::string>>{
                             {"descriptors", "denied: fd"}}));
}

TEST(PsReport, ShowsThreadsWhenAsked) {
  Sample sample = flat_sample({1});
  sample.processes[0].threads = model::known(
      std::vector<model::Thread>{{10, "x", 'S', {}}, {14, "io", 'R', {}}});
  PsOptions options;
  EXPECT_EQ(outline(sample, options), "j: / 1\n  p:10 x 1\n");
  options.with_threads = true;
  EXPECT_EQ(outline(sample, options),
            "j: / 1\n"
            "  p:10 x 1\n"
            "    t:10 x\n"
            "    t:14 io\n");
}

// ---- folding

TEST(Fold, TakesRowsBelowOnePerCentOfTheirGroup) {
  EXPECT_EQ(outline(flat_sample({985, 10, 3, 2})),
            "j: / 1000\n"
            "  p:10 x 985\n"
            "  p:11 x 10\n"
            "  2 smaller 5\n");
}

TEST(Fold, LeavesOneSmallRowAsItIs) {
  EXPECT_EQ(outline(flat_sample({998, 2})),
            "j: / 1000\n"
            "  p:10 x 998\n"
            "  p:11 x 2\n");
}

TEST(Fold, CountsTheProcessesOfFoldedGroups) {
  const PsReport report =
      report_of(sample_of({in_cgroup(process_with(10, 1, "x", 998), "/"),
                           in_cgroup(process_with(11, 1, "x", 1), "/a"),
                           in_cgroup(process_with(12, 1, "x", 0), "/a"),
                           in_cgroup(process_with(13, 1, "x", 1), "/b")}));
  EXPECT_EQ(outline(report),
            "j: / 1000\n"
            "  p:10 x 998\n"
            "  2 smaller 2\n");
  EXPECT_EQ(report.rows.at(2).kind, RowKind::Folded);
  EXPECT_EQ(report.rows.at(2).process_count, 3U);
}

TEST(Fold, StandsBeforeTheKernelThreads) {
  Sample sample = sample_of({});
  for (int32_t pid = 10; pid < 13; ++pid) {
    sample.processes.push_back(process_with(pid, 0, "x", pid == 10 ? 1000 : 1));
  }
  sample.processes.push_back(kernel_thread(2, "kthreadd"));
  PsOptions options;
  options.group_by = GroupBy::Parent;
  EXPECT_EQ(outline(sample, options),
            "p:10 x 1000\n"
            "2 smaller 2\n"
            "j: 1 kernel thread 0\n");
}

TEST(Fold, IsWithoutEffectWhenSwitchedOff) {
  PsOptions options;
  options.fold = false;
  Sample sample = flat_sample({998, 1, 1});
  sample.processes.push_back(kernel_thread(2, "kthreadd"));
  EXPECT_EQ(outline(sample, options),
            "j: / 1000\n"
            "  p:10 x 998\n"
            "  p:11 x 1\n"
            "  p:12 x 1\n"
            "j: 1 kernel thread 0\n"
            "  p:2 [kthreadd] 0\n");
}

TEST(Fold, TakesWhatIsBeyondTheTop) {
  PsOptions options;
  options.top = 2;
  EXPECT_EQ(outline(flat_sample({40, 30, 20, 10}), options),
            "j: / 100\n"
            "  p:10 x 40\n"
            "  p:11 x 30\n"
            "  2 smaller 30\n");
}

TEST(Fold, CountsTheTopAnewInEachGroup) {
  PsOptions options;
  options.top = 1;
  EXPECT_EQ(outline(sample_of({in_cgroup(process_with(10, 1, "x", 50), "/a"),
                               in_cgroup(process_with(11, 1, "x", 40), "/a"),
                               in_cgroup(process_with(12, 1, "x", 30), "/a"),
                               in_cgroup(process_with(13, 1, "x", 3), "/b"),
                               in_cgroup(process_with(14, 1, "x", 2), "/c")}),
                    options),
            "j: / 125\n"
            "  j: a 120\n"
            "    p:10 x 50\n"
            "    2 smaller 70\n"
            "  2 smaller 5\n");
}

TEST(Fold, NeverHidesADeniedProcess) {
  Sample sample = flat_sample({1000, 1, 1});
  sample.processes.push_back(in_cgroup(denied_process(20, 1, "secret"), "/"));
  PsOptions options;
  options.top = 1;
  EXPECT_EQ(outline(sample, options),
            "j: / 1002\n"
            "  p:10 x 1000\n"
            "  p:20 secret ?\n"
            "  2 smaller 2\n");
}

TEST(Fold, NeverHidesAGroupWithADeniedProcessInIt) {
  Sample sample = flat_sample({1000, 1, 1});
  sample.processes.push_back(in_cgroup(process_with(19, 1, "y", 1), "/a"));
  sample.processes.push_back(in_cgroup(denied_process(20, 1, "secret"), "/a"));
  EXPECT_EQ(outline(sample),
            "j: / 1003\n"
            "  p:10 x 1000\n"
            "  j: a 1\n"
            "    p:19 y 1\n"
            "    p:20 secret ?\n"
            "  2 smaller 2\n");
}

TEST(Fold, KeepsZombiesInAGroupThatHasNothing) {
  EXPECT_EQ(outline(sample_of({in_cgroup(zombie(10, 1, "a"), "/"),
                               in_cgroup(zombie(11, 1, "b"), "/")})),
            "j: / 0\n"
            "  p:10 a 0\n"
            "  p:11 b 0\n");
}

// ---- one group

TEST(Job, IsShownAloneWithItsSum) {
  PsOptions options;
  options.job = "/system.slice";
  const PsReport report = report_of(small_machine(), options);
  EXPECT_EQ(outline(report),
            "j: system.slice 90\n"
            "  j: nginx 60\n"
            "    p:10 nginx 60\n"
            "  j: cron 30\n"
            "    p:11 cron 30\n");
  EXPECT_EQ(report.total.pss, amount_of(90 * kKiB));
  EXPECT_EQ(report.process_count, 2U);
}

TEST(Job, IsFoundByItsName) {
  PsOptions options;
  options.job = "cron";
  EXPECT_EQ(outline(small_machine(), options), "j: cron 30\n  p:11 cron 30\n");
}

TEST(Job, IsFoundByTheIdInTheReport) {
  PsOptions options;
  options.job = "j:" + std::to_string(report_of(small_machine()).rows.at(4).id);
  EXPECT_EQ(outline(small_machine(), options), "j: cron 30\n  p:11 cron 30\n");
}

TEST(Job, ThatDoesNotExistIsAMistake) {
  PsOptions options;
  options.job = "nginx\x1b";
  base::Result<PsReport> report =
      make_ps_report(small_machine(), options, kLabels);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::Misused);
  EXPECT_EQ(report.error().what, "no group is called 'nginx\\x1b'");
  EXPECT_EQ(report.error().hint, "`tidemark ps -J` lists them with their ids");
}

// ---- filter

std::vector<int32_t> filtered_pids(const Sample& sample,
                                   const std::string& filter) {
  PsOptions options;
  options.filter = filter;
  options.fold = false;
  std::vector<int32_t> pids;
  for (const PsRow& row : report_of(sample, options).rows) {
    if (row.kind == RowKind::Process) pids.push_back(row.process.pid);
  }
  return pids;
}

TEST(Filter, MatchesNameCommandUserAndGroup) {
  Sample sample = small_machine();
  sample.processes[2].command_line = std::string("nginx\0--Config=x", 16);
  sample.processes[4].status.user_id = 1000;
  EXPECT_EQ(filtered_pids(sample, "cron"), (std::vector<int32_t>{11}));
  EXPECT_EQ(filtered_pids(sample, "--config"), (std::vector<int32_t>{10}));
  EXPECT_EQ(filtered_pids(sample, "ann"), (std::vector<int32_t>{20}));
  EXPECT_EQ(filtered_pids(sample, "system.slice"),
            (std::vector<int32_t>{10, 11}));
}

TEST(Filter, MatchesAnyLetterCase) {
  EXPECT_EQ(filtered_pids(small_machine(), "NgInX"),
            (std::vector<int32_t>{10}));
}

TEST(Filter, MatchesKernelThreads) {
  EXPECT_EQ(filtered_pids(small_machine(), "rcu"), (std::vector<int32_t>{3}));
}

TEST(Filter, MaySelectNothing) {
  PsOptions options;
  options.filter = "no such thing";
  const PsReport report = report_of(small_machine(), options);
  EXPECT_TRUE(report.rows.empty());
  EXPECT_EQ(report.process_count, 0U);
}

TEST(Filter, LimitsTheTotal) {
  PsOptions options;
  options.filter = "cron";
  EXPECT_EQ(report_of(small_machine(), options).total.pss,
            amount_of(30 * kKiB));
}

// ---- groupings

TEST(PsReport, GroupsByWhatIsAsked) {
  Sample sample =
      sample_of({in_cgroup(process_with(10, 1, "bash", 5), "/lxc/web"),
                 in_cgroup(process_with(11, 10, "vim", 3), "/lxc/web/sub")});
  sample.processes[0].status.user_id = 0;
  sample.processes[1].status.user_id = 1000;
  for (Process& process : sample.processes)
    process.stat.session_id = 10;
  const auto by = [&](GroupBy group_by) {
    PsOptions options;
    options.group_by = group_by;
    const PsReport report = report_of(sample, options);
    EXPECT_EQ(report.group_by, group_by);
    return outline(report);
  };
  EXPECT_EQ(by(GroupBy::Cgroup),
            "j: lxc web 8\n"
            "  p:10 bash 5\n"
            "  j: sub 3\n"
            "    p:11 vim 3\n");
  EXPECT_EQ(by(GroupBy::Parent),
            "j: bash and 1 below 8\n"
            "  p:10 bash 5\n"
            "  p:11 vim 3\n");
  EXPECT_EQ(by(GroupBy::User),
            "j: root 5\n"
            "  p:10 bash 5\n"
            "j: ann 3\n"
            "  p:11 vim 3\n");
  EXPECT_EQ(by(GroupBy::Exe),
            "j: bash (by name) 5\n"
            "  p:10 bash 5\n"
            "j: vim (by name) 3\n"
            "  p:11 vim 3\n");
  EXPECT_EQ(by(GroupBy::Session),
            "j: session 10 of bash 8\n"
            "  p:10 bash 5\n"
            "  p:11 vim 3\n");
  EXPECT_EQ(by(GroupBy::Container),
            "j: lxc web 8\n"
            "  p:10 bash 5\n"
            "  p:11 vim 3\n");
}

// ---- order

std::vector<int32_t> order_by(SortBy sort_by) {
  // Each column has an order of its own.
  const auto made = [](int32_t pid, std::string_view comm,
                       std::vector<uint64_t> kib) {
    Process process = in_cgroup(process_with(pid, 1, comm, kib[0]), "/");
    process = having(process, SmapsField::PrivateDirty, kib[1]);
    process = having(process, SmapsField::SharedClean, kib[2]);
    process = having(process, SmapsField::SwapPss, kib[3]);
    process = having(process, SmapsField::Rss, kib[4]);
    process.status.page_table_bytes = kib[5] * kKiB;
    return process;
  };
  PsOptions options;
  options.sort_by = sort_by;
  options.fold = false;
  const PsReport report =
      report_of(sample_of({made(30, "bb", {9, 1, 5, 1, 5, 9}),
                           made(10, "cc", {5, 5, 1, 9, 9, 1}),
                           made(20, "aa", {1, 9, 9, 5, 1, 5})}),
                options);
  std::vector<int32_t> pids;
  for (size_t i = 1; i < report.rows.size(); ++i)
    pids.push_back(report.rows[i].process.pid);
  return pids;
}

TEST(Sort, PutsTheLargestOfTheColumnFirst) {
  using Order = std::vector<int32_t>;
  EXPECT_EQ(order_by(SortBy::Pss), (Order{30, 10, 20}));
  EXPECT_EQ(order_by(SortBy::Private), (Order{20, 10, 30}));
  EXPECT_EQ(order_by(SortBy::Shared), (Order{20, 30, 10}));
  EXPECT_EQ(order_by(SortBy::Swap), (Order{10, 20, 30}));
  EXPECT_EQ(order_by(SortBy::Rss), (Order{10, 30, 20}));
  EXPECT_EQ(order_by(SortBy::Kernel), (Order{30, 20, 10}));
}

TEST(Sort, PutsPidsAndNamesAscending) {
  using Order = std::vector<int32_t>;
  EXPECT_EQ(order_by(SortBy::Pid), (Order{10, 20, 30}));
  EXPECT_EQ(order_by(SortBy::Name), (Order{20, 30, 10}));
}

TEST(Sort, BreaksTiesByPid) {
  EXPECT_EQ(outline(flat_sample({7, 9, 7})),
            "j: / 23\n"
            "  p:11 x 9\n"
            "  p:10 x 7\n"
            "  p:12 x 7\n");
}

// ---- the kernel's own account of a group

Sample charged_sample(model::Reading<uint64_t> charged) {
  Sample sample = sample_of({in_cgroup(process_with(10, 1, "x", 60), "/app")});
  model::Cgroup group;
  group.path = "/app";
  group.charged_bytes = std::move(charged);
  group.peak_bytes = model::known(500 * kKiB);
  group.limit_bytes = 1000 * kKiB;
  sample.cgroups = {group};
  return sample;
}

TEST(Charged, IsWhatTheKernelSays) {
  const PsRow row =
      report_of(charged_sample(model::known(100 * kKiB))).rows.at(0);
  EXPECT_EQ(row.charged_bytes, model::known(100 * kKiB));
  EXPECT_EQ(row.peak_bytes, model::known(500 * kKiB));
  EXPECT_EQ(row.limit_bytes, 1000 * kKiB);
}

TEST(Charged, BelongsToControlGroupsOnly) {
  PsOptions options;
  options.group_by = GroupBy::Exe;
  const PsRow row =
      report_of(charged_sample(model::known(100 * kKiB)), options).rows.at(0);
  EXPECT_FALSE(row.charged_bytes);
  EXPECT_FALSE(row.unseen_bytes());
}

TEST(Unseen, IsChargedLessPss) {
  EXPECT_EQ(report_of(charged_sample(model::known(100 * kKiB)))
                .rows.at(0)
                .unseen_bytes(),
            static_cast<int64_t>(40 * kKiB));
}

TEST(Unseen, IsNegativeWhereOthersWereCharged) {
  EXPECT_EQ(report_of(charged_sample(model::known(50 * kKiB)))
                .rows.at(0)
                .unseen_bytes(),
            -static_cast<int64_t>(10 * kKiB));
}

TEST(Unseen, LeavesHugePagesOut) {
  Sample sample = charged_sample(model::known(100 * kKiB));
  sample.processes[0] =
      having(sample.processes[0], SmapsField::PrivateHugetlb, 2048);
  EXPECT_EQ(report_of(sample).rows.at(0).unseen_bytes(),
            static_cast<int64_t>(40 * kKiB))
      << "hugetlb is not charged to the memory controller";
}

TEST(Unseen, CountsHugePagesWhereTheyAreCharged) {
  Sample sample = charged_sample(model::known(3000 * kKiB));
  sample.processes[0] =
      having(sample.processes[0], SmapsField::PrivateHugetlb, 2048);
  sample.machine = model::Machine();
  sample.machine->cgroup_charges_hugetlb = true;
  EXPECT_EQ(report_of(sample).rows.at(0).unseen_bytes(),
            static_cast<int64_t>((3000 - 60 - 2048) * kKiB));
}

TEST(Unseen, IsUnknownWithoutTheCharge) {
  EXPECT_FALSE(report_of(charged_sample(model::unknown<uint64_t>("no file")))
                   .rows.at(0)
                   .unseen_bytes());
}

TEST(Unseen, IsUnknownWithADeniedProcess) {
  Sample sample = charged_sample(model::known(100 * kKiB));
  sample.processes.push_back(in_cgroup(denied_process(11, 1, "y"), "/app"));
  EXPECT_FALSE(report_of(sample).rows.at(0).unseen_bytes())
      << "what it maps is unknown, so what is unseen is too";
}

// ---- around the table

TEST(PsReport, CountsProcessesAndKernelThreadsApart) {
  const PsReport report = report_of(small_machine());
  EXPECT_EQ(report.process_count, 3U);
  EXPECT_EQ(report.kernel_thread_count, 2U);
}

TEST(PsReport, NamesDeniedProcessesWithTheReason) {
  Sample sample = small_machine();
  sample.processes.push_back(in_cgroup(denied_process(33, 1, "sshd"), "/"));
  const PsReport report = report_of(sample);
  EXPECT_EQ(report.denied, (std::vector<std::string>{"p:33 sshd"}));
  EXPECT_EQ(report.denied_because, "denied: Permission denied");
  EXPECT_NE(report.denied_hint, "");
}

TEST(PsReport, CountsAZombieAmongTheReadableProcesses) {
  const PsReport report =
      report_of(sample_of({in_cgroup(zombie(10, 1, "x"), "/")}));
  EXPECT_EQ(report.process_count, 1U);
  EXPECT_TRUE(report.denied.empty());
}

TEST(PsReport, HasNoHintWhereRightsDoNotHelp) {
  Process failed = denied_process(10, 1, "x");
  failed.state = model::ProcessState::Failed;
  const PsReport report = report_of(sample_of({in_cgroup(failed, "/")}));
  EXPECT_EQ(report.denied, (std::vector<std::string>{"p:10 x"}));
  EXPECT_EQ(report.denied_hint, "");
}

Sample sample_with_machine() {
  Sample sample = small_machine();
  sample.machine = model::Machine();
  sample.machine->meminfo.total_bytes = 1000 * kKiB;
  sample.machine->meminfo.free_bytes = 400 * kKiB;
  sample.machine->cgroup_note = "no groups";
  return sample;
}

TEST(PsReport, HasTheAccountOfTheMachine) {
  const PsReport report = report_of(sample_with_machine());
  ASSERT_TRUE(report.account);
  EXPECT_EQ(report.account->used_bytes, 600 * kKiB);
  EXPECT_EQ(report.account->processes, amount_of(100 * kKiB));
  EXPECT_EQ(report.cgroup_note, "no groups");
}

TEST(PsReport, HasNoAccountForAPart) {
  PsOptions filtered;
  filtered.filter = "cron";
  EXPECT_FALSE(report_of(sample_with_machine(), filtered).account);
  PsOptions of_job;
  of_job.job = "cron";
  EXPECT_FALSE(report_of(sample_with_machine(), of_job).account);
}

TEST(PsReport, TakesItsTimesFromTheSample) {
  Sample sample;
  sample.started_realtime_ns = 7;
  sample.started_monotonic_ns = 100;
  sample.ended_monotonic_ns = 130;
  EXPECT_EQ(report_of(sample).realtime_ns, 7U);
  EXPECT_EQ(report_of(sample).read_ns, 30U);
}

// ---- any machine

Sample any_sample() {
  std::vector<Process> processes;
  const auto count = *rc::gen::inRange<int32_t>(0, 25);
  for (int32_t pid = 1; pid <= count; ++pid) {
    const auto parent = *rc::gen::inRange<int32_t>(0, 25);
    const auto name = *rc::gen::element<std::string>("a", "b", "c");
    Process process =
        process_with(pid, parent, name,
                     *rc::gen::oneOf(rc::gen::inRange<uint64_t>(0, 20),
                                     rc::gen::inRange<uint64_t>(0, 100'000)));
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        process = denied_process(pid, parent, name);
        break;
      case 1:
        process = zombie(pid, parent, name);
        break;
      case 2:
        process = kernel_thread(pid, name);
        break;
      default:
        break;
    }
    process.cgroup_path = *rc::gen::element<std::string>(
        "", "/", "/a", "/a/b", "/a/b/c", "/d/e", "/lxc/web");
    process.stat.session_id = *rc::gen::inRange<int32_t>(0, 5);
    process.status.user_id = *rc::gen::inRange<uint32_t>(0, 3);
    processes.push_back(std::move(process));
  }
  return sample_of(std::move(processes));
}

PsOptions any_options() {
  PsOptions options;
  options.group_by =
      *rc::gen::element(GroupBy::Cgroup, GroupBy::Parent, GroupBy::User,
                        GroupBy::Exe, GroupBy::Session, GroupBy::Container);
  options.sort_by = *rc::gen::element(
      SortBy::Pss, SortBy::Private, SortBy::Shared, SortBy::Swap,
      SortBy::Kernel, SortBy::Rss, SortBy::Pid, SortBy::Name);
  options.fold = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) {
    options.top = *rc::gen::inRange<size_t>(1, 4);
  }
  return options;
}

struct Sum {
  Use use;
  size_t process_count = 0;
};

// Of the rows right below depth `depth`, from `first` on.
Sum sum_of_members(const std::vector<PsRow>& rows, size_t first,
                   uint32_t depth) {
  Sum sum;
  for (size_t i = first; i < rows.size() && rows[i].depth >= depth; ++i) {
    if (rows[i].depth != depth) continue;
    sum.use.add(rows[i].use);
    sum.process_count +=
        rows[i].kind == RowKind::Process ? 1 : rows[i].process_count;
  }
  return sum;
}

RC_GTEST_PROP(PsReport, RowsSumToTheirGroupsAndTheTotal, ()) {
  const Sample sample = any_sample();
  const PsReport report = report_of(sample, any_options());
  const Sum all = sum_of_members(report.rows, 0, 0);
  RC_ASSERT(all.use == report.total);
  RC_ASSERT(all.process_count == sample.processes.size());
  RC_ASSERT(all.process_count ==
            report.process_count + report.kernel_thread_count);
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PsRow& row = report.rows[i];
    const bool has_members =
        i + 1 < report.rows.size() && report.rows[i + 1].depth > row.depth;
    if (row.kind != RowKind::Group || !has_members) continue;
    const Sum members = sum_of_members(report.rows, i + 1, row.depth + 1);
    RC_ASSERT(members.use == row.use);
    RC_ASSERT(members.process_count == row.process_count);
  }
}

RC_GTEST_PROP(PsReport, ShowsEveryDeniedProcess, ()) {
  const Sample sample = any_sample();
  const PsReport report = report_of(sample, any_options());
  size_t denied = 0;
  for (const Process& process : sample.processes) {
    if (process.state == model::ProcessState::Denied) ++denied;
  }
  size_t shown = 0;
  for (const PsRow& row : report.rows) {
    if (row.state == model::ProcessState::Denied) ++shown;
  }
  RC_ASSERT(shown == denied);
  RC_ASSERT(report.denied.size() == denied);
}

}  // namespace
}  // namespace tidemark::analysis
