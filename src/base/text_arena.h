// Keeps many short texts that live and die together. A std::string of eighty
// characters costs 128 bytes; here it costs eighty.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace tidemark::base {

// Move-only: views of what it keeps stay good when it is moved, and could not
// when it is copied.
class TextArena {
 public:
  // The same text, which lasts as long as this object or what it is moved to.
  std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;  // free place in the last block
  size_t left_ = 0;
};

}  // namespace tidemark::base
