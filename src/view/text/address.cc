#include "view/text/address.h"

#include <fmt/format.h>

namespace tidemark::view {

std::string address_text(uint64_t value) {
  if (value <= UINT32_MAX) return fmt::format("________{:08x}", value);
  return fmt::format("{:016x}", value);
}

std::string quoted(std::string_view printable) {
  std::string out = "'";
  for (char c : printable) {
    if (c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

}  // namespace tidemark::view
