// Hands a text to the JSON library and counts the lines it has taken, so that
// an error can name one: the library tells its place by exceptions alone.
#pragma once

#include <cstddef>
#include <iterator>

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

}  // namespace tidemark::parse
