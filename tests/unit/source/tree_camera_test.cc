#include "source/tree_camera.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "unit/child.h"
#include "unit/quantities.h"
#include "unit/source/target/groups.h"

namespace tidemark::source {
namespace {

using model::Capture;
using model::Mapping;
using model::Process;
using model::SmapsField;
using test::Child;
using test::Line;
using test::PlannedGroup;
using test::TemporaryTree;

using test::kMiB;

int hold_8_mib(const Line& line) {
  test::touch_pages(8 * kMiB / 4096);
  line.say('!');
  line.rest();
  return 0;
}

int hold_nothing(const Line& line) {
  line.say('!');
  line.rest();
  return 0;
}

class TreeCameraLive : public testing::Test {
 protected:
  Capture shot(const std::vector<int32_t>& pids,
               const MemoryGroup* group = nullptr,
               Exposure exposure = Exposure::Full) {
    std::vector<TreeMember> members;
    for (int32_t pid : pids)
      members.push_back({pid, 0, false});
    return camera_.take(members, group, exposure);
  }

  Roots roots_ = TemporaryTree::open("/proc", true);
  TreeCamera camera_{roots_};
};

TEST_F(TreeCameraLive, SeesWhatAProcessHolds) {
  const Child child(hold_8_mib);
  ASSERT_EQ(child.hear(), '!');
  const Capture capture = shot({child.pid()});
  ASSERT_EQ(capture.sample.processes.size(), 1U);
  const Process& process = capture.sample.processes[0];
  EXPECT_EQ(process.id.pid, child.pid());
  ASSERT_TRUE(process.mappings) << process.mappings.unknown_because;
  EXPECT_TRUE(std::ranges::any_of(*process.mappings, [](const Mapping& m) {
    return m.name.empty() && m.fields.get(SmapsField::Pss) == 8 * kMiB;
  })) << "the mapping itself, page for page";
}

// Reading smaps_rollup as well would walk the page tables twice.
TEST_F(TreeCameraLive, TheSumOfTheMappingsStandsForTheRollup) {
  const Child child(hold_8_mib);
  ASSERT_EQ(child.hear(), '!');
  const Capture capture = shot({child.pid()});
  ASSERT_EQ(capture.sample.processes.size(), 1U);
  const Process& process = capture.sample.processes[0];
  ASSERT_TRUE(process.rollup && process.mappings);
  uint64_t rss = 0;
  for (const Mapping& mapping : *process.mappings)
    rss += mapping.fields.get_or_zero(SmapsField::Rss);
  EXPECT_EQ(process.rollup->get(SmapsField::Rss), rss);
  EXPECT_GE(rss, 8 * kMiB);
}

TEST_F(TreeCameraLive, KeepsTheOrderItIsGiven) {
  const Child first(hold_nothing);
  const Child second(hold_nothing);
  ASSERT_EQ(first.hear(), '!');
  ASSERT_EQ(second.hear(), '!');
  const Capture capture = shot({second.pid(), first.pid()});
  ASSERT_EQ(capture.sample.processes.size(), 2U);
  EXPECT_EQ(capture.sample.processes[0].id.pid, second.pid());
}

TEST_F(TreeCameraLive, LeavesOutWhoHasGone) {
  Child gone([](const Line&) { return 0; });
  gone.wait();
  const Child child(hold_nothing);
  ASSERT_EQ(child.hear(), '!');
  const Capture capture = shot({gone.pid(), child.pid()});
  ASSERT_EQ(capture.sample.processes.size(), 1U);
  EXPECT_EQ(capture.sample.processes[0].id.pid, child.pid());
}

TEST_F(TreeCameraLive, OfNobodyIsEmpty) {
  EXPECT_TRUE(shot({}).sample.processes.empty());
}

TEST_F(TreeCameraLive, SaysWhenItWasTaken) {
  const uint64_t before = base::monotonic_ns();
  const Capture capture = shot({::getpid()});
  EXPECT_GE(capture.sample.started_monotonic_ns, before);
  EXPECT_GT(capture.sample.ended_monotonic_ns,
            capture.sample.started_monotonic_ns);
  EXPECT_LE(capture.sample.ended_monotonic_ns, base::monotonic_ns());
}

TEST_F(TreeCameraLive, WithoutAGroupNothingIsCharged) {
  const Capture capture = shot({::getpid()});
  EXPECT_FALSE(capture.charged_before_bytes || capture.charged_after_bytes);
  EXPECT_EQ(capture.stat, model::GroupStat());
}

TEST_F(TreeCameraLive, ReadsTheAccountOfTheGroupAroundThePicture) {
  const PlannedGroup planned(PlannedGroup::memory());
  if (!planned) GTEST_SKIP() << planned.reason();
  ASSERT_TRUE(make_group(*planned, {::getpid()}));
  base::Result<MemoryGroup> group = MemoryGroup::open(*planned);
  ASSERT_TRUE(group) << group.error().what;
  const Child child([](const Line& line) {
    line.hear();
    return hold_8_mib(line);
  });
  ASSERT_TRUE(add_to_group(*planned, child.pid()));
  child.say('g');
  ASSERT_EQ(child.hear(), '!');
  const Capture capture = shot({child.pid()}, &*group);
  EXPECT_GE(capture.charged_before_bytes.value_or(0), 8 * kMiB);
  EXPECT_GE(capture.charged_after_bytes.value_or(0), 8 * kMiB);
  EXPECT_GT(capture.stat.anon_bytes.value_or(0), 0U);
}

int hold_80_mib(const Line& line) {
  test::touch_pages(80 * kMiB / 4096);
  line.say('!');
  line.rest();
  return 0;
}

TEST_F(TreeCameraLive, AQuickPictureHasTheSizesOfAFullOne) {
  const Child child(hold_80_mib);
  ASSERT_EQ(child.hear(), '!');
  EXPECT_FALSE(camera_.can_be_quick()) << "nothing was seen in full yet";
  const Capture full = shot({child.pid()});
  ASSERT_EQ(full.sample.processes.size(), 1U);
  EXPECT_TRUE(camera_.can_be_quick());
  const Capture quick = shot({child.pid()}, nullptr, Exposure::Quick);
  ASSERT_EQ(quick.sample.processes.size(), 1U);
  if (quick.rescanned_count == 0) GTEST_SKIP() << "no PAGEMAP_SCAN here";
  const auto rss = [](const Capture& capture) {
    return capture.sample.processes[0].rollup->get_or_zero(SmapsField::Rss);
  };
  const auto pss = [](const Capture& capture) {
    return capture.sample.processes[0].rollup->get_or_zero(SmapsField::Pss);
  };
  EXPECT_GE(rss(full), 80 * kMiB);
  EXPECT_NEAR(static_cast<double>(rss(quick)), static_cast<double>(rss(full)),
              static_cast<double>(kMiB));
  EXPECT_NEAR(static_cast<double>(pss(quick)), static_cast<double>(pss(full)),
              static_cast<double>(kMiB));
}

}  // namespace
}  // namespace tidemark::source
