#include "view/tui/machine_view.h"

#include <gtest/gtest.h>

#include <memory>

#include "unit/view/tui/pressing.h"
#include "unit/view/tui/top_example.h"
#include "view/tui/top.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopSnapshot;
using model::Category;

// The Machine view of a snapshot that a test has changed.
Top machine_of(TopSnapshot snapshot, int columns = 132, int rows = 40) {
  Top top({}, columns, rows);
  top.take(std::make_shared<const TopSnapshot>(std::move(snapshot)));
  press(top, U'2');
  return top;
}

TEST(MachineView, ShowsTheCountOncePagesWereCounted) {
  const Top top = machine_of(*example_snapshot());
  EXPECT_TRUE(shows(top, "Every page of RAM, once"));
  EXPECT_TRUE(shows(top, "24.0G = 6,291,456 pages · 99.8 % named"));
  EXPECT_TRUE(shows(top, "0 pages left over"));
  EXPECT_TRUE(shows(top, "no source explains these"));
}

TEST(MachineView, CallsCountersCounters) {
  TopSnapshot snapshot = *example_snapshot();
  snapshot.slow.ledger.value.reset();
  const Top none = machine_of(snapshot);
  EXPECT_TRUE(shows(none, "All of RAM, by counters")) << text_of(none);
  EXPECT_FALSE(shows(none, "left over"));
  auto counters = std::make_shared<analysis::TopLedger>(*example_ledger());
  counters->tier = model::LedgerTier::Counters;
  counters->tier_note = "not root";
  snapshot.slow.ledger.value = counters;
  const Top denied = machine_of(snapshot);
  EXPECT_TRUE(shows(denied, "All of RAM, by counters"));
  EXPECT_TRUE(shows(denied, "counters alone: not root"));
}

TEST(MachineView, KeepsTheChosenClassWhenTheOrderChanges) {
  Top top = machine_of(*example_snapshot());
  press(top, KeyCode::Down);
  EXPECT_TRUE(chosen_line(top).starts_with(">░ files")) << text_of(top);
  TopSnapshot later = *example_snapshot();
  auto ledger = std::make_shared<analysis::TopLedger>(*example_ledger());
  for (analysis::TopLedgerRow& row : ledger->rows) {
    if (row.category == Category::File) row.bytes = 100 * kMb;
    if (row.category == Category::Free) row.bytes += 6771 * kMb;
  }
  later.slow.ledger.value = ledger;
  top.take(std::make_shared<const TopSnapshot>(later));
  EXPECT_TRUE(chosen_line(top).starts_with(">░ files")) << text_of(top);
}

TEST(MachineView, OpensOwnersOfTheChosenClass) {
  Top top = machine_of(*example_snapshot(), 80, 24);
  press(top, KeyCode::Down);
  press(top, KeyCode::Enter);
  EXPECT_TRUE(chosen_line(top).starts_with(">░ files")) << text_of(top);
  EXPECT_TRUE(shows(top, "/srv/osm/nodes.bin"));
}

TEST(MachineView, GoesBackToClassesFromOtherCounts) {
  Top top = machine_of(*example_snapshot());
  press(top, U'b');
  EXPECT_EQ(top.needs().ledger_by, analysis::LedgerBy::Cgroup);
  TopSnapshot later = *example_snapshot();
  auto groups = std::make_shared<analysis::TopLedger>(*example_ledger());
  groups->by = analysis::LedgerBy::Cgroup;
  later.slow.ledger.value = groups;
  top.take(std::make_shared<const TopSnapshot>(later));
  press(top, KeyCode::Escape);
  EXPECT_EQ(top.needs().ledger_by, analysis::LedgerBy::Class);
  EXPECT_TRUE(shows(top, "Every page of RAM, once"))
      << "the count by class before is kept";
}

