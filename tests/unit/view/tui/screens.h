// Screens as they were looked at and kept.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "unit/fixture.h"
#include "view/tui/canvas.h"

namespace tidemark::view::tui {

// Compared with tests/fixtures/tui/NAME.txt. With TIDEMARK_UPDATE_TUI set the
// file is written instead, to be read before it is kept.
inline void expect_screen(const Canvas& canvas, const std::string& name) {
  const std::string path = test::fixture_path("tui/" + name + ".txt");
  if (std::getenv("TIDEMARK_UPDATE_TUI") != nullptr) {
    std::ofstream(path) << canvas.to_text();
    return;
  }
  std::ostringstream wanted;
  wanted << std::ifstream(path).rdbuf();
  EXPECT_EQ(canvas.to_text(), wanted.str()) << path;
}

}  // namespace tidemark::view::tui
