// The first view: who has the memory, as a tree.
#pragma once

#include <memory>
#include <string>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_processes_view();

}  // namespace tidemark::view::tui
