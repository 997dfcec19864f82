// Feeds a parser every beginning of a text. Each must be read or refused with
// a sentence that names the file; a sanitizer sees reads beyond the end.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::test {

inline void expect_survives_truncation(std::string_view text,
                                       std::string_view file, auto parse) {
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string cut(text.substr(0, length));
    const auto result = parse(std::string_view(cut));
    if (result) continue;
    EXPECT_EQ(result.error().kind, base::ErrorKind::Malformed);
    EXPECT_TRUE(
        result.error().what.starts_with(std::string(file) + ": cannot read '"))
        << result.error().what;
  }
}

}  // namespace tidemark::test
