#include "view/text/ps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/view/examples.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::PsReport;
using analysis::PsRow;

constexpr PsTextOptions kGroupsOnly{.groups_only = true};
constexpr PsTextOptions kDescriptors{.with_descriptors = true};

std::string text_of(const PsReport& report) {
  return ps_text(report, {}, TextStyle{});
}

// ---- rows -------------------------------------------------------------------

TEST(PsText, SharedIsBlankForAGroupAndTheHeadIsRepeated) {
  EXPECT_EQ(text_of(ps_report(
                {ps_group(7, 0, "app"), ps_process(42, 1, "postgres")})),
            "TASK         PSS  PRIVATE  SHARED   SWAP   KERN  NAME\n"
            "j:7        6.00M    4.00M          2.00M  64.0K  app\n"
            "  p:42     6.00M    4.00M   3.00M  2.00M  64.0K    postgres\n"
            "TASK         PSS  PRIVATE  SHARED   SWAP   KERN  NAME\n");
}

TEST(PsText, AThreadHasOnlyItsKernelStack) {
  PsRow process = ps_process(42, 0, "postgres");
  process.use.swap_pss = model::amount_of(0);
  EXPECT_EQ(text_of(ps_report({process, ps_thread(43, 1, "pool")})),
            "TASK         PSS  PRIVATE  SHARED  SWAP   KERN  NAME\n"
            "p:42       6.00M    4.00M   3.00M     0  64.0K  postgres\n"
            "  t:43                                   16.0K    pool (S)\n"
            "TASK         PSS  PRIVATE  SHARED  SWAP   KERN  NAME\n");
}

TEST(PsText, AFoldedRowHasNoTask) {
  PsRow folded = ps_group(0, 1, "5 smaller");
  folded.kind = analysis::RowKind::Folded;
  EXPECT_EQ(lines_of(text_of(ps_report({folded})))[1],
            "           6.00M    4.00M          2.00M  64.0K    5 smaller");
}

TEST(PsText, ADeniedProcessHasQuestionMarksAndItsKernelPart) {
  PsRow row = ps_process(43, 0, "sshd");
  row.use = denied_use();
  EXPECT_EQ(lines_of(text_of(ps_report({row})))[1],
            "p:43           ?        ?       ?     ?  64.0K  sshd");
}

TEST(PsText, AGroupWithADeniedProcessIsALowerBound) {
  PsRow row = ps_group(7, 0, "app");
  row.use = bounded_use();
  EXPECT_EQ(lines_of(text_of(ps_report({row})))[1],
            "j:7       ≥6.00M   ≥4.00M          ≥2.00M   128K  app");
}

TEST(PsText, HugePagesAreInThePssColumn) {
  PsRow row = ps_process(42, 0, "qemu");
  row.use.hugetlb = model::amount_of(2 * kGiB);
  row.use.swap_pss = model::amount_of(0);
  EXPECT_EQ(lines_of(text_of(ps_report({row})))[1],
            "p:42       2.01G    4.00M   3.00M     0  64.0K  qemu");
}

TEST(PsText, AZombieIsCalledOne) {
  PsRow row = ps_process(42, 0, "defunct");
  row.state = model::ProcessState::Zombie;
  EXPECT_TRUE(
      lines_of(text_of(ps_report({row})))[1].ends_with("  defunct (zombie)"));
}

TEST(PsText, AProcessWithoutANameLeavesNoTrailingBlanks) {
  EXPECT_EQ(lines_of(text_of(ps_report({ps_process(42, 1, "")})))[1],
            "  p:42     6.00M    4.00M   3.00M  2.00M  64.0K");
}

// ---- descriptors ------------------------------------------------------------

TEST(PsText, DescriptorsAreCountedAndListedByType) {
  PsRow row = ps_process(42, 0, "postgres");
  row.descriptors = {{"file", 3}, {"socket", 1}};
  EXPECT_EQ(ps_text(ps_report({row}), kDescriptors, TextStyle{}),
            "TASK         PSS  PRIVATE  SHARED   SWAP   KERN  FDS  NAME\n"
            "p:42       6.00M    4.00M   3.00M  2.00M  64.0K    4  postgres: 3 "
            "file, 1 socket\n"
            "TASK         PSS  PRIVATE  SHARED   SWAP   KERN  FDS  NAME\n");
}

