#include "analysis/ledger_labels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::analysis {
namespace {

TEST(SetLabel, SaysWhoASetIs) {
  std::vector<LedgerProcess> processes(5);
  const char* names[] = {"sh", "cat", "sh", "awk", "ls"};
  for (size_t i = 0; i < processes.size(); ++i) {
    processes[i].pid = static_cast<int32_t>(10 + i);
    processes[i].name = names[i];
  }
  PageSets sets;
  const auto label = [&](const std::vector<SetMember>& members) {
    return set_label(sets, sets.set_of(members), processes);
  };
  EXPECT_EQ(label({{1, 3}}), "cat (11)");
  EXPECT_EQ(label({{0, 1}, {2, 1}}), "sh × 2");
  EXPECT_EQ(label({{0, 1}, {1, 1}}), "sh (10) + cat (11)");
  EXPECT_EQ(label({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}),
            "5 processes, first sh (10)");
}

TEST(ProcessLabel, WhoHasEndedIsKnownByNumber) {
  std::vector<LedgerProcess> processes(1);
  processes[0].pid = 10;
  processes[0].name = "sh";
  EXPECT_EQ(process_label(processes, 10), "sh (10)");
  EXPECT_EQ(process_label(processes, 11), "(11, ended)");
}

TEST(GroupLabel, AlsoOfNoneAndOfTheRemoved) {
  LedgerInput input;
  input.groups = {{7, "/system.slice"}};
  EXPECT_EQ(group_label(input, 7), "/system.slice");
  EXPECT_EQ(group_label(input, 0), "(charged to no group)");
  EXPECT_EQ(group_label(input, 8), "(group 8, removed)");
}

}  // namespace
}  // namespace tidemark::analysis
