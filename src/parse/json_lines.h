// Hands a text to the JSON library and counts the lines it has taken, so that
// an error can name one: the library tells its place by exceptions alone.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::parse {

class CountingIterator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): as iterator_traits has them
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  CountingIterator(const char* at, size_t* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const {
    return at_ == other.at_;
  }
  bool operator!=(const CountingIterator& other) const {
    return at_ != other.at_;
  }

 private:
  const char* at_;
  size_t* line_;
};

// Hands `text` to a taker of the library's events, which knows `line` and keeps
// the `error` that it stopped for. `what` is what the text should be. `Json` is
// the library's class: only who parses with it includes it.
template <typename Json, typename Taker>
base::Status take_json(std::string_view text, const std::string& what,
                       size_t& line, Taker& taker) {
  line = 1;
  const char* end = text.data() + text.size();
  const bool is_whole = Json::sax_parse(CountingIterator(text.data(), &line),
                                        CountingIterator(end, &line), &taker);
  if (taker.error) return *taker.error;
  if (is_whole) return base::Ok{};
  return base::fail(base::ErrorKind::Malformed, what + ": this is no JSON");
}

}  // namespace tidemark::parse
