// A regular expression (ECMAScript) for names. Patterns come from files people
// wrote and names from strangers, so the time one match takes must be bounded:
// the matcher walks all alternatives side by side instead of trying one after
// the other, and looks at the head of a very long name only.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::base {

class Pattern {
 public:
  // Nested repeats make an automaton out of every copy; a thousand bytes
  // suffice for what people write.
  static constexpr size_t kMostBytes = 1000;
  static constexpr size_t kMostNameBytes = 512;

  // Matches everything.
  Pattern() = default;
  // An empty text matches everything. Malformed, with a sentence on what is
  // wrong, for one that is no regular expression, is too long, or needs
  // back-references, which have no bound.
  static Result<Pattern> compile(std::string_view text);

  // The whole name must match.
  bool matches(std::string_view name) const;
  bool matches_all() const { return !expression_.has_value(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::optional<std::regex> expression_;
};

}  // namespace tidemark::base
