#include "view/json/ps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/view/examples.h"
#include "unit/view/json/unknowns.h"

namespace tidemark::view {
namespace {

using analysis::PsReport;
using analysis::PsRow;
using base::JsonWriter;

std::string one_line(const PsReport& report) {
  return ps_json(report, JsonWriter::Layout::OneLine);
}

using test::has;

// No group around it, no limit set: there is none, so nothing is unknown.
std::string broken(const PsReport& report) {
  return broken_unknowns(one_line(report),
                         {"parent_id", "group_id", "limit_bytes"});
}

TEST(PsJson, OpensWithItsSchemaAndGrouping) {
  PsReport report = ps_report({});
  report.group_by = analysis::GroupBy::Session;
  EXPECT_EQ(one_line(report).substr(0, 27), R"({"schema":"tidemark.ps/1",")");
  EXPECT_TRUE(has(one_line(report), R"("by":"session")"));
}

TEST(PsJson, EveryGroupingHasTheWordOfItsOption) {
  EXPECT_EQ(group_by_token(analysis::GroupBy::Cgroup), "cgroup");
  EXPECT_EQ(group_by_token(analysis::GroupBy::Parent), "parent");
  EXPECT_EQ(group_by_token(analysis::GroupBy::User), "user");
  EXPECT_EQ(group_by_token(analysis::GroupBy::Exe), "exe");
  EXPECT_EQ(group_by_token(analysis::GroupBy::Session), "session");
  EXPECT_EQ(group_by_token(analysis::GroupBy::Container), "container");
}

// app(7) { db(8) { p:42 }, p:43 }, p:44
PsReport nested() {
  return ps_report({ps_group(7, 0, "app"), ps_group(8, 1, "db"),
                    ps_process(42, 2, "postgres"), ps_process(43, 1, "web"),
                    ps_process(44, 0, "init")});
}

TEST(PsJson, AGroupNamesTheOneItIsIn) {
  const std::string json = one_line(nested());
  EXPECT_TRUE(has(json, R"({"id":7,"parent_id":null,"name":"app")")) << json;
  EXPECT_TRUE(has(json, R"({"id":8,"parent_id":7,"name":"db")")) << json;
}

TEST(PsJson, AProcessNamesItsInnermostGroup) {
  const std::string json = one_line(nested());
  EXPECT_TRUE(has(json, R"("parent_pid":1,"group_id":8,"name":"postgres")"));
  EXPECT_TRUE(has(json, R"("parent_pid":1,"group_id":7,"name":"web")"));
  EXPECT_TRUE(has(json, R"("parent_pid":1,"group_id":null,"name":"init")"));
}

TEST(PsJson, ThreadsAreInTheirProcess) {
  const std::string json =
      one_line(ps_report({ps_process(42, 0, "postgres"),
                          ps_thread(43, 1, "pool"), ps_process(44, 0, "x")}));
  EXPECT_TRUE(has(json, R"("threads":[{"thread_id":43,"name":"pool",)"
                        R"("run_state":"S"}]},{"pid":44,)"))
      << json;
}

TEST(PsJson, DescriptorsAreCountedByType) {
  PsRow row = ps_process(42, 0, "postgres");
  row.descriptors = {{"file", 3}, {"socket", 1}};
  EXPECT_TRUE(has(one_line(ps_report({row})),
                  R"("descriptors":{"file":3,"socket":1})"));
}

TEST(PsJson, AGroupHasTheKernelsAccount) {
  PsRow group = ps_group(7, 0, "app");
  group.charged_bytes = model::known<uint64_t>(5 * kMiB);
  group.peak_bytes = model::known<uint64_t>(9 * kMiB);
  group.limit_bytes = 16 * kMiB;
  EXPECT_TRUE(has(one_line(ps_report({group})),
                  R"("charged_bytes":5242880,"unseen_bytes":-1048576,)"
                  R"("peak_bytes":9437184,"limit_bytes":16777216)"));
}

TEST(PsJson, AnUnknownChargeHasItsReasonBesideTheNull) {
  PsRow group = ps_group(7, 0, "app");
  group.charged_bytes = model::unknown<uint64_t>("no memory.current");
  group.peak_bytes = model::unknown<uint64_t>("no memory.peak");
  const std::string json = one_line(ps_report({group}));
  EXPECT_TRUE(has(json, R"("unknown":{"charged_bytes":"no memory.current",)"))
      << json;
  EXPECT_EQ(broken(ps_report({group})), "");
}

PsReport with_account(model::Amount processes) {
  PsReport report = ps_report({ps_process(42, 0, "postgres")});
  analysis::MachineAccount account;
  account.total_bytes = 64 * kMiB;
  account.used_bytes = 8 * kMiB;
  account.processes = processes;
  account.others = {{"page_cache", "page cache, not mapped",
                     model::Category::File, -static_cast<int64_t>(kMiB)}};
  account.not_explained_bytes = static_cast<int64_t>(3 * kMiB);
  report.account = account;
  return report;
}

TEST(PsJson, TheMachineClosesToTheMemoryInUse) {
  EXPECT_TRUE(has(one_line(with_account(model::amount_of(6 * kMiB))),
                  R"("machine":{"total_bytes":67108864,"used_bytes":8388608,)"
                  R"("processes_bytes":6291456,"others":[{)"
                  R"("class":"page_cache","category":"file",)"
                  R"("bytes":-1048576}],"not_explained_bytes":3145728})"));
}

TEST(PsJson, AMachineWithADeniedProcessHasALowerBound) {
  const std::string json = one_line(with_account(bounded_use().in_ram()));
  const std::string machine = json.substr(json.find(R"("machine")"));
  EXPECT_TRUE(has(machine, R"("lower_bounds":["processes_bytes"])")) << machine;
}

TEST(PsJson, WithoutAnAccountThereIsNoMachine) {
  EXPECT_FALSE(has(one_line(nested()), R"("machine")"));
}

TEST(PsJson, SaysHowManyProcessesAreUnknown) {
  PsReport report = nested();
  report.denied = {"p:1 init", "p:2 x"};
  EXPECT_TRUE(has(one_line(report), R"("unknown_process_count":2)"));
}

PsRow denied_row() {
  PsRow row = ps_process(43, 1, "sshd");
  row.state = model::ProcessState::Denied;
  row.use = denied_use();
  row.unknown = denied_get_process(43, "sshd").unknown;
  return row;
}

TEST(PsJson, EveryNullOfADeniedProcessHasItsReason) {
  EXPECT_EQ(broken(ps_report({ps_group(7, 0, "app"), denied_row(),
                              ps_process(42, 1, "postgres")})),
            "");
}

TEST(PsJson, EveryNullOfAGroupOfDeniedProcessesHasItsReason) {
  PsRow group = ps_group(7, 0, "app");
  group.use = denied_use();
  EXPECT_EQ(broken(ps_report({group, denied_row()})), "");
}

TEST(PsJson, UnreadableDescriptorsAreNullWithTheirReason) {
  PsRow row = ps_process(42, 0, "postgres");
  row.unknown = {{"descriptors", "denied: /proc/42/fd: Permission denied"}};
  const std::string json = one_line(ps_report({row}));
  EXPECT_TRUE(has(json, R"("descriptors":null)")) << json;
}

RC_GTEST_PROP(PsJsonProperty, HostileNamesKeepItValid, ()) {
  const PsReport report =
      hostile_ps_report(*hostile_name(), *rc::gen::arbitrary<char>());
  RC_ASSERT(test::JsonCheck(one_line(report)).is_valid());
  RC_ASSERT(
      test::JsonCheck(ps_json(report, JsonWriter::Layout::Pretty)).is_valid());
}

RC_GTEST_PROP(PsJsonProperty, HostileNamesAddNoLineToOne, ()) {
  const std::string json = one_line(hostile_ps_report(*hostile_name(), 'S'));
  RC_ASSERT(json.find('\n') == json.size() - 1);
}

}  // namespace
}  // namespace tidemark::view
