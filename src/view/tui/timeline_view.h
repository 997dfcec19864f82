// The fifth view: kinds of memory over the time of a recording, with a cursor.
#pragma once

#include <memory>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_timeline_view();

}  // namespace tidemark::view::tui
