#include "parse/smaps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using model::Mapping;
using model::SmapsField;

constexpr size_t kLabelWidth = 16;
constexpr size_t kNumberWidth = 8;
constexpr std::string_view kKibTail = " kB\n";
constexpr size_t kKibLine = kLabelWidth + kNumberWidth + kKibTail.size();
constexpr size_t kFlagLine = kLabelWidth + kNumberWidth + 1;
constexpr std::string_view kVmFlagsLabel = "VmFlags: ";
constexpr std::string_view kThpLabel = "THPeligible";

uint64_t load_u64(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Eight characters: blanks, then digits. Anything else is left to the careful
// road. The arithmetic works on all eight at once (little endian: the first
// character is the lowest byte).
bool read_padded_number(const char* text, uint64_t& number) {
  static_assert(std::endian::native == std::endian::little,
                "the word-at-a-time road needs little endian");
  constexpr uint64_t kEach = 0x0101010101010101;
  uint64_t word = load_u64(text);
  const uint64_t offset = word ^ (kEach * '0');
  const uint64_t not_digit = (offset | (offset + kEach * 6)) & (kEach * 0xf0);
  if (not_digit != 0) {
    const int last = (63 - std::countl_zero(not_digit)) / 8;
    if (last == 7) return false;  // no digit at all
    const uint64_t mask = ~uint64_t{0} >> (8 * (7 - last));
    if ((word & mask) != ((kEach * ' ') & mask)) return false;
  }
  word &= kEach * 0x0f;  // a blank becomes zero
  word = word * 10 + (word >> 8);
  number = (((word & 0x000000ff000000ff) * 0x000f424000000064) +
            (((word >> 16) & 0x000000ff000000ff) * 0x0000271000000001)) >>
           32;
  return true;
}

int field_of_label(std::string_view label) {
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    if (model::kSmapsLabels[i].kernel_label == label)
      return static_cast<int>(i);
  }
  return -1;
}

// Bit index by the two letters, so that a VmFlags line costs one look-up per
// code.
constexpr size_t kLetterCount = 26;
using FlagTable = std::array<int8_t, kLetterCount * kLetterCount>;

constexpr size_t flag_slot(std::string_view code) {
  const auto letter = [&](size_t i) {
    return static_cast<size_t>(code[i]) - size_t{'a'};
  };
  return letter(0) * kLetterCount + letter(1);
}

constexpr FlagTable make_flag_table() {
  FlagTable table{};
  for (int8_t& bit : table)
    bit = -1;
  for (size_t i = 0; i < model::kVmFlagCount; ++i) {
    table[flag_slot(model::kVmFlagNames[i])] = static_cast<int8_t>(i);
  }
  return table;
}
constexpr FlagTable kFlagTable = make_flag_table();

uint64_t flag_of_code(std::string_view code) {
  const auto is_letter = [&](size_t i) {
    return code[i] >= 'a' && code[i] <= 'z';
  };
  if (code.size() != 2 || !is_letter(0) || !is_letter(1)) {
    return model::kVmFlagOther;
  }
  const int8_t bit = kFlagTable[flag_slot(code)];
  return bit < 0 ? model::kVmFlagOther : uint64_t{1} << bit;
}

uint64_t parse_vm_flags(std::string_view codes) {
  uint64_t flags = 0;
  // The kernel ends every code, also the last, with a blank: no need to search.
  size_t i = 0;
  for (; i + 3 <= codes.size() && codes[i] != ' ' && codes[i + 2] == ' ';
       i += 3) {
    flags |= flag_of_code({codes.data() + i, 2});
  }
  codes.remove_prefix(i);
  while (!codes.empty()) {
    const std::string_view code = base::take_until(codes, ' ');
    if (!code.empty()) flags |= flag_of_code(code);
  }
  return flags;
}

constexpr std::array<int8_t, 256> make_hex_table() {
  std::array<int8_t, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) {
    table[c] = -1;
    if (c >= '0' && c <= '9') table[c] = static_cast<int8_t>(c - '0');
    if (c >= 'a' && c <= 'f') table[c] = static_cast<int8_t>(c - 'a' + 10);
  }
  return table;
}
constexpr std::array<int8_t, 256> kHexTable = make_hex_table();

