#include "analysis/get_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/analysis/processes.h"

namespace tidemark::analysis {
namespace {

using model::amount_of;
using model::Category;
using model::Mapping;
using model::Process;
using model::Sample;
using model::SmapsField;
using test::denied_process;
using test::having;
using test::kKiB;
using test::process_with;
using test::sample_of;
using test::zombie;

GetReport report_of(std::vector<Process> processes) {
  return make_get_report(sample_of(std::move(processes)), {});
}

TEST(GetReport, SumsItsProcesses) {
  const GetReport report = report_of(
      {process_with(10, 1, "a", 915), process_with(11, 10, "b", 898)});
  EXPECT_EQ(report.total.pss, amount_of(1813 * kKiB));
  EXPECT_EQ(report.total.kernel, amount_of(32 * kKiB));
}

TEST(GetReport, OfNothingIsAKnownZero) {
  const GetReport report = report_of({});
  EXPECT_EQ(report.total.pss.known_bytes(), 0U);
  EXPECT_TRUE(report.processes.empty());
}

TEST(GetReport, TotalIsALowerBoundWithADeniedProcess) {
  const GetReport report =
      report_of({process_with(10, 1, "a", 915), denied_process(11, 10, "b")});
  EXPECT_TRUE(report.total.pss.is_lower_bound());
  EXPECT_EQ(report.total.pss.bytes, 915 * kKiB);
}

TEST(GetReport, TotalIsExactWithAZombie) {
  const GetReport report =
      report_of({process_with(10, 1, "a", 915), zombie(11, 10, "b")});
  EXPECT_EQ(report.total.pss, amount_of(915 * kKiB));
}

TEST(GetReport, PutsChildrenBehindTheirParentWithTheirDepth) {
  const GetReport report =
      report_of({process_with(12, 11, "c", 1), process_with(11, 10, "b", 1),
                 process_with(10, 1, "a", 1)});
  ASSERT_EQ(report.processes.size(), 3U);
  EXPECT_EQ(report.processes[0].name, "a");
  EXPECT_EQ(report.processes[1].name, "b");
  EXPECT_EQ(report.processes[1].depth, 1U);
  EXPECT_EQ(report.processes[2].depth, 2U);
}

TEST(GetReport, DescribesAProcess) {
  Process process = process_with(10, 1, "python3", 1);
  process.command_line = std::string("python3\0x.py", 12);
  process.status.peak_rss_bytes = 77 * kKiB;
  const GetReport report = report_of({process});
  ASSERT_EQ(report.processes.size(), 1U);
  const GetProcess& row = report.processes[0];
  EXPECT_EQ(row.id, (model::ProcessId{10, 100}));
  EXPECT_EQ(row.parent_pid, 1);
  EXPECT_EQ(row.name, "python3 x.py");
  EXPECT_EQ(row.comm, "python3");
  EXPECT_EQ(row.command, "python3 x.py");
  EXPECT_EQ(row.peak_rss_bytes, 77 * kKiB);
}

TEST(GetReport, PeakIsNeverBelowWhatIsThereNow) {
  Process process = process_with(10, 1, "a", 8892);
  process.status.peak_rss_bytes = 8776 * kKiB;  // as debian-6.1/proc/110 says
  EXPECT_EQ(report_of({process}).processes.at(0).peak_rss_bytes, 8892 * kKiB);
}

TEST(GetReport, HintsAtRightsOnlyWhereThatHelps) {
  EXPECT_EQ(report_of({process_with(10, 1, "a", 1)}).denied_hint, "");
  EXPECT_NE(report_of({denied_process(10, 1, "a")}).denied_hint, "");
  Sample by_root = sample_of({denied_process(10, 1, "a")});
  by_root.reader_is_root = true;
  EXPECT_EQ(make_get_report(by_root, {}).denied_hint, "");
}

TEST(GetReport, CountsStatmInPagesOfTheMachine) {
  Sample sample = sample_of({denied_process(10, 1, "a")});
  sample.machine = model::Machine();
  sample.machine->page_size_bytes = 16384;
  EXPECT_EQ(make_get_report(sample, {}).total.rss, amount_of(10 * 16384));
}

TEST(GetReport, TakesItsTimesFromTheSample) {
  Sample sample;
  sample.started_realtime_ns = 7;
  sample.started_monotonic_ns = 100;
  sample.ended_monotonic_ns = 130;
  const GetReport report = make_get_report(sample, {});
  EXPECT_EQ(report.realtime_ns, 7U);
  EXPECT_EQ(report.read_ns, 30U);
}

// ---- huge pages

TEST(GetReport, WarnsThatSharedHugePagesAreCountedRepeatedly) {
  const GetReport report = report_of(
      {having(process_with(10, 1, "a", 1), SmapsField::SharedHugetlb, 2048),
       having(process_with(11, 1, "b", 1), SmapsField::SharedHugetlb, 2048)});
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_TRUE(report.notes[0].starts_with("2 processes share huge pages"));
}

TEST(GetReport, DoesNotWarnOfHugePagesThatOneProcessHas) {
  const GetReport report = report_of(
      {having(process_with(10, 1, "a", 1), SmapsField::SharedHugetlb, 2048),
       having(process_with(11, 1, "b", 1), SmapsField::PrivateHugetlb, 2048)});
  EXPECT_TRUE(report.notes.empty());
}

// ---- categories

Process with_mapping(Process process, std::string_view name, uint64_t kib,
                     uint64_t inode, uint32_t device_minor) {
  Mapping m;
  m.start_address = 0x100000;
  m.end_address = m.start_address + kib * kKiB;
  m.permissions = {true, true, false, false};
  m.name = name;
  m.inode_id = inode;
  m.device_minor = device_minor;
  m.fields.set(SmapsField::Pss, kib * kKiB);
  process.mappings = model::known(std::vector<Mapping>{m});
  return process;
}

TEST(GetReport, HasCategoriesWhereMappingsWereRead) {
  const GetReport report =
      report_of({with_mapping(process_with(10, 1, "a", 4), "[heap]", 4, 0, 0),
                 process_with(11, 1, "b", 1)});
  ASSERT_EQ(report.processes[0].categories.size(), 1U);
  EXPECT_EQ(report.processes[0].categories[0].category, Category::Heap);
  EXPECT_TRUE(report.processes[1].categories.empty());
}

TEST(GetReport, SumsCategoriesOverItsProcesses) {
  const GetReport report =
      report_of({with_mapping(process_with(10, 1, "a", 4), "[heap]", 4, 0, 0),
                 with_mapping(process_with(11, 1, "b", 8), "[heap]", 8, 0, 0)});
  ASSERT_EQ(report.categories.size(), 1U);
  EXPECT_EQ(report.categories[0].pss_bytes, 12 * kKiB);
  EXPECT_EQ(report.categories[0].mapping_count, 2U);
}

TEST(GetReport, KnowsTmpfsByTheDevicesItWasGiven) {
  const Sample sample = sample_of(
      {with_mapping(process_with(10, 1, "a", 4), "/run/x", 4, 9, 28)});
  const GetReport report = make_get_report(sample, {{0, 28}});
  EXPECT_EQ(report.categories.at(0).category, Category::Shm);
}

TEST(GetReport, KnowsStacksByTheThreadsThatWereRead) {
  Process process = with_mapping(process_with(10, 1, "a", 4), "", 4, 0, 0);
  process.threads = model::known(
      std::vector<model::Thread>{{10, "a", 'S', uint64_t{0x100010}}});
  EXPECT_EQ(report_of({process}).categories.at(0).category, Category::Stack);
}

RC_GTEST_PROP(GetReport, TotalIsTheSumOfItsRows, ()) {
  std::vector<Process> processes;
  const auto count = *rc::gen::inRange<int32_t>(0, 10);
  for (int32_t pid = 1; pid <= count; ++pid) {
    const auto parent = *rc::gen::inRange<int32_t>(0, 12);
    const auto kib = *rc::gen::inRange<uint64_t>(0, 1000);
    processes.push_back(kib < 100 ? denied_process(pid, parent, "x")
                                  : process_with(pid, parent, "x", kib));
  }
  const GetReport report = report_of(std::move(processes));
  Use sum;
  for (const GetProcess& row : report.processes)
    sum.add(row.use);
  RC_ASSERT(report.processes.size() == static_cast<size_t>(count));
  RC_ASSERT(sum == report.total);
}

}  // namespace
}  // namespace tidemark::analysis