TEST(PsText, UnreadableDescriptorsAreAQuestionMark) {
  const PsReport report = ps_report({ps_process(42, 0, "postgres")});
  EXPECT_TRUE(lines_of(ps_text(report, kDescriptors, TextStyle{}))[1].ends_with(
      "  64.0K    ?  postgres"));
}

TEST(PsText, AZombieHasNoDescriptorsToAskFor) {
  PsRow row = ps_process(42, 0, "defunct");
  row.state = model::ProcessState::Zombie;
  EXPECT_TRUE(lines_of(ps_text(ps_report({row}), kDescriptors, TextStyle{}))[1]
                  .ends_with("  64.0K       defunct (zombie)"));
}

TEST(PsText, AnEmptyDescriptorTableIsZero) {
  PsRow row = ps_process(42, 0, "postgres");
  row.descriptors.emplace();
  EXPECT_TRUE(lines_of(ps_text(ps_report({row}), kDescriptors, TextStyle{}))[1]
                  .ends_with("  64.0K    0  postgres"));
}

// ---- groups -----------------------------------------------------------------

PsReport charged_groups() {
  PsRow charged = ps_group(7, 0, "app");
  charged.charged_bytes = model::known<uint64_t>(5 * kMiB);
  charged.peak_bytes = model::known<uint64_t>(9 * kMiB);
  PsRow unknown = ps_group(8, 1, "old");
  unknown.charged_bytes = model::known<uint64_t>(8 * kMiB);
  unknown.peak_bytes = model::unknown<uint64_t>("no memory.peak");
  unknown.use.swap_pss = charged.use.swap_pss = model::amount_of(0);
  PsRow none = ps_group(0, 0, "1 kernel thread");
  none.use.swap_pss = model::amount_of(0);
  PsReport report =
      ps_report({charged, unknown, none, ps_process(42, 1, "postgres")});
  report.cgroup_version = model::CgroupVersion::V2;
  return report;
}

TEST(PsGroups, HaveTheKernelsAccountAndWhatNoProcessMaps) {
  EXPECT_EQ(ps_text(charged_groups(), kGroupsOnly, TextStyle{}),
            "TASK        PSS PRIVATE SWAP  KERN CHARGED UNSEEN   PEAK NAME\n"
            "j:7       6.00M   4.00M    0 64.0K   5.00M -1.00M  9.00M app\n"
            "  j:8     6.00M   4.00M    0 64.0K   8.00M  2.00M      ?   old\n"
            "j:0       6.00M   4.00M    0 64.0K                       1 kernel "
            "thread\n"
            "TASK        PSS PRIVATE SWAP  KERN CHARGED UNSEEN   PEAK NAME\n");
}

TEST(PsGroups, UnseenIsUnknownWhenAProcessIs) {
  PsReport report = charged_groups();
  report.rows[0].use = bounded_use();
  EXPECT_EQ(lines_of(ps_text(report, kGroupsOnly, TextStyle{}))[1],
            "j:7      ≥6.00M  ≥4.00M ≥2.00M  128K   5.00M      ?  9.00M app");
}

TEST(PsGroups, OfAnotherKindHaveNoCharge) {
  PsReport report = charged_groups();
  report.group_by = analysis::GroupBy::User;
  EXPECT_EQ(lines_of(ps_text(report, kGroupsOnly, TextStyle{}))[0],
            "TASK        PSS PRIVATE SWAP  KERN NAME");
}

// ---- below the table --------------------------------------------------------

std::string below_the_table(const PsReport& report) {
  const std::string text = text_of(report);
  const size_t gap = text.find("\n\n");
  return gap == std::string::npos ? "" : text.substr(gap + 2);
}

