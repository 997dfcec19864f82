#include "view/tui/top.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "unit/view/tui/pressing.h"
#include "unit/view/tui/screens.h"
#include "unit/view/tui/top_example.h"

namespace tidemark::view::tui {
namespace {

constexpr uint64_t kPressNs = kNowNs;

Top example_top(int columns, int rows, const Look& look = {}) {
  Top top(look, columns, rows);
  top.take(example_snapshot());
  return top;
}

void choose(Top& top, std::u32string_view name) {
  answer(top, U'/', name);
}

class TopSize : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  // Local time is in the first row.
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  std::string name(const std::string& view) const {
    return view + "_" + std::to_string(GetParam().first);
  }
  Top top() const { return example_top(GetParam().first, GetParam().second); }
};
INSTANTIATE_TEST_SUITE_P(Widths, TopSize,
                         testing::Values(std::pair(60, 24), std::pair(80, 24),
                                         std::pair(132, 40)));

TEST_P(TopSize, DrawsProcesses) {
  expect_screen(top().draw(kNowNs), name("processes"));
}

TEST_P(TopSize, DrawsTheMachine) {
  Top shown = top();
  press(shown, U'2');
  expect_screen(shown.draw(kNowNs), name("machine"));
}

TEST_P(TopSize, DrawsOwnersOfPages) {
  Top shown = top();
  press(shown, U'2');
  press(shown, KeyCode::Enter);
  press(shown, KeyCode::Right);
  expect_screen(shown.draw(kNowNs), name("owners"));
}

TEST_P(TopSize, DrawsTheTimeline) {
  Top shown({}, GetParam().first, GetParam().second);
  shown.take(example_replay());
  press(shown, U'5');
  expect_screen(shown.draw(kNowNs), name("timeline"));
}

TEST_P(TopSize, DrawsObjects) {
  Top shown = top();
  press(shown, U'3');
  press(shown, KeyCode::Right);
  expect_screen(shown.draw(kNowNs), name("objects"));
}

TEST_P(TopSize, DrawsVms) {
  Top shown = top();
  press(shown, U'6');
  press(shown, KeyCode::Right);
  expect_screen(shown.draw(kNowNs), name("vms"));
}

TEST_P(TopSize, DrawsHelp) {
  Top shown = top();
  press(shown, U'?');
  expect_screen(shown.draw(kNowNs), name("help"));
}

TEST_P(TopSize, DrawsInAscii) {
  Look look;
  look.glyphs = GlyphSet::Ascii;
  const Canvas canvas =
      example_top(GetParam().first, GetParam().second, look).draw(kNowNs);
  for (char c : canvas.to_text())
    ASSERT_TRUE((c >= ' ' && c <= '~') || c == '\n');
  expect_screen(canvas, name("ascii"));
}

TEST(Top, TellsEventsApartInAscii) {
  Look look;
  look.glyphs = GlyphSet::Ascii;
  Top top({look}, 80, 24);
  top.take(example_replay());
  press(top, U'5');
  std::istringstream lines(top.draw(kNowNs).to_text());
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("event")) {
  }
  std::erase(line, ' ');
  EXPECT_EQ(line, "event|+!oX");
}

TEST(Top, DrawsAtEverySize) {
  for (const auto& [columns, rows] :
       {std::pair(1, 1), std::pair(40, 10), std::pair(59, 13),
        std::pair(79, 19), std::pair(131, 27), std::pair(300, 100)}) {
    Top top = example_top(columns, rows);
    for (char32_t view : {U'1', U'2', U'3', U'5', U'6', U'?'}) {
      press(top, view);
      const Canvas canvas = top.draw(kNowNs);
      EXPECT_EQ(canvas.columns(), columns);
      EXPECT_EQ(canvas.rows(), rows);
    }
  }
}

TEST(Top, SaysThatItReadsForTheFirstTime) {
  const Top top({}, 80, 24);
  EXPECT_NE(top.draw(0).to_text().find("first time"), std::string::npos);
}

TEST(Top, ShowsNamePssAndGrowthWhenItIsSmall) {
  const std::string text = example_top(40, 10).draw(kNowNs).to_text();
  EXPECT_NE(text.find("osm2pgsql"), std::string::npos) << text;
  EXPECT_NE(text.find("3.60G"), std::string::npos) << text;
  EXPECT_NE(text.find("+398M"), std::string::npos) << text;
  EXPECT_EQ(text.find("p:41877"), std::string::npos) << text;
}

