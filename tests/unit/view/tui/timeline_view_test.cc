#include "view/tui/timeline_view.h"

#include <gtest/gtest.h>

#include <memory>

#include "unit/view/tui/pressing.h"
#include "unit/view/tui/top_example.h"
#include "view/tui/top.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopSnapshot;

Top timeline_of(TopSnapshot snapshot, int columns = 132, int rows = 40) {
  Top top({}, columns, rows);
  top.take(std::make_shared<const TopSnapshot>(std::move(snapshot)));
  press(top, U'5');
  return top;
}

TEST(TimelineView, ComparesThePeakWithTheMarkOfTheGroup) {
  const Top wide = timeline_of(*example_replay());
  EXPECT_TRUE(shows(wide,
                    "sum                      4.50G    100  + 84.0M not "
                    "explained = 4.58G high-water mark of the cgroup"))
      << text_of(wide);
  const Top narrow = timeline_of(*example_replay(), 80, 24);
  EXPECT_TRUE(shows(narrow, " sum 4.50G + 84.0M not explained = 4.58G"))
      << text_of(narrow);
}

TEST(TimelineView, InventsNoMark) {
  TopSnapshot elsewhere = *example_replay();
  elsewhere.playback->tick_index = 100;
  EXPECT_FALSE(shows(timeline_of(elsewhere), "not explained"))
      << "the mark is that of the highest moment";
  TopSnapshot unmarked = *example_replay();
  auto timeline = std::make_shared<analysis::TopTimeline>(*unmarked.timeline);
  timeline->mark_bytes.reset();
  unmarked.timeline = timeline;
  EXPECT_FALSE(shows(timeline_of(unmarked), "not explained"));
  timeline = std::make_shared<analysis::TopTimeline>(*timeline);
  timeline->mark_bytes = 100 * kMb;
  unmarked.timeline = timeline;
  EXPECT_FALSE(shows(timeline_of(unmarked), "not explained"))
      << "what is shared may be charged to others";
}

TEST(TimelineView, GroupsTheMomentByProgramAndControlGroup) {
  Top top = timeline_of(*example_replay());
  press(top, U'g');
  EXPECT_TRUE(shows(top, "At the peak  PROGRAM")) << text_of(top);
  EXPECT_TRUE(shows(top, "█ osm2pgsql                3.34G")) << text_of(top);
  press(top, U'g');
  EXPECT_TRUE(shows(top, "CONTROL GROUP"));
  EXPECT_TRUE(shows(top, "/import.scope")) << text_of(top);
  press(top, U'g');
  EXPECT_TRUE(shows(top, "KIND"));
}

TEST(TimelineView, GroupsNothingThatHasPassed) {
  Top top = timeline_of(*example_snapshot());
  press(top, KeyCode::Left);
  press(top, U'g');
  EXPECT_TRUE(shows(top, "only kinds are kept"));
}

TEST(TimelineView, FindsWhatHappened) {
  Top top = timeline_of(*example_replay());
  press(top, U'/');
  for (char32_t letter : std::u32string_view(U"killed"))
    press(top, letter);
  const Request request = press(top, KeyCode::Enter);
  EXPECT_EQ(request.wish, Wish::MoveTicks);
  EXPECT_EQ(request.count, 600 - 412);
  EXPECT_EQ(press(top, U'N').wish, Wish::None);
  EXPECT_TRUE(shows(top, "'killed' happened at no earlier moment"));
}

TEST(TimelineView, CopiesTheTable) {
  Top top = timeline_of(*example_replay());
  const Request request = press(top, U'y');
  EXPECT_EQ(request.wish, Wish::Copy);
  EXPECT_NE(request.text.find("heap\t2.41G\tosm2pgsql 98 %, python3\n"),
            std::string::npos)
      << request.text;
  EXPECT_NE(request.text.find("sum\t4.50G\n"), std::string::npos);
}

TEST(TimelineView, TellsArrowsFromKeysOfTheSpeedInAscii) {
  Look look;
  look.glyphs = GlyphSet::Ascii;
  Top top(look, 80, 24);
  top.take(example_replay());
  press(top, U'5');
  EXPECT_TRUE(shows(top, " arrows moment  p next peak  Space play  <> speed"))
      << text_of(top);
}

TEST(TimelineView, CountsTheTicksOfARecording) {
  EXPECT_TRUE(shows(timeline_of(*example_replay()), "720 of 723 ticks"));
  EXPECT_TRUE(shows(timeline_of(*example_snapshot()), "self 1.4 % cpu"));
}

}  // namespace
}  // namespace tidemark::view::tui
