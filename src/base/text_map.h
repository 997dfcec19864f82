// A hash map by text that is asked with views: looking up what is there copies
// nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tidemark::base {

struct TextHash {
  using is_transparent = void;  // NOLINT: the name the library looks for
  size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

template <typename Value>
using TextMap =
    std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace tidemark::base