// Lower-case hexadecimal up to `stop`, by hand: four numbers a line, two
// thousand lines a sample.
std::optional<uint64_t> take_hex(std::string_view& text, char stop) {
  uint64_t number = 0;
  const char* at = text.data();
  const char* const end = at + std::min<size_t>(text.size(), 17);
  for (; at != end; ++at) {
    const int8_t digit = kHexTable[static_cast<unsigned char>(*at)];
    if (digit < 0) break;
    number = number << 4 | static_cast<uint8_t>(digit);
  }
  if (at == text.data() || at == end || *at != stop) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
  return number;
}

bool take_permissions(std::string_view& line, model::Permissions& p) {
  if (line.size() < 5 || line[4] != ' ') return false;
  const auto is = [&](size_t i, char set) {
    return line[i] == set || line[i] == '-';
  };
  if (!is(0, 'r') || !is(1, 'w') || !is(2, 'x')) return false;
  // Gate areas print 'p'; 's' is shared. 'S' and 'P' have never existed.
  if (line[3] != 'p' && line[3] != 's') return false;
  p = {line[0] == 'r', line[1] == 'w', line[2] == 'x', line[3] == 's'};
  line.remove_prefix(5);
  return true;
}

// Offset, device and inode as every mapping without a file has them.
constexpr std::string_view kNoObject = "00000000 00:00 0 ";

bool take_object(std::string_view& line, Mapping& mapping) {
  std::optional<uint64_t> offset = take_hex(line, ' ');
  std::optional<uint64_t> major = offset ? take_hex(line, ':') : std::nullopt;
  std::optional<uint64_t> minor = major ? take_hex(line, ' ') : std::nullopt;
  std::optional<uint64_t> inode =
      minor ? base::parse_u64(base::take_until(line, ' ')) : std::nullopt;
  constexpr uint64_t kMaxDevice = std::numeric_limits<uint32_t>::max();
  if (!inode || *major > kMaxDevice || *minor > kMaxDevice) return false;
  mapping.offset_bytes = *offset;
  mapping.device_major = static_cast<uint32_t>(*major);
  mapping.device_minor = static_cast<uint32_t>(*minor);
  mapping.inode_id = *inode;
  return true;
}

// The label in the first 16 columns, if it is followed by blanks alone. Empty
// otherwise: a number that begins there would be read without its first digits.
std::string_view padded_label(std::string_view line) {
  const std::string_view columns = line.substr(0, kLabelWidth);
  const size_t colon = columns.find(':');
  if (colon == std::string_view::npos ||
      columns.find_first_not_of(' ', colon + 1) != std::string_view::npos) {
    return {};
  }
  return columns.substr(0, colon);
}

// A mapping's head begins with a lower-case hex digit, a label with a capital.
bool is_head(std::string_view text) {
  return !text.empty() && ((text[0] >= '0' && text[0] <= '9') ||
                           (text[0] >= 'a' && text[0] <= 'f'));
}

// Where the body that starts at `from` ends: at the next head, or at the end
// of the text when it is complete. npos when more text is needed to tell.
size_t end_of_body(std::string_view text, size_t from, bool at_end) {
  while (from < text.size()) {
    if (is_head(text.substr(from, 1))) return from;
    const size_t newline = text.find('\n', from);
    if (newline == std::string_view::npos) break;
    from = newline + 1;
  }
  return at_end ? text.size() : std::string_view::npos;
}

base::Status read_label_line(std::string_view line, Mapping& mapping) {
  std::string_view value = line;
  const std::string_view label = base::take_until(value, ':');
  if (label == "VmFlags") {
    mapping.vm_flags = parse_vm_flags(value);
    return base::Ok{};
  }
  if (label == kThpLabel) {
    std::optional<uint64_t> flag = base::parse_u64(base::trim(value));
    if (!flag) return malformed("smaps", line);
    mapping.is_thp_eligible = *flag != 0;
    return base::Ok{};
  }
  const int field = field_of_label(label);
  if (field < 0) return base::Ok{};
  std::optional<uint64_t> bytes = base::parse_kib(value);
  if (!bytes) return malformed("smaps", line);
  mapping.fields.set(static_cast<SmapsField>(field), *bytes);
  return base::Ok{};
}

}  // namespace

