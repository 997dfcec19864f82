// Names from the system (comm, command lines, paths, cgroups) are bytes from a
// stranger. These make them safe to show: nothing in the result moves a cursor,
// changes a colour, reverses the reading direction or breaks a line.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::base {

// For terminals and plain text: control characters, DEL, C1, line separators,
// direction marks, invisible characters and invalid UTF-8 become `\n`, `\x1b`,
// `\u202e`. A backslash stays a backslash.
std::string visible(std::string_view bytes);

// Valid UTF-8 for formats that demand it: each invalid byte becomes the four
// characters `\xNN`; everything valid stays as it is, control characters too.
std::string valid_utf8(std::string_view bytes);

// One CSV field after RFC 4180, made of visible() text, so that a record is
// always one line.
std::string csv_field(std::string_view bytes);

// Columns a terminal uses for visible() text. Wide East Asian characters count
// two, combining marks none; good enough to align a table.
size_t display_width(std::string_view utf8);

// One character of visible() text and the columns a terminal uses for it.
struct Character {
  char32_t code_point = 0;
  size_t width = 1;
};
// Takes it off the front of `utf8`, which must not be empty. A byte that is no
// UTF-8 is U+FFFD.
Character take_character(std::string_view& utf8);

void append_utf8(std::string& out, char32_t code_point);

// At most `columns` wide; what is cut ends in `ellipsis` if that fits itself.
std::string fit_width(std::string_view utf8, size_t columns,
                      std::string_view ellipsis);

}  // namespace tidemark::base