// What a view has no room for must not stand over these lines.
TEST(Top, KeepsStatusAndKeysFreeOfViewsWhenItIsSmall) {
  for (const auto& [columns, rows] :
       {std::pair(40, 10), std::pair(60, 12), std::pair(80, 14)}) {
    Top top = example_top(columns, rows);
    for (char32_t view : {U'1', U'2', U'3', U'4', U'5', U'6'}) {
      press(top, view);
      const Canvas canvas = top.draw(kNowNs);
      Canvas bare(columns, rows);
      for (int row = rows - 2; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          bare.set(column, row, canvas.at(column, row).glyph, {});
        }
      }
      const std::string text = bare.to_text();
      EXPECT_NE(text.find("q quit"), std::string::npos) << text;
      for (const char* glyph : {"▓", "▤", "░", "▒", "█"})
        EXPECT_EQ(text.find(glyph), std::string::npos) << text;
    }
  }
}

TEST(Top, CutsNoNumberOfTheTimelineWhenItIsSmall) {
  Top top({}, 40, 10);
  top.take(example_replay());
  press(top, U'5');
  const std::string text = text_of(top);
  EXPECT_NE(text.find("2.41G"), std::string::npos) << text;
  EXPECT_NE(text.find("+600M"), std::string::npos) << text;
}

TEST(Top, ListsKeysOfWhatIsShown) {
  Top live = example_top(80, 30);
  press(live, U'?');
  EXPECT_NE(text_of(live).find("record to a file"), std::string::npos);
  EXPECT_EQ(text_of(live).find("go to a time"), std::string::npos);
  Top replay({}, 80, 30);
  replay.take(example_replay());
  for (char32_t view : {U'1', U'2', U'4', U'5'}) {
    press(replay, view);
    press(replay, U'?');
    const std::string text = text_of(replay);
    EXPECT_EQ(text.find("record to a file"), std::string::npos) << text;
    EXPECT_EQ(text.find("stop tracing"), std::string::npos) << text;
    EXPECT_NE(text.find("go to a time"), std::string::npos) << text;
    EXPECT_NE(text.find("next peak"), std::string::npos) << text;
    press(replay, KeyCode::Escape);
  }
}

TEST(Top, ShowsTheRestOfTheKeysOnASmallScreen) {
  Top top = example_top(40, 10);
  press(top, U'?');
  EXPECT_EQ(text_of(top).find("filter, ever"), std::string::npos);
  EXPECT_NE(text_of(top).find("↓ more"), std::string::npos) << text_of(top);
  press(top, KeyCode::End);
  EXPECT_NE(text_of(top).find("filter, ever"), std::string::npos)
      << text_of(top);
  EXPECT_NE(text_of(top).find("↑ more"), std::string::npos) << text_of(top);
  press(top, U'?');
  EXPECT_EQ(text_of(top).find(": keys"), std::string::npos);
}

// The oldest of the last minutes go: the moment must not go with them.
TEST(Top, StaysAtTheMomentWhileTimeGoesOn) {
  Top top({}, 80, 24);
  auto first = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  auto timeline = std::make_shared<analysis::TopTimeline>(*example_timeline());
  timeline->start_ns = 100 * kSecondNs;
  first->timeline = timeline;
  top.take(first);
  press(top, U'5');
  press(top, KeyCode::Home);
  press(top, U'p');
  EXPECT_NE(text_of(top).find("peak 4.50G  00:41:12"), std::string::npos);
  auto second = std::make_shared<analysis::TopSnapshot>(*first);
  auto later = std::make_shared<analysis::TopTimeline>(*timeline);
  later->points.erase(later->points.begin(), later->points.begin() + 10);
  for (analysis::TopTimelinePoint& point : later->points)
    point.elapsed_ns -= 60 * kSecondNs;
  later->start_ns += 60 * kSecondNs;
  analysis::find_peaks(*later);
  second->timeline = later;
  top.take(second);
  EXPECT_NE(text_of(top).find("peak 4.50G  00:40:12"), std::string::npos)
      << text_of(top);
}