base::Status parse_mapping_line(std::string_view line, Mapping& mapping) {
  std::string_view rest = line;
  std::optional<uint64_t> start = take_hex(rest, '-');
  std::optional<uint64_t> end = start ? take_hex(rest, ' ') : std::nullopt;
  if (!end || *end < *start || !take_permissions(rest, mapping.permissions)) {
    return malformed("smaps", line);
  }
  mapping.start_address = *start;
  mapping.end_address = *end;
  if (rest.starts_with(kNoObject)) {
    rest.remove_prefix(kNoObject.size());
    mapping.offset_bytes = 0;
    mapping.device_major = 0;
    mapping.device_minor = 0;
    mapping.inode_id = 0;
  } else if (!take_object(rest, mapping)) {
    return malformed("smaps", line);
  }
  const size_t name = rest.find_first_not_of(' ');
  mapping.name.assign(name == std::string_view::npos ? std::string_view()
                                                     : rest.substr(name));
  return base::Ok{};
}

// Empty for a shape we have no short cut for.
std::optional<SmapsParser::Line> SmapsParser::shape_of(std::string_view line) {
  const std::string_view label = padded_label(line);
  if (label.empty() || line.starts_with(kVmFlagsLabel)) return std::nullopt;
  if (line.size() + 1 == kKibLine && line.ends_with(" kB")) {
    return Line{kKibLine, static_cast<int8_t>(field_of_label(label))};
  }
  // THPeligible, and ProtectionKey where the processor has them.
  if (line.size() + 1 != kFlagLine) return std::nullopt;
  return Line{kFlagLine, label == kThpLabel ? kThpEligible : kNoField};
}

void SmapsParser::forget() {
  layout_.clear();
  previous_.clear();
  has_vm_flags_ = false;
}

void SmapsParser::learn(std::string_view body) {
  forget();
  const std::string_view whole = body;
  while (!body.empty()) {
    const std::string_view line = base::take_line(body);
    if (line.starts_with(kVmFlagsLabel) && body.empty()) {
      has_vm_flags_ = true;
      return;
    }
    const std::optional<Line> known = shape_of(line);
    // Of a counter that is there twice the last line counts, changed or not.
    if (!known || (known->field != kNoField &&
                   std::ranges::find(layout_, known->field, &Line::field) !=
                       layout_.end())) {
      forget();
      return;
    }
    layout_.push_back(*known);
    previous_.append(whole, previous_.size(), known->width);
  }
}

// One line that differs from `previous`, the line of the mapping before it.
bool SmapsParser::take_changed_line(const Line& line, const char* at,
                                    char* previous) {
  constexpr size_t kTail = kLabelWidth + kNumberWidth;
  if (std::memcmp(at, previous, kLabelWidth) != 0 ||
      std::memcmp(at + kTail, previous + kTail, line.width - kTail) != 0) {
    return false;
  }
  uint64_t number = 0;
  if (!read_padded_number(at + kLabelWidth, number)) return false;
  std::memcpy(previous + kLabelWidth, at + kLabelWidth, kNumberWidth);
  if (line.field >= 0) {
    mapping_.fields.set(static_cast<SmapsField>(line.field), number * 1024);
  } else if (line.field == kThpEligible) {
    mapping_.is_thp_eligible = number != 0;
  }
  return true;
}