TEST(PsAccount, ClosesToTheMemoryInUse) {
  PsReport report = ps_report({ps_process(42, 0, "postgres")});
  report.process_count = 1204;
  analysis::MachineAccount account;
  account.total_bytes = 4 * kGiB;
  account.used_bytes = 1 * kGiB;
  account.processes = model::amount_of(512 * kMiB);
  account.others = {{"slab", "slab", model::Category::Slab,
                     static_cast<int64_t>(516 * kMiB)}};
  account.not_explained_bytes = -static_cast<int64_t>(4 * kMiB);
  report.account = account;
  EXPECT_EQ(below_the_table(report),
            "in use            1.00 GiB  of 4.00 GiB: MemTotal - MemFree\n"
            "  processes        512 MiB  sum of PSS and huge pages of 1,204\n"
            "  slab             516 MiB\n"
            "  not explained  -4.00 MiB  <0.1 % of RAM\n");
}

TEST(PsAccount, SaysWhenTheProcessesAreALowerBound) {
  PsReport report = ps_report({ps_process(42, 0, "postgres")});
  report.account.emplace();
  report.account->processes = bounded_use().in_ram();
  EXPECT_NE(below_the_table(report).find("\n  processes      ≥ 6.00 MiB  "),
            std::string::npos)
      << below_the_table(report);
}

PsReport denied_report(std::vector<std::string> denied) {
  PsReport report = ps_report({ps_process(42, 0, "postgres")});
  report.denied = std::move(denied);
  report.denied_because = "denied: /proc/1/smaps: Permission denied";
  return report;
}

TEST(PsDenied, OneProcessIsSingular) {
  EXPECT_EQ(below_the_table(denied_report({"p:1 init"})),
            "1 process unknown (?): p:1 init\n"
            "  denied: /proc/1/smaps: Permission denied\n");
}

TEST(PsDenied, ThreeAreAllNamed) {
  EXPECT_EQ(below_the_table(denied_report({"p:1 a", "p:2 b", "p:3 c"})),
            "3 processes unknown (?): p:1 a, p:2 b, p:3 c\n"
            "  denied: /proc/1/smaps: Permission denied\n");
}

TEST(PsDenied, TheFourthAndLaterAreCounted) {
  EXPECT_EQ(below_the_table(
                denied_report({"p:1 a", "p:2 b", "p:3 c", "p:4 d", "p:5 e"})),
            "5 processes unknown (?): p:1 a, p:2 b, p:3 c, 2 more\n"
            "  denied: /proc/1/smaps: Permission denied\n");
}

TEST(PsDenied, TheHintFollowsTheReason) {
  PsReport report = denied_report({"p:1 init"});
  report.denied_hint = "run as root";
  EXPECT_TRUE(
      below_the_table(report).ends_with("denied\n  hint: run as root\n"));
}

TEST(PsNote, SaysWhyThereAreNoGroups) {
  PsReport report = ps_report({ps_process(42, 0, "postgres")});
  report.cgroup_note = "no cgroup tree is mounted";
  EXPECT_EQ(below_the_table(report),
            "no group figures: no cgroup tree is mounted\n");
}

TEST(PsNote, IsLeftOutWhenTheGroupsAreNoCgroups) {
  PsReport report = ps_report({ps_process(42, 0, "postgres")});
  report.group_by = analysis::GroupBy::Exe;
  report.cgroup_note = "no cgroup tree is mounted";
  EXPECT_EQ(below_the_table(report), "");
}

// ---- names of strangers -----------------------------------------------------

std::string all_forms(const PsReport& report) {
  return ps_text(report, kDescriptors, TextStyle{}) +
         ps_text(report, kGroupsOnly, TextStyle{});
}

RC_GTEST_PROP(PsTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const PsReport report =
      hostile_ps_report(*hostile_name(), *rc::gen::arbitrary<char>());
  RC_ASSERT(is_harmless(all_forms(report)));
}

RC_GTEST_PROP(PsTextProperty, HostileNamesAddNoLine, ()) {
  const PsReport report = hostile_ps_report(*hostile_name(), 'S');
  RC_ASSERT(line_count(all_forms(report)) ==
            line_count(all_forms(hostile_ps_report("tame", 'S'))));
}

RC_GTEST_PROP(PsTextProperty, RowsKeepToTheWidth, ()) {
  const PsRow row = ps_process(42, 1, *hostile_name());
  RC_ASSERT(widest_line(text_of(ps_report({row}))) <= 80U);
}

}  // namespace
}  // namespace tidemark::view
