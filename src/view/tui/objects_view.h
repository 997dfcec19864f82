// Memory by what has it: shared and hidden objects with who holds them.
#pragma once

#include <memory>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_objects_view();

}  // namespace tidemark::view::tui
