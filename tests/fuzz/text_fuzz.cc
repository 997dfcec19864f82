// Names and numbers as strangers write them: what is shown is harmless and has
// the width it says, what is parsed is in range.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

namespace {

namespace base = tidemark::base;

void check(bool is_true) {
  if (!is_true) std::abort();
}

bool is_control(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 || byte == 0x7f;
}

void check_no_control(std::string_view text) {
  for (char c : text)
    check(!is_control(c));
}

void check_escapes(const std::string& text, size_t columns) {
  const std::string shown = base::visible(text);
  check_no_control(shown);
  check(base::visible(shown) == shown);
  check(base::valid_utf8(shown) == shown);
  check_no_control(base::csv_field(text));
  for (const char* ellipsis : {"", "…", "..."}) {
    check(base::display_width(base::fit_width(shown, columns, ellipsis)) <=
          columns);
  }
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.string(text);
  const std::string written = json.take();
  check_no_control(std::string_view(written).substr(0, written.size() - 1));
}

void check_units(std::string_view text) {
  base::Result<uint64_t> ns = base::parse_duration(text);
  check(!ns || *ns >= 1);
  base::Result<uint64_t> bytes = base::parse_size(text);
  if (bytes) {
    check(base::short_size(*bytes).size() <= 5);
    (void)base::long_size(*bytes);
  }
  (void)base::parse_size_unit(text);
  std::optional<uint64_t> number = base::parse_u64(text);
  if (number)
    check(base::parse_kib(std::string(text) + " kB").has_value() ==
          (*number <= UINT64_MAX / 1024));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  check_escapes(text, data[0] % 100);
  check_units(text);
  return 0;
}