// Returns the length of the body if it has the learned layout, 0 otherwise.
// Where a line is the same as in the mapping before, its number is in mapping_
// already; that is so for most lines, since most counters are zero and page
// sizes all alike.
size_t SmapsParser::parse_known_body(std::string_view text) {
  if (text.size() < previous_.size()) return 0;
  const char* at = text.data();
  char* previous = previous_.data();
  for (const Line& line : layout_) {
    // Two calls, so that the compiler makes words of each.
    const bool is_same = line.width == kKibLine
                             ? std::memcmp(at, previous, kKibLine) == 0
                             : std::memcmp(at, previous, kFlagLine) == 0;
    if (!is_same && !take_changed_line(line, at, previous)) return 0;
    at += line.width;
    previous += line.width;
  }
  if (!has_vm_flags_) return previous_.size();
  std::string_view rest = text.substr(previous_.size());
  if (!rest.starts_with(kVmFlagsLabel)) return 0;
  rest.remove_prefix(kVmFlagsLabel.size());
  const size_t newline = rest.find('\n');
  if (newline == std::string_view::npos) return 0;
  mapping_.vm_flags = parse_vm_flags(rest.substr(0, newline));
  return previous_.size() + kVmFlagsLabel.size() + newline + 1;
}

base::Status SmapsParser::parse_body_by_line(std::string_view body) {
  mapping_.fields.clear();
  mapping_.is_thp_eligible = false;
  mapping_.vm_flags = 0;
  while (!body.empty()) {
    base::Status status = read_label_line(base::take_line(body), mapping_);
    if (!status) return status;
  }
  return base::Ok{};
}

// The block that ended with the text last time: it is whole if a head follows.
size_t SmapsParser::take_open_block(std::string_view text, bool at_end,
                                    const MappingVisitor& visit) {
  const size_t open = std::exchange(open_bytes_, 0);
  if (open == 0 || open > text.size()) return 0;
  if (open == text.size() ? !at_end : !is_head(text.substr(open))) return 0;
  visit(mapping_);
  return open;
}

base::Result<size_t> SmapsParser::parse(std::string_view text, bool at_end,
                                        const MappingVisitor& visit) {
  size_t taken = take_open_block(text, at_end, visit);
  while (taken < text.size()) {
    const size_t newline = text.find('\n', taken);
    if (newline == std::string_view::npos && !at_end) break;
    const size_t body = std::min(newline, text.size() - 1) + 1;
    const std::string_view head =
        text.substr(taken, std::min(newline, text.size()) - taken);
    base::Status status = parse_mapping_line(head, mapping_);
    if (!status) return status.error();
    size_t length = layout_.empty() ? 0 : parse_known_body(text.substr(body));
    // After a known body there may still be lines the first block did not
    // have; only a head, or the end of the file, closes it.
    const size_t after = body + length;
    if (length != 0 && after == text.size() && !at_end) {
      open_bytes_ = after - taken;
      break;
    }
    const bool is_closed =
        after < text.size() ? is_head(text.substr(after)) : at_end;
    if (length == 0 || !is_closed) {
      const size_t end = end_of_body(text, body, at_end);
      if (end == std::string_view::npos) break;
      length = end - body;
      status = parse_body_by_line(text.substr(body, length));
      if (!status) {
        // The mapping now holds fields the known layout would not overwrite.
        forget();
        return status.error();
      }
      learn(text.substr(body, length));
    }
    visit(mapping_);
    taken = body + length;
  }
  return taken;
}

base::Result<std::vector<Mapping>> parse_smaps(std::string_view text) {
  std::vector<Mapping> mappings;
  SmapsParser parser;
  base::Result<size_t> taken = parser.parse(
      text, true, [&](const Mapping& m) { mappings.push_back(m); });
  if (!taken) return taken.error();
  return mappings;
}

base::Result<std::vector<Mapping>> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    base::Status status =
        parse_mapping_line(base::take_line(text), mappings.emplace_back());
    if (!status) return status.error();
  }
  return mappings;
}

base::Result<model::SmapsFields> parse_smaps_rollup(std::string_view text) {
  Mapping mapping;
  base::Status status = parse_mapping_line(base::take_line(text), mapping);
  if (!status) return status.error();
  while (!text.empty()) {
    status = read_label_line(base::take_line(text), mapping);
    if (!status) return status.error();
  }
  return mapping.fields;
}

}  // namespace tidemark::parse