TEST(Top, KeepsTheChosenProcessWhenTheOrderChanges) {
  Top top = example_top(80, 24);
  choose(top, U"checkpointer");
  EXPECT_NE(chosen_line(top).find("checkpointer"), std::string::npos);
  press(top, U's');
  press(top, U's');
  EXPECT_NE(chosen_line(top).find("checkpointer"), std::string::npos)
      << "the highlight follows the item, not the row";
}

TEST(Top, OpensAndClosesARow) {
  Top top = example_top(132, 40);
  press(top, KeyCode::Left);
  EXPECT_EQ(top.draw(kNowNs).to_text().find("osm2pgsql"), std::string::npos);
  press(top, KeyCode::Right);
  choose(top, U"osm2pgsql");
  press(top, KeyCode::Right);
  EXPECT_NE(top.draw(kNowNs).to_text().find("program and libraries"),
            std::string::npos);
}

TEST(Top, OpensAProcessDownToItsMappings) {
  auto snapshot = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  analysis::TopDetail& detail = snapshot->details[0];
  detail.largest = std::make_shared<const std::vector<analysis::TopMapping>>(
      std::vector<analysis::TopMapping>{
          {"/usr/lib/libproj.so.25",
           example_kind(model::Category::Code, 1000)}});
  Top top({}, 80, 40);
  top.take(snapshot);
  choose(top, U"osm2pgsql");
  press(top, KeyCode::Right);
  choose(top, U"program and");
  press(top, KeyCode::Right);
  const std::string text = text_of(top);
  EXPECT_NE(text.find(" libproj.so.25 "), std::string::npos) << text;
  EXPECT_NE(text.find("smaller ones"), std::string::npos)
      << "all of them add up\n"
      << text;
  choose(top, U"libproj");
  EXPECT_EQ(press(top, KeyCode::Enter).wish, Wish::OpenMaps);
  press(top, KeyCode::Escape);
  press(top, KeyCode::Left);
  EXPECT_NE(chosen_line(top).find("program and"), std::string::npos)
      << "to its kind";
}

TEST(Top, OpensWhatIsFolded) {
  Top top = example_top(80, 24);
  EXPECT_EQ(top.draw(kNowNs).to_text().find("gzip"), std::string::npos);
  choose(top, U"smaller");
  press(top, KeyCode::Right);
  EXPECT_NE(top.draw(kNowNs).to_text().find("gzip"), std::string::npos);
}

TEST(Top, FindsWhileOneTypes) {
  Top top = example_top(80, 24);
  press(top, U'/');
  press(top, U'F');
  press(top, U'i');
  EXPECT_NE(chosen_line(top).find("firefox"), std::string::npos);
  EXPECT_NE(top.draw(kNowNs).to_text().find("find: Fi"), std::string::npos);
  press(top, KeyCode::Enter);
  EXPECT_EQ(top.draw(kNowNs).to_text().find("find: Fi"), std::string::npos);
}

void filter_by(Top& top, std::u32string_view words) {
  answer(top, U'F', words);
}

TEST(Top, FiltersRows) {
  Top top = example_top(80, 24);
  filter_by(top, U"postgres");
  const std::string text = top.draw(kNowNs).to_text();
  EXPECT_EQ(text.find("firefox"), std::string::npos) << text;
  EXPECT_NE(text.find("postgres: writer"), std::string::npos) << text;
}

TEST(Top, HasOneFilterForAllViews) {
  Top top = example_top(80, 24);
  press(top, U'3');
  EXPECT_NE(top.draw(kNowNs).to_text().find("shared_buffers"),
            std::string::npos);
  filter_by(top, U"firefox");
  const std::string text = top.draw(kNowNs).to_text();
  EXPECT_NE(text.find("filter firefox"), std::string::npos) << text;
  EXPECT_EQ(text.find("shared_buffers"), std::string::npos) << text;
  EXPECT_NE(text.find("frames"), std::string::npos) << text;
  press(top, U'1');
  EXPECT_EQ(top.draw(kNowNs).to_text().find("osm2pgsql"), std::string::npos);
  const analysis::TopTimelineOf of = top.needs().timeline_of;
  EXPECT_EQ(of.filter, "firefox");
  ASSERT_EQ(of.processes.size(), 1U);
  EXPECT_EQ(of.processes[0].pid, 2217);
  press(top, U'2');
  EXPECT_NE(top.draw(kNowNs).to_text().find("filter firefox (who grows)"),
            std::string::npos);
  filter_by(top, U"");
  EXPECT_TRUE(top.needs().timeline_of.is_all());
  press(top, U'3');
  EXPECT_NE(top.draw(kNowNs).to_text().find("shared_buffers"),
            std::string::npos);
}

