// How large a page of this machine is.
#pragma once

#include <cstdint>

namespace tidemark::base {

uint64_t page_bytes();

}  // namespace tidemark::base
