// Folded stacks, as flame graph tools read them.
#pragma once

#include <string>
#include <string_view>

#include "model/sample.h"

namespace tidemark::view {

// A name as one frame: visible, and without what parts frames.
std::string folded_frame(std::string_view name);

// "process (pid);category;object bytes", one line for each object of each
// process that has PSS. A semicolon parts the frames, so one in a name is
// written as \x3b.
std::string folded_stacks(const model::Sample& sample);

}  // namespace tidemark::view
