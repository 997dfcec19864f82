#include "analysis/top_vms.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

VmReport report_of(std::vector<int32_t> pids, uint64_t used_bytes) {
  VmReport report;
  for (int32_t pid : pids) {
    VmRow row;
    row.vm.id = {pid, 1};
    row.bands = {{VmBandKind::GuestUsed, "guest used", "", used_bytes, 0},
                 {VmBandKind::Helper, "virtiofsd", "", 1, 1},
                 {VmBandKind::Helper, "swtpm", "", 2, 1}};
    report.rows.push_back(row);
  }
  return report;
}

TEST(TopVms, KeepsWhatEachWasMadeOf) {
  TopVmHistory history;
  add_vm_points(report_of({7}, 100), 1000, 50, history);
  add_vm_points(report_of({7}, 200), 1040, 50, history);
  const std::vector<TopVmPoint>& points = history[{7, 1}];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].bytes[static_cast<size_t>(VmBandKind::GuestUsed)], 200U);
  EXPECT_EQ(points[1].bytes[static_cast<size_t>(VmBandKind::Helper)], 3U)
      << "bands of one kind together";
}

TEST(TopVms, ForgetsWhatIsOldAndWhoIsGone) {
  TopVmHistory history;
  add_vm_points(report_of({7, 8}, 100), 1000, 50, history);
  add_vm_points(report_of({7}, 100), 1051, 50, history);
  EXPECT_EQ(history.size(), 1U);
  EXPECT_EQ((history[{7, 1}].size()), 1U);
}

}  // namespace
}  // namespace tidemark::analysis
