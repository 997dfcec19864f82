#include "view/tui/machine_pictures.h"

#include <gtest/gtest.h>

#include "unit/view/tui/top_example.h"

namespace tidemark::view::tui {
namespace {

std::string residue(const analysis::TopSnapshot& snapshot, int columns) {
  Canvas canvas(columns, 1);
  draw_residue(canvas, {&snapshot, {}, 1, nullptr}, Census(),
               {0, 0, columns, 1});
  return canvas.to_text();
}

TEST(MachinePictures, SayWhetherWhatNobodyExplainsGrows) {
  analysis::TopSnapshot snapshot = *example_snapshot();
  EXPECT_NE(residue(snapshot, 80).find("unnamed 25.0M, 0.1 % of RAM, steady"),
            std::string::npos)
      << residue(snapshot, 80);
  snapshot.machine->kinds[static_cast<size_t>(model::Category::Unnamed)] =
      static_cast<int64_t>(1049 * kMb);
  EXPECT_NE(residue(snapshot, 80).find("+1.00G in 10 min"), std::string::npos)
      << residue(snapshot, 80);
  auto short_history = std::make_shared<analysis::TopHistory>();
  short_history->times_ns = {kNowNs};
  short_history->machine = {snapshot.machine};
  snapshot.history = short_history;
  EXPECT_NE(residue(snapshot, 80).find("(trend ?)"), std::string::npos)
      << "of one moment nothing is steady";
  snapshot.history.reset();
  EXPECT_NE(residue(snapshot, 80).find("(trend ?)"), std::string::npos);
}

TEST(MachinePictures, CutNoNumberOfStalls) {
  const auto snapshot = example_snapshot();
  for (int columns : {21, 51}) {
    Canvas canvas(columns, 6);
    draw_stalls(canvas, {snapshot.get(), {}, 1, nullptr}, {0, 0, columns, 6});
    EXPECT_NE(canvas.to_text().find("some 0.1 %"), std::string::npos)
        << canvas.to_text();
    EXPECT_NE(canvas.to_text().find("full 0.0 %"), std::string::npos)
        << canvas.to_text();
  }
}

TEST(MachinePictures, GrowOnlyWhomAFilterMeans) {
  const auto snapshot = example_snapshot();
  base::Result<ProcessChoice> choice = ProcessChoice::make("firefox");
  ASSERT_TRUE(choice);
  choice->look_at(*snapshot);
  Canvas canvas(40, 6);
  draw_growing(canvas, {snapshot.get(), {}, 1, &*choice}, {0, 0, 40, 6});
  const std::string text = canvas.to_text();
  EXPECT_NE(text.find("firefox"), std::string::npos) << text;
  EXPECT_EQ(text.find("osm2pgsql"), std::string::npos) << text;
}

}  // namespace
}  // namespace tidemark::view::tui
