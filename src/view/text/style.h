// How plain text looks: colour, glyphs, width and units, decided once by the
// command line and handed to every renderer. Renderers are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "model/reading.h"

namespace tidemark::analysis {
struct Bytes;
}

namespace tidemark::view {

struct TextStyle {
  bool color = false;
  bool utf8 = true;
  size_t width = 80;  // columns; lines are cut to it unless wide
  bool wide = false;  // names are never cut
  base::SizeUnit unit = base::SizeUnit::Auto;
};

enum class Ink { Plain, Bold, Dim, Warn };

// `text` in that ink, or as it is without colour. Width is counted before.
std::string paint(const TextStyle& style, Ink ink, std::string_view text);

std::string_view ellipsis(const TextStyle& style);

// Lines of a paragraph behind `indent` blanks, those after the first behind two
// more. Broken at blanks where the screen ends; a longer word stays whole,
// because half a path is no path.
std::string wrapped(const TextStyle& style, Ink ink, size_t indent,
                    std::string_view text);

// A cell of a dense table: "6.11G", "?" when unknown, "≥6.11G" for a sum over
// an unknown.
std::string dense(const TextStyle& style, const model::Amount& amount);
std::string dense(const TextStyle& style, std::optional<uint64_t> bytes);
std::string dense_signed(const TextStyle& style, std::optional<int64_t> bytes);

// In a report: "6.11 GiB", "?", "≥ 6.11 GiB".
std::string spelled(const TextStyle& style, const model::Amount& amount);
std::string spelled(const TextStyle& style, uint64_t bytes);

// What stands before a number that was not read in full: "≥" where a part is
// missing, "≤" where a part is only bounded, "~" where one is estimated.
struct BestMark {
  bool lacks_part = false;
  bool has_bound = false;
  bool has_estimate = false;
};
std::string_view mark_of(const TextStyle& style, const BestMark& best);
std::string spelled(const TextStyle& style, uint64_t bytes,
                    const BestMark& best);
// The best value: "12.3 MiB", "~12.3 MiB", "≤ 12.3 MiB".
std::string pss_text(const TextStyle& style, const analysis::Bytes& bytes);
std::string spelled_signed(const TextStyle& style, int64_t bytes);

}  // namespace tidemark::view
