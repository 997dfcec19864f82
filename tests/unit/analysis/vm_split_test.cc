#include "analysis/vm_split.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kMiB;

// The guest of 256 MiB, idle but for 96 MiB in its balloon.
GuestFigures ballooned(uint64_t total_mib, std::optional<bool> deflates) {
  return {256 * kMiB, total_mib * kMiB, 93 * kMiB,
          3 * kMiB,   96 * kMiB,        deflates};
}

TEST(VmSplit, TakesTheBalloonOffOnceWhetherTotalFollowsItOrNot) {
  const GuestSplit follows = split_guest(ballooned(121, false));
  const GuestSplit stays = split_guest(ballooned(217, true));
  ASSERT_TRUE(follows.view) << follows.view.unknown_because;
  ASSERT_TRUE(stays.view) << stays.view.unknown_because;
  EXPECT_EQ(*follows.view, *stays.view);
  EXPECT_EQ(follows.view->used_bytes, 25 * kMiB);
  EXPECT_EQ(follows.view->reserved_bytes, 39 * kMiB);
  EXPECT_EQ(follows.view->limit_bytes, 121 * kMiB);
}

TEST(VmSplit, KnowsATotalThatHoldsTheBalloonThoughNobodyTells) {
  const GuestSplit split = split_guest(ballooned(217, std::nullopt));
  ASSERT_TRUE(split.view) << split.view.unknown_because;
  EXPECT_EQ(split.view->used_bytes, 25 * kMiB);
}

TEST(VmSplit, DoesNotGuessWhereBothCouldBe) {
  const GuestSplit split = split_guest(ballooned(121, std::nullopt));
  EXPECT_FALSE(split.view);
  EXPECT_FALSE(split.is_unsettled);
}

TEST(VmSplit, IsUnsettledWhereTheGuestHasMoreFreeThanItMayHave) {
  GuestFigures figures = ballooned(217, true);
  figures.free_bytes = 180 * kMiB;
  const GuestSplit split = split_guest(figures);
  EXPECT_FALSE(split.view);
  EXPECT_TRUE(split.is_unsettled);
}

TEST(VmSplit, IsUnsettledWhereTotalHasNotYetFollowedTheBalloon) {
  const GuestSplit split = split_guest(ballooned(217, false));
  EXPECT_FALSE(split.view);
  EXPECT_TRUE(split.is_unsettled);
}

TEST(VmSplit, CallsHeldWhatIsResidentBeyondUse) {
  const GuestSplit split =
      split_guest({256 * kMiB, 217 * kMiB, 188 * kMiB, 3 * kMiB, 0, {}});
  ASSERT_TRUE(split.view);
  const RamBands bands = bands_of_ram(*split.view, 122 * kMiB);
  EXPECT_EQ(bands.used_bytes, 26 * kMiB);
  EXPECT_EQ(bands.held_bytes, (122 - 26 - 3 - 39) * kMiB);
}

TEST(VmSplit, LearnsFromHowTotalMovesWithTheBalloon) {
  BalloonMemory before;
  before.total_bytes = 217 * kMiB;
  before.balloon_bytes = 0;
  EXPECT_EQ(learn_deflation(before, 217 * kMiB, 96 * kMiB), true);
  EXPECT_EQ(learn_deflation(before, 121 * kMiB, 96 * kMiB), false);
  EXPECT_EQ(learn_deflation(before, 170 * kMiB, 96 * kMiB), std::nullopt)
      << "half way";
  EXPECT_EQ(learn_deflation(before, 217 * kMiB, 4096), std::nullopt)
      << "it has hardly moved";
}

TEST(VmSplit, PartsOfTheGuestAddUpToWhatItWasGiven) {
  rc::check([](uint32_t configured, uint32_t total, uint32_t free,
               uint32_t caches, uint32_t balloon, bool deflates) {
    const GuestSplit split =
        split_guest({configured, total, free, caches, balloon, deflates});
    if (!split.view) {
      RC_ASSERT(!split.view.unknown_because.empty());
      return;
    }
    const GuestView& view = *split.view;
    RC_ASSERT(view.used_bytes + view.caches_bytes + view.free_bytes +
                  view.reserved_bytes + balloon ==
              configured);
    RC_ASSERT(view.limit_bytes <= configured);
  });
}

TEST(VmSplit, PartsOfAGuestThatFitsAreKnown) {
  rc::check([](uint16_t used, uint16_t free, uint16_t caches, uint16_t balloon,
               uint16_t reserved, bool deflates) {
    const uint64_t whole = uint64_t{used} + free + caches + balloon + reserved;
    const uint64_t total = whole - reserved - (deflates ? 0 : balloon);
    const GuestSplit split =
        split_guest({whole, total, free, caches, balloon, deflates});
    RC_ASSERT(static_cast<bool>(split.view));
    RC_ASSERT(split.view->used_bytes == used);
    RC_ASSERT(split.view->reserved_bytes == reserved);
  });
}

TEST(VmSplit, BandsAddUpToWhatIsResident) {
  rc::check(
      [](uint32_t used, uint32_t caches, uint32_t reserved, uint32_t resident) {
        GuestView view;
        view.used_bytes = used;
        view.caches_bytes = caches;
        view.reserved_bytes = reserved;
        const RamBands bands = bands_of_ram(view, resident);
        RC_ASSERT(bands.sum() == resident);
        RC_ASSERT(bands.used_bytes <= used);
        RC_ASSERT(bands.absent_bytes == 0 || bands.held_bytes == 0);
        RC_ASSERT(bands.sum() + bands.absent_bytes ==
                  uint64_t{used} + caches + reserved + bands.held_bytes);
      });
}

}  // namespace
}  // namespace tidemark::analysis
