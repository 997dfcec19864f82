// How many files this process may have open.
#pragma once

#include <cstddef>

namespace tidemark::source {

// Room for so many more, as far as rights go. For this process and what it
// starts from here on.
void allow_descriptors(size_t more);

}  // namespace tidemark::source