TEST(MachineView, SaysWhatWouldComeBack) {
  Top top = machine_of(*example_snapshot());
  press(top, U'w');
  EXPECT_TRUE(shows(top,
                    "anonymous: 3.52G if osm2pgsql (41877) ended, ≤8.01G if "
                    "its owners ended"))
      << text_of(top);
  press(top, KeyCode::Down);
  press(top, U'w');
  EXPECT_TRUE(shows(top, "files: ≤6.71G as memory is needed"));
  press(top, KeyCode::End);
  press(top, KeyCode::Up);
  press(top, U'w');
  EXPECT_TRUE(shows(top, "unnamed: unknown: nobody knows whose pages"));
}

TEST(MachineView, SaysWhatOneOwnerWouldGiveBack) {
  Top top = machine_of(*example_snapshot());
  press(top, KeyCode::Enter);
  press(top, KeyCode::Down);
  press(top, U'w');
  EXPECT_TRUE(shows(top, "osm2pgsql (41877): 3.52G of anonymous memory if it"))
      << text_of(top);
}

TEST(MachineView, ExplainsTheChosenClass) {
  Top top = machine_of(*example_snapshot(), 80, 24);
  press(top, KeyCode::Down);
  press(top, U'e');
  EXPECT_TRUE(shows(top, "files   6.71G   28.0 % of RAM")) << text_of(top);
  EXPECT_TRUE(shows(top, "the page cache"));
  EXPECT_TRUE(shows(top, "= Cached 8.63G - Shmem 1.92G (meminfo)"));
  EXPECT_TRUE(shows(top, "census 14 s ago"));
  press(top, KeyCode::Escape);
  EXPECT_TRUE(shows(top, "Every page of RAM, once"));
}

TEST(MachineView, WritesBoundsInAscii) {
  Look look;
  look.glyphs = GlyphSet::Ascii;
  Top top(look, 132, 40);
  top.take(example_snapshot());
  press(top, U'2');
  press(top, KeyCode::Down);
  press(top, U'w');
  EXPECT_TRUE(shows(top, "files: <=6.71G as memory is needed")) << text_of(top);
}

TEST(MachineView, TellsTheTrendOfTheResidueFromTwoCounts) {
  Top top = machine_of(*example_snapshot(), 80, 24);
  EXPECT_TRUE(shows(top, "no source explains (c: trend)")) << text_of(top);
  TopSnapshot later = *example_snapshot();
  later.slow.ledger.value =
      std::make_shared<analysis::TopLedger>(*example_ledger());
  later.slow.ledger.read_ns = kNowNs;
  top.take(std::make_shared<const TopSnapshot>(later));
  EXPECT_TRUE(shows(top, "unnamed 25.0M, 0.1 % of RAM, steady: kernel pages"))
      << text_of(top);
}

TEST(MachineView, NamesKindsAndObjectsThatGrow) {
  const Top top = machine_of(*example_snapshot());
  EXPECT_TRUE(shows(top, "osm2pgsql · heap")) << text_of(top);
  EXPECT_TRUE(shows(top, "postgres shared_buffers"));
  TopSnapshot unread = *example_snapshot();
  for (analysis::TopDetail& detail : unread.details)
    detail = {};
  const Top without = machine_of(unread);
  EXPECT_TRUE(shows(without, " osm2pgsql  ")) << text_of(without);
  EXPECT_FALSE(shows(without, "· heap")) << "the kind is not known";
}

TEST(MachineView, ChoosesAClassByAClick) {
  for (const auto& [columns, rows] : {std::pair(80, 24), std::pair(132, 40)}) {
    Top top = machine_of(*example_snapshot(), columns, rows);
    top.press({KeyCode::Click, 0, 5, columns < 132 ? 6 : 9}, kNowNs);
    press(top, U'e');
    EXPECT_TRUE(shows(top, "files   6.71G")) << text_of(top);
  }
}

TEST(MachineView, CountsNothingInARecording) {
  Top top({}, 80, 24);
  top.take(example_replay());
  press(top, U'2');
  EXPECT_TRUE(shows(top, "All of RAM, by counters"));
  press(top, KeyCode::Down);
  press(top, U'e');
  EXPECT_TRUE(shows(top, "By the kernel's counters")) << text_of(top);
}

}  // namespace
}  // namespace tidemark::view::tui