TEST(Top, SaysWhatIsNoFilterAndKeepsTheOneBefore) {
  Top top = example_top(80, 24);
  filter_by(top, U"pss>banana");
  EXPECT_TRUE(top.needs().timeline_of.is_all());
  EXPECT_NE(top.draw(kNowNs).to_text().find("banana"), std::string::npos);
  filter_by(top, U"firefox");
  filter_by(top, U"pss>banana");
  EXPECT_EQ(top.needs().timeline_of.filter, "firefox");
}

TEST(Top, FindsNothingWhereAFilterMeansNobody) {
  Top top = example_top(80, 24);
  filter_by(top, U"nobody-is-called-so");
  EXPECT_NE(text_of(top).find("no process is meant"), std::string::npos);
  for (char32_t view : {U'1', U'3', U'5', U'6'}) {
    press(top, view);
    choose(top, U"a");
    press(top, U'n');
    press(top, U'N');
  }
  choose(top, U"a");
  EXPECT_NE(text_of(top).find("in no row"), std::string::npos) << text_of(top);
}

TEST(Top, BoundsWhatMarkedProcessesWouldGiveBackUntilPagesAreCounted) {
  Top top = example_top(132, 40);
  choose(top, U"osm2pgsql");
  press(top, U' ');
  EXPECT_NE(top.draw(kNowNs).to_text().find(
                "3.60G PSS, of which 3.53G … would come back if it ended"),
            std::string::npos);
  press(top, U' ');
  EXPECT_NE(top.draw(kNowNs).to_text().find("≥3.54G … would come back"),
            std::string::npos)
      << "what both share alone is not in it";
}

TEST(Top, SaysWhatMarkedProcessesWouldGiveBackByTheirPages) {
  Top top = example_top(132, 40);
  choose(top, U"osm2pgsql");
  press(top, U' ');
  const analysis::TopNeeds needs = top.needs();
  ASSERT_EQ(needs.ending.size(), 1U);
  EXPECT_EQ(needs.ending[0].pid, 41877);
  auto counted = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  analysis::TopComeBack back;
  back.ending = needs.ending;
  back.what_if.freed_bytes = 3620 * kMb;
  counted->slow.come_back.value =
      std::make_shared<const analysis::TopComeBack>(back);
  counted->slow.come_back.read_ns = kNowNs - 40 * kSecondNs;
  top.take(counted);
  EXPECT_NE(top.draw(kNowNs).to_text().find(
                "3.54G would come back if it ended, 40 s ago"),
            std::string::npos);
  press(top, U' ');
  EXPECT_NE(top.draw(kNowNs).to_text().find("≥"), std::string::npos)
      << "what was counted of one is not the answer for two";
}

TEST(Top, DoesNotAskForOneThatHasEnded) {
  Top top = example_top(132, 40);
  choose(top, U"osm2pgsql");
  press(top, U' ');
  ASSERT_EQ(top.needs().ending.size(), 1U);
  auto later = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  later->sample.processes[0].id.start_ticks += 1;
  top.take(later);
  EXPECT_TRUE(top.needs().ending.empty()) << "its pid is another's now";
}

TEST(Top, NeedsOnlyWhatIsOnTheScreen) {
  Top top = example_top(80, 24);
  EXPECT_FALSE(top.needs().objects);
  press(top, U'3');
  EXPECT_TRUE(top.needs().objects);
  const uint64_t before = top.needs().object_recounts;
  press(top, U'c');
  EXPECT_EQ(top.needs().object_recounts, before + 1);
  press(top, U'6');
  EXPECT_FALSE(top.needs().objects);
  EXPECT_TRUE(top.needs().vms);
}

TEST(Top, HasNoTabForVmsWhereThereAreNone) {
  auto snapshot = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  snapshot->slow.vms = {};
  Top top({}, 80, 24);
  top.take(snapshot);
  EXPECT_EQ(top.draw(kNowNs).to_text().find("VMs"), std::string::npos);
  press(top, U'6');
  EXPECT_NE(top.draw(kNowNs).to_text().find("[1 Processes]"),
            std::string::npos);
}

