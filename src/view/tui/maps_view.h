// The address space of one process, by size: what `maps` prints, to move in.
#pragma once

#include <memory>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_maps_view();

}  // namespace tidemark::view::tui
