// smaps, maps and smaps_rollup. The parser has a short cut for blocks that look
// like the one before; whatever it is fed, the short cut must not be visible:
// read whole, in pieces, or each block by a parser that has seen none, the
// mappings are the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parse/smaps.h"

namespace {

using tidemark::model::Mapping;
using tidemark::parse::SmapsParser;

struct Outcome {
  std::vector<Mapping> mappings;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

void check(bool is_true) {
  if (!is_true) std::abort();
}

Outcome read_whole(std::string_view text) {
  Outcome outcome;
  SmapsParser parser;
  tidemark::base::Result<size_t> taken = parser.parse(
      text, true, [&](const Mapping& m) { outcome.mappings.push_back(m); });
  if (!taken) outcome.error = taken.error().what;
  return outcome;
}

Outcome read_in_pieces(std::string_view text, size_t step) {
  Outcome outcome;
  SmapsParser parser;
  std::string kept;
  while (true) {
    const std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    kept += piece;
    tidemark::base::Result<size_t> taken =
        parser.parse(kept, piece.empty(),
                     [&](const Mapping& m) { outcome.mappings.push_back(m); });
    if (!taken) outcome.error = taken.error().what;
    if (!taken || piece.empty()) return outcome;
    check(*taken <= kept.size());
    kept.erase(0, *taken);
  }
}

bool begins_a_block(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Every block by a new parser, which has no short cut yet.
Outcome read_by_block(std::string_view text) {
  Outcome outcome;
  while (!text.empty() && outcome.error.empty()) {
    size_t end = text.find('\n');
    while (end != std::string_view::npos && end + 1 < text.size() &&
           !begins_a_block(text[end + 1])) {
      end = text.find('\n', end + 1);
    }
    const std::string block(
        text.substr(0, end == std::string_view::npos ? text.size() : end + 1));
    text.remove_prefix(block.size());
    Outcome one = read_whole(block);
    outcome.error = one.error;
    for (Mapping& mapping : one.mappings) {
      outcome.mappings.push_back(std::move(mapping));
    }
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t step = size_t{data[0]} * 5 + 1;
  // A copy, so that the sanitizer knows where the text ends.
  const std::string text(data + 1, data + size);
  const Outcome whole = read_whole(text);
  check(read_by_block(text) == whole);
  check(read_in_pieces(text, step) == whole);
  (void)tidemark::parse::parse_maps(text);
  (void)tidemark::parse::parse_smaps_rollup(text);
  return 0;
}
