// The second view: every page of RAM by kind, its history, pressure, growers.
#pragma once

#include <memory>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_machine_view();

}  // namespace tidemark::view::tui
