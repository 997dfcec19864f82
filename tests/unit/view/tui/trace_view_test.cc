#include "view/tui/trace_view.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "unit/analysis/traces.h"
#include "unit/view/tui/pressing.h"
#include "unit/view/tui/screens.h"
#include "unit/view/tui/top_example.h"
#include "view/tui/top.h"

namespace tidemark::view::tui {
namespace {

using analysis::Tracing;
using test::MadeLeaf;

// An import that writes files, by the code of a file system and the kernel's.
model::Trace import_trace(uint64_t second) {
  const uint64_t more = second * 388;
  model::Trace trace = test::made_trace({
      {{"entry", "vfs_write", "ext4_da_write_begin@ext4", "__filemap_get_folio",
        "filemap_alloc_folio"},
       41877,
       130'000 + more,
       133'376 + 600,
       100'000,
       "/import.scope"},
      {{"entry", "vfs_write", "ext4_da_write_begin@ext4", "__filemap_get_folio",
        "filemap_add_folio"},
       41898,
       23'296,
       23'296,
       20'000,
       "/import.scope"},
      {{"entry", "vfs_read", "ext4_readahead@ext4", "page_cache_ra_order"},
       41877,
       47'616,
       51'200,
       51'200,
       "/import.scope"},
      {{"fault", "handle_mm_fault", "do_anonymous_page"},
       41877,
       92'672,
       98'304,
       92'672,
       "/import.scope"},
      {{"fault", "handle_mm_fault", "do_wp_page"},
       2217,
       23'296,
       24'089,
       24'000,
       "/user.slice"},
      {{"irq", "receive_buf@virtio_net", "page_frag"},
       901,
       36'352,
       36'352,
       36'352,
       "/system.slice"},
      {{"entry", "gone"}, 77, 0, 10'000, 10'000, "/user.slice"},
  });
  trace.elapsed_ns = (second + 1) * kSecondNs;
  trace.faults.untracked_freed = 3118;
  trace.tasks[0].name = "osm2pgsql";
  trace.tasks[0].command_line = "/usr/bin/osm2pgsql -d osm";
  trace.tasks[1].name = "postgres";
  trace.tasks[1].command_line = "postgres: checkpointer";
  for (model::TraceLeaf& leaf : trace.leaves) {
    leaf.allocation_count = leaf.peak_pages * 3;
    leaf.held_ns = 540 * kSecondNs;
    leaf.lows = {leaf.pages / 2, leaf.pages};
  }
  trace.low_stretch_ns = kSecondNs;
  return trace;
}

std::shared_ptr<const analysis::TopTrace> import_top_trace(uint64_t seconds) {
  analysis::TraceHistoryKeeper keeper;
  std::shared_ptr<const analysis::TraceHistory> history;
  for (uint64_t second = 0; second <= seconds; ++second)
    history = keeper.add(import_trace(second));
  auto before = std::make_shared<model::TraceBefore>(
      model::unknown_before("not asked for"));
  before->modules = model::known(std::vector<model::KernelModule>{
      {"ext4", 1'126'400, {}}, {"nvidia", 43'200'000, {}}});
  return analysis::make_top_trace(
      std::make_shared<const model::Trace>(import_trace(seconds)), history,
      before);
}

std::shared_ptr<analysis::TopSnapshot> import_snapshot(uint64_t seconds) {
  auto snapshot = std::make_shared<analysis::TopSnapshot>();
  snapshot->target = "import-europe.sh";
  snapshot->period_ns = kSecondNs;
  // 2026-11-15T10:31:08Z.
  snapshot->sample.started_realtime_ns = 1'794'738'668 * kSecondNs;
  snapshot->sample.started_monotonic_ns = kNowNs;
  snapshot->own_cpu_millionths = 42'000;
  snapshot->own_bytes = 26 * kMb;
  snapshot->tracing = Tracing::On;
  snapshot->trace = import_top_trace(seconds);
  return snapshot;
}

Top trace_top(int columns, int rows, const Look& look = {}) {
  Top top(look, columns, rows, {U'4', true});
  top.take(import_snapshot(40));
  return top;
}

void find(Top& top, std::u32string_view text) {
  answer(top, U'/', text);
}
bool has(const Top& top, std::string_view words) {
  return text_of(top).find(words) != std::string::npos;
}

class TraceSize : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  // Local time is in the first row.
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  std::string name(const std::string& view) const {
    return view + "_" + std::to_string(GetParam().first);
  }
  Top top() const { return trace_top(GetParam().first, GetParam().second); }
};
INSTANTIATE_TEST_SUITE_P(Widths, TraceSize,
                         testing::Values(std::pair(60, 24), std::pair(80, 24),
                                         std::pair(132, 40)));

TEST_P(TraceSize, DrawsModules) {
  Top shown = top();
  press(shown, U' ');
  find(shown, U"write_begin");
  press(shown, KeyCode::Right);
  expect_screen(shown.draw(kNowNs), name("trace_modules"));
}

TEST_P(TraceSize, DrawsTasksAtThePeak) {
  Top shown = top();
  press(shown, U'm');
  press(shown, U'v');
  press(shown, U' ');
  expect_screen(shown.draw(kNowNs), name("trace_tasks"));
}

TEST_P(TraceSize, DrawsInAscii) {
  Look look;
  look.glyphs = GlyphSet::Ascii;
  Top shown = trace_top(GetParam().first, GetParam().second, look);
  press(shown, U' ');
  for (char c : text_of(shown))
    ASSERT_TRUE((c >= ' ' && c <= '~') || c == '\n');
}

TEST(TraceView, DrawsAtEverySize) {
  for (const auto& [columns, rows] :
       {std::pair(1, 1), std::pair(40, 10), std::pair(59, 13),
        std::pair(79, 19), std::pair(131, 40), std::pair(300, 100)}) {
    const Canvas canvas = trace_top(columns, rows).draw(kNowNs);
    EXPECT_EQ(canvas.columns(), columns);
    EXPECT_EQ(canvas.rows(), rows);
  }
}

TEST(TraceView, SwitchesFromModulesToTasksToControlGroups) {
  Top top = trace_top(80, 24);
  EXPECT_TRUE(has(top, "MODULE AND STACK"));
  EXPECT_TRUE(has(top, "kernel itself"));
  press(top, U'm');
  EXPECT_TRUE(has(top, "TASK AND STACK"));
  EXPECT_TRUE(has(top, "41877 osm2pgsql -d osm")) << text_of(top);
  press(top, U'm');
  EXPECT_TRUE(has(top, "CONTROL GROUP AND STACK"));
  EXPECT_TRUE(has(top, "/import.scope"));
  press(top, U'm');
  EXPECT_TRUE(has(top, "MODULE AND STACK"));
}

TEST(TraceView, IsFilteredByTaskHoweverItIsGrouped) {
  Top top = trace_top(80, 24);
  EXPECT_TRUE(has(top, "kernel itself")) << text_of(top);
  EXPECT_TRUE(has(top, "216,432")) << text_of(top);
  answer(top, U'F', U"postgres");
  EXPECT_TRUE(has(top, "filter postgres"));
  EXPECT_TRUE(has(top, "held 91.0M of 1.41G")) << text_of(top);
  EXPECT_TRUE(has(top, "23,296")) << "what it holds of ext4\n" << text_of(top);
  EXPECT_FALSE(has(top, "kernel itself")) << "it has none\n" << text_of(top);
  press(top, U'm');
  EXPECT_TRUE(has(top, "postgres")) << text_of(top);
  EXPECT_FALSE(has(top, "osm2pgsql")) << text_of(top);
  press(top, U'm');
  EXPECT_TRUE(has(top, "/import.scope")) << text_of(top);
  EXPECT_FALSE(has(top, "/system.slice")) << text_of(top);
  answer(top, U'F', U"group~system");
  EXPECT_TRUE(has(top, "/system.slice")) << "tasks have groups of their own";
  EXPECT_FALSE(has(top, "/import.scope")) << text_of(top);
  answer(top, U'F', U"nobody-is-called-so");
  EXPECT_TRUE(has(top, "held 0 of 1.41G")) << text_of(top);
  EXPECT_TRUE(has(top, "tasks that the filter means")) << text_of(top);
  answer(top, U'F', U"");
  EXPECT_FALSE(has(top, " of 1.41G"));
}

TEST(TraceView, LeavesOutWhatHoldsNothing) {
  Top top = trace_top(80, 24);
  press(top, U'm');
  EXPECT_FALSE(has(top, "77 task 77"));
  press(top, U'v');
  EXPECT_TRUE(has(top, "77 task 77")) << "at the peak it held something";
}

TEST(TraceView, MeasuresTheMachinesPeakAndGrowth) {
  Top top = trace_top(80, 24);
  press(top, U'v');
  EXPECT_TRUE(has(top, "AT PEAK"));
  EXPECT_TRUE(has(top, "171,200")) << text_of(top);
  press(top, U'v');
  EXPECT_TRUE(has(top, "GROWN"));
}

TEST(TraceView, SpaceOpensAndClosesWhatIsChosen) {
  Top top = trace_top(80, 24);
  EXPECT_FALSE(has(top, "ext4_readahead"));
  press(top, U' ');
  EXPECT_TRUE(has(top, "ext4_readahead"));
  press(top, U' ');
  EXPECT_FALSE(has(top, "ext4_readahead"));
}

TEST(TraceView, OpensAlongTheOnlyWay) {
  Top top = trace_top(80, 24);
  press(top, U' ');
  find(top, U"write_begin");
  press(top, KeyCode::Right);
  EXPECT_TRUE(has(top, "filemap_add_folio")) << text_of(top);
  press(top, KeyCode::Left);
  EXPECT_FALSE(has(top, "filemap_add_folio"));
  press(top, KeyCode::Left);
  EXPECT_NE(chosen_line(top).find(" ext4 "), std::string::npos)
      << "again: to the parent";
}

TEST(TraceView, FindsCodeInStacksThatAreClosed) {
  Top top = trace_top(80, 24);
  find(top, U"WP_page");
  EXPECT_NE(chosen_line(top).find("do_wp_page"), std::string::npos)
      << text_of(top);
  find(top, U"no such code");
  EXPECT_TRUE(has(top, "'no such code' is in no stack"));
}

TEST(TraceView, SaysNoLongerThatWhatItFoundIsNotThere) {
  Top top = trace_top(80, 24);
  answer(top, U'/', U"filemap_add");
  EXPECT_NE(chosen_line(top).find("filemap_add"), std::string::npos)
      << text_of(top);
  EXPECT_FALSE(has(top, "is in no row")) << text_of(top);
}

TEST(TraceView, KeepsTheChosenRowWhenTheOrderChanges) {
  Top top = trace_top(80, 24);
  find(top, U"virtio");
  for (int i = 0; i < 4; ++i) {
    press(top, U's');
    EXPECT_NE(chosen_line(top).find("virtio_net"), std::string::npos) << i;
  }
  top.take(import_snapshot(41));
  EXPECT_NE(chosen_line(top).find("virtio_net"), std::string::npos);
}

TEST(TraceView, SortsByAClickOnAHead) {
  Top top = trace_top(80, 24);
  const auto click = [&](int column) {
    top.press({KeyCode::Click, 0, column, 4}, kNowNs);
  };
  click(3);
  EXPECT_TRUE(has(top, "sorted by name")) << text_of(top);
  click(76);
  EXPECT_TRUE(has(top, "sorted by pages/s")) << text_of(top);
  click(60);
  EXPECT_TRUE(has(top, "sorted by peak")) << text_of(top);
  click(50);
  EXPECT_TRUE(has(top, "sorted by pages")) << text_of(top);
}

TEST(TraceView, TellsTheRateSinceTheReadingBefore) {
  Top top = trace_top(80, 24);
  EXPECT_NE(chosen_line(top).find("+388"), std::string::npos)
      << chosen_line(top);
}

TEST(TraceView, PausesTheDisplay) {
  Top top = trace_top(80, 24);
  press(top, U'p');
  EXPECT_TRUE(has(top, "frozen"));
  const std::string before = chosen_line(top);
  top.take(import_snapshot(60));
  EXPECT_EQ(chosen_line(top), before);
  press(top, U'p');
  EXPECT_NE(chosen_line(top), before);
}

TEST(TraceView, KeysBecomeWishes) {
  Top top = trace_top(80, 24);
  EXPECT_EQ(press(top, U't').wish, Wish::Trace);
  EXPECT_EQ(press(top, U'r').wish, Wish::NameCode);
  EXPECT_EQ(press(top, U'w').wish, Wish::WriteReport);
  EXPECT_EQ(press(top, U'q').wish, Wish::Quit);
  EXPECT_EQ(press(top, U'Q').wish, Wish::Quit);
}

TEST(TraceView, SaysWhatIsLost) {
  auto snapshot = import_snapshot(1);
  model::Trace trace = *snapshot->trace->trace;
  trace.faults.lost_events = 12'345;
  trace.backend = model::TraceBackend::Perf;
  snapshot->trace =
      analysis::make_top_trace(std::make_shared<const model::Trace>(trace),
                               snapshot->trace->history, nullptr);
  Top top({}, 80, 24, {U'4', true});
  top.take(snapshot);
  EXPECT_TRUE(has(top, "lost 12,345"));
  EXPECT_TRUE(has(top, "untracked frees 3,118"));
  EXPECT_TRUE(has(top, "perf, not exact"));
}

TEST(TraceView, OfNotesOnPagesOnlyNowIsKnown) {
  auto snapshot = import_snapshot(1);
  model::Trace trace = *snapshot->trace->trace;
  trace.backend = model::TraceBackend::PageOwner;
  trace.has_peaks = false;
  snapshot->tracing = Tracing::Still;
  snapshot->trace = analysis::make_top_trace(
      std::make_shared<const model::Trace>(trace),
      std::make_shared<const analysis::TraceHistory>(), nullptr);
  Top top({}, 80, 24, {U'4', true});
  top.take(snapshot);
  EXPECT_NE(chosen_line(top).find("?"), std::string::npos) << chosen_line(top);
  press(top, U'v');
  EXPECT_TRUE(has(top, "only what is held now is known"));
  EXPECT_EQ(press(top, U't').wish, Wish::None);
  EXPECT_TRUE(has(top, "read from a file"));
  EXPECT_FALSE(has(top, "live")) << text_of(top);
}

TEST(TraceView, SaysThatNothingIsTraced) {
  auto snapshot = import_snapshot(1);
  snapshot->trace = nullptr;
  snapshot->tracing = Tracing::None;
  Top top({}, 80, 24, {U'4', true});
  top.take(snapshot);
  EXPECT_TRUE(has(top, "nothing is traced"));
  for (char32_t letter : std::u32string_view(U" mvsSnN/"))
    press(top, letter);
  EXPECT_EQ(press(top, KeyCode::Escape).wish, Wish::None);
  EXPECT_EQ(press(top, U't').wish, Wish::Trace);
}

TEST(TraceView, ShowsNamesOfStrangersHarmlessly) {
  auto snapshot = import_snapshot(1);
  model::Trace trace = *snapshot->trace->trace;
  trace.tasks[0].name = "evil\x1b[2J";
  trace.tasks[0].command_line = "evil\x1b[2J\n: x";
  snapshot->trace =
      analysis::make_top_trace(std::make_shared<const model::Trace>(trace),
                               snapshot->trace->history, nullptr);
  for (int columns : {80, 132}) {
    Top top({}, columns, 40, {U'4', true});
    top.take(snapshot);
    press(top, U'm');
    EXPECT_EQ(text_of(top).find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace tidemark::view::tui
