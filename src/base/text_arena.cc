#include "base/text_arena.h"

#include <algorithm>
#include <cstring>

namespace tidemark::base {

std::string_view TextArena::keep(std::string_view text) {
  constexpr size_t kBlockBytes = size_t{64} << 10;
  if (text.empty()) return {};
  if (text.size() > left_) {
    left_ = std::max(kBlockBytes, text.size());
    // Not zeroed: what is not used is never touched.
    blocks_.emplace_back(new char[left_]);  // NOLINT(*-owning-memory)
    next_ = blocks_.back().get();
  }
  char* kept = next_;
  std::memcpy(kept, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return {kept, text.size()};
}

}  // namespace tidemark::base
