// The keys of a view, over it.
#pragma once

#include <string_view>
#include <vector>

#include "view/tui/canvas.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

// What is below is dimmed, not cleared.
void draw_help(Canvas& canvas, std::string_view view_name,
               const std::vector<HelpSection>& sections, int first);

// How many lines there are, and how many a screen of so many rows has room for.
int help_lines(const std::vector<HelpSection>& sections);
int help_room(int rows);

}  // namespace tidemark::view::tui
