// What a text has in it.
#pragma once

#include <string_view>

namespace tidemark::test {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace tidemark::test
