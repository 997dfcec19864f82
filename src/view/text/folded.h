// Folded stacks, as flame graph tools read them.
#pragma once

#include <string>

#include "model/sample.h"

namespace tidemark::view {

// "process (pid);category;object bytes", one line for each object of each
// process that has PSS. A semicolon parts the frames, so one in a name is
// written as \x3b.
std::string folded_stacks(const model::Sample& sample);

}  // namespace tidemark::view
