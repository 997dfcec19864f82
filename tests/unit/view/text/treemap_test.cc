#include "view/text/treemap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/escape.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using analysis::Treemap;
using analysis::TreemapKind;
using analysis::TreemapNode;

TreemapNode node(TreemapKind kind, std::string name, uint64_t bytes) {
  TreemapNode made;
  made.kind = kind;
  made.name = std::move(name);
  made.bytes = bytes;
  return made;
}

Treemap example() {
  Treemap map;
  map.timestamp = "2026-11-15T08:09:03Z";
  map.root = node(TreemapKind::Kernel, "physmem", 1000);
  TreemapNode process = node(TreemapKind::Process, "server", 600);
  process.pid = 42;
  process.children = {node(TreemapKind::Object, "/usr/lib/libc.so.6", 400),
                      node(TreemapKind::Object, "[heap]", 200)};
  process.children[0].count = 3;
  map.root.children = {process, node(TreemapKind::Kernel, "free", 400)};
  return map;
}

TEST(TreemapText, DrawsFramesInFramesAndATable) {
  TextStyle style;
  style.width = 50;
  TreemapTextOptions options;
  options.rows = 6;
  EXPECT_EQ(treemap_text(example(), options, style),
            "┌ physmem 0.98K ─────────────────────────────────┐\n"
            "├ server 600B ───────────────┬ free 400B ────────┤\n"
            "├ libc.so.6 ×3 ────┬ [heap] ─┤                   │\n"
            "│                  │         │                   │\n"
            "│                  │         │                   │\n"
            "└──────────────────┴─────────┴───────────────────┘\n"
            "\n"
            "#    SIZE     %  KIND     NAME\n"
            "1   0.98K   100  kernel   physmem\n"
            "2    600B    60  process    server [42]\n"
            "3    400B    40  object       /usr/lib/libc.so.6 …\n"
            "4    200B    20  object       [heap]\n"
            "5    400B    40  kernel     free\n"
            "sum: 0.98 KiB in physmem, processes by their\n"
            "  share; 2026-11-15T08:09:03Z\n");
}

TEST(TreemapText, AsciiWhereTheTerminalHasNoMore) {
  TextStyle style;
  style.width = 50;
  style.utf8 = false;
  TreemapTextOptions options;
  options.rows = 6;
  const std::string text = treemap_text(example(), options, style);
  for (char c : text)
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << text;
  EXPECT_TRUE(text.starts_with("+ physmem 0.98K ---")) << text;
  EXPECT_NE(text.find("+ libc.so.6 x3 -"), std::string::npos) << text;
}

TEST(TreemapText, EveryRowOfThePictureIsAsWideAsTheScreen) {
  Treemap map = example();
  map.root.children[0].name = "漢字\x1b[31m\u202e";
  for (size_t width : {40U, 61U, 80U, 132U}) {
    TextStyle style;
    style.width = width;
    TreemapTextOptions options;
    options.rows = 9;
    const std::vector<std::string> lines =
        lines_of(treemap_text(map, options, style));
    for (size_t i = 0; i < options.rows; ++i)
      EXPECT_EQ(base::display_width(lines[i]), width) << lines[i];
    EXPECT_TRUE(is_harmless(treemap_text(map, options, style)));
  }
}

TEST(TreemapText, ANameThatDoesNotFitIsTheNumberOfItsLine) {
  Treemap map = example();
  map.root.children[1].name = "a very long name that fits nowhere at all";
  TextStyle style;
  style.width = 50;
  TreemapTextOptions options;
  options.rows = 6;
  const std::string text = treemap_text(map, options, style);
  EXPECT_NE(text.find("┬ #5 400B ─"), std::string::npos) << text;
  EXPECT_NE(text.find("\n5  "), std::string::npos) << text;
}

TEST(TreemapText, SaysWhoCouldNotBeRead) {
  Treemap map = example();
  map.unknown_process_count = 2;
  map.notes = {"a note\nof two lines"};
  const std::string text = treemap_text(map, {}, TextStyle{});
  EXPECT_NE(text.find("2 processes could not be read"), std::string::npos);
  EXPECT_NE(text.find("a note\\nof two lines"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::view
