// Addresses, and the names of what lies there, as maps and kmap print them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::view {

// 16 hex digits; below 4 GiB the upper eight are drawn as a line, so that the
// eye finds the small addresses.
std::string address_text(uint64_t value);

// Quotes stand around names, so those inside are escaped. The name is printable
// already.
std::string quoted(std::string_view printable);

}  // namespace tidemark::view
