// Virtual machines: what each costs its host, and of what.
#pragma once

#include <memory>

#include "view/tui/view.h"

namespace tidemark::view::tui {

std::unique_ptr<View> make_vms_view();

}  // namespace tidemark::view::tui
