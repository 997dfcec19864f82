// Page allocations as they are followed: who holds them, through which code.
#pragma once

#include <memory>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_trace_view();

}  // namespace tidemark::view::tui
