// The keys of a view, over it.
#pragma once

#include <string_view>
#include <vector>

#include "view/tui/canvas.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

// What is below is dimmed, not cleared.
void draw_help(Canvas& canvas, std::string_view view_name,
               const std::vector<HelpSection>& sections);

}  // namespace tidemark::view::tui