TEST(Top, FollowsAProcessInTheTimeline) {
  Top top = example_top(80, 24);
  choose(top, U"firefox");
  press(top, U'f');
  ASSERT_EQ(top.needs().timeline_of.processes.size(), 1U);
  EXPECT_EQ(top.needs().timeline_of.processes[0].pid, 2217);
  press(top, KeyCode::Down);
  EXPECT_FALSE(top.needs().timeline_of.is_all())
      << "a move only leaves the row";
  press(top, U'f');
  EXPECT_TRUE(top.needs().timeline_of.is_all());
}

TEST(Top, CopiesTheChosenRow) {
  Top top = example_top(80, 24);
  choose(top, U"osm2pgsql");
  const Request request = press(top, U'y');
  EXPECT_EQ(request.wish, Wish::Copy);
  EXPECT_EQ(request.text, "p:41877\tosm2pgsql\t3.60G\t3.53G\t181M\t+398M");
}

TEST(Top, ShowsOnlyHiddenObjects) {
  Top top = example_top(80, 24);
  press(top, U'3');
  EXPECT_NE(top.draw(kNowNs).to_text().find("shared_buffers"),
            std::string::npos);
  press(top, U'h');
  const std::string text = top.draw(kNowNs + 10 * kSecondNs).to_text();
  EXPECT_EQ(text.find("shared_buffers"), std::string::npos) << text;
  EXPECT_NE(text.find("frames"), std::string::npos) << text;
}

TEST(Top, SaysThatMemoryMovedWhileObjectsWereRead) {
  auto snapshot = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  auto objects =
      std::make_shared<analysis::ObjectReport>(*snapshot->slow.objects.value);
  objects->shmem->rest_bytes = -static_cast<int64_t>(kMb);
  snapshot->slow.objects.value = objects;
  Top top({}, 80, 24);
  top.take(snapshot);
  press(top, U'3');
  EXPECT_NE(text_of(top).find("shmem 2.27G, ≥2.25G named: 1.00M came or went"),
            std::string::npos)
      << text_of(top);
}

TEST(Top, SaysWhyThereAreNoObjects) {
  auto snapshot = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  snapshot->slow.objects = {};
  snapshot->slow.objects.failure = "a recording has none";
  Top top({}, 80, 24);
  top.take(snapshot);
  press(top, U'3');
  EXPECT_NE(top.draw(kNowNs).to_text().find("a recording has none"),
            std::string::npos);
}

TEST(Top, CountsPagesWhileTheMachineIsShown) {
  Top top = example_top(80, 24);
  EXPECT_FALSE(top.needs().ledger) << "it costs a second of a core";
  press(top, U'2');
  EXPECT_TRUE(top.needs().ledger);
  press(top, U'c');
  EXPECT_EQ(top.needs().ledger_recounts, 1U);
  press(top, U'b');
  EXPECT_EQ(top.needs().ledger_by, analysis::LedgerBy::Cgroup);
}

TEST(Top, ZoomsTheTimelineRoundTheMoment) {
  Top top({}, 80, 24);
  top.take(example_replay());
  press(top, U'5');
  EXPECT_NE(top.draw(kNowNs).to_text().find("00:00:00"), std::string::npos);
  press(top, U'+');
  const std::string text = top.draw(kNowNs).to_text();
  EXPECT_EQ(text.find("00:00:00"), std::string::npos) << text;
  EXPECT_NE(text.find("peak 4.50G  00:41:12"), std::string::npos) << text;
  press(top, U'-');
  EXPECT_NE(top.draw(kNowNs).to_text().find("00:00:00"), std::string::npos);
}

TEST(Top, SaysWhatHappenedAtTheMoment) {
  Top top({}, 132, 40);
  top.take(example_replay());
  press(top, U'5');
  EXPECT_NE(top.draw(kNowNs).to_text().find("exit osm2pgsql (41877)"),
            std::string::npos);
}

TEST(Top, SortsProcessesByAClickOnAHead) {
  Top top = example_top(80, 40);
  const auto click = [&](int column) {
    top.press({KeyCode::Click, 0, column, 3}, kPressNs);
  };
  const auto is_before = [&](const char* first, const char* second) {
    const std::string text = text_of(top);
    return text.find(first) < text.find(second);
  };
  EXPECT_TRUE(is_before("osm2pgsql", "postgres: writer"));
  click(55);  // SHARED
  EXPECT_FALSE(is_before("osm2pgsql", "postgres: writer")) << text_of(top);
  click(12);  // NAME
  EXPECT_TRUE(is_before("postgres: checkpointer", "python3")) << text_of(top);
  click(12);
  EXPECT_FALSE(is_before("postgres: checkpointer", "python3")) << text_of(top);
  click(2);  // TASK
  EXPECT_TRUE(is_before("p:41877", "p:41902")) << text_of(top);
}

TEST(Top, SortsObjectsByAClickOnAHead) {
  Top top = example_top(80, 24);
  press(top, U'3');
  const std::string text = top.draw(kNowNs).to_text();
  EXPECT_LT(text.find("shared_buffers"), text.find("frames"));
  // #FD, at the right end of the head.
  top.press({KeyCode::Click, 0, 77, 4}, kPressNs);
  const std::string sorted = top.draw(kNowNs).to_text();
  EXPECT_GT(sorted.find("shared_buffers"), sorted.find("frames")) << sorted;
}

TEST(Top, AsksForMapsAndReturns) {
  Top top = example_top(80, 24);
  choose(top, U"osm2pgsql");
  const Request request = press(top, KeyCode::Enter);
  EXPECT_EQ(request.wish, Wish::OpenMaps);
  EXPECT_EQ(request.process.pid, 41877);
  EXPECT_EQ(press(top, KeyCode::Escape).wish, Wish::CloseMaps);
  EXPECT_NE(chosen_line(top).find("osm2pgsql"), std::string::npos);
}

TEST(Top, StaysAsItIsWhileItIsFrozen) {
  Top top = example_top(80, 24);
  press(top, U'z');
  auto later = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  later->target = "another";
  top.take(later);
  EXPECT_EQ(top.draw(kNowNs).to_text().find("another"), std::string::npos);
  EXPECT_NE(top.draw(kNowNs).to_text().find("frozen"), std::string::npos);
  press(top, U'z');
  EXPECT_NE(top.draw(kNowNs).to_text().find("another"), std::string::npos);
}

TEST(Top, ShowsAMessageForFiveSeconds) {
  Top top = example_top(80, 24);
  top.say("disk full", kNowNs);
  EXPECT_NE(top.draw(kNowNs).to_text().find("disk full"), std::string::npos);
  EXPECT_EQ(top.draw(kNowNs + 5 * kSecondNs).to_text().find("disk full"),
            std::string::npos);
}

TEST(Top, TurnsKeysOfARecordingIntoWishes) {
  Top top({}, 80, 24);
  top.take(example_replay());
  press(top, U'5');
  EXPECT_EQ(press(top, U' ').wish, Wish::PlayOrPause);
  EXPECT_EQ(press(top, U'p').wish, Wish::NextPeak);
  EXPECT_EQ(press(top, U'>').wish, Wish::Faster);
  const Request left = press(top, KeyCode::Left);
  EXPECT_EQ(left.wish, Wish::MoveTicks);
  EXPECT_LT(left.count, 0);
  press(top, U't');
  for (char32_t letter : std::u32string_view(U"90s"))
    press(top, letter);
  const Request go = press(top, KeyCode::Enter);
  EXPECT_EQ(go.wish, Wish::GoTo);
  EXPECT_EQ(go.text, "90s");
}

TEST(Top, ChoosesViewsByNumberTabAndClick) {
  Top top = example_top(80, 24);
  press(top, KeyCode::Tab);
  EXPECT_NE(top.draw(kNowNs).to_text().find("[2 Machine]"), std::string::npos);
  top.press({KeyCode::Click, 0, 3, 1}, kPressNs);
  EXPECT_NE(top.draw(kNowNs).to_text().find("[1 Processes]"),
            std::string::npos);
}

TEST(Top, ShowsNamesOfStrangersHarmlessly) {
  auto snapshot = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  snapshot->sample.processes[0].command_line = "evil\x1b[2J\n: x";
  snapshot->sample.processes[0].stat.comm = "evil";
  Top top({}, 80, 24);
  top.take(snapshot);
  EXPECT_EQ(top.draw(kNowNs).to_text().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tidemark::view::tui
