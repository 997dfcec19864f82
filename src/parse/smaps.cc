#include "parse/smaps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

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

uint64_t parse_vm_flags(std::string_view codes) {
  uint64_t flags = 0;
  while (!codes.empty()) {
    const std::string_view code = base::take_until(codes, ' ');
    if (code.empty()) continue;
    const bool letters = code.size() == 2 && code[0] >= 'a' && code[0] <= 'z' &&
                         code[1] >= 'a' && code[1] <= 'z';
    const int8_t bit = letters ? kFlagTable[flag_slot(code)] : int8_t{-1};
    flags |= bit < 0 ? model::kVmFlagOther : uint64_t{1} << bit;
  }
  return flags;
}

// Lower-case hexadecimal up to `stop`, by hand: four numbers a line, two
// thousand lines a sample.
std::optional<uint64_t> take_hex(std::string_view& text, char stop) {
  uint64_t number = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] != stop; ++i) {
    const char c = text[i];
    uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else {
      return std::nullopt;
    }
    if (i >= 16) return std::nullopt;
    number = number << 4 | digit;
  }
  if (i == 0 || i == text.size()) return std::nullopt;
  text.remove_prefix(i + 1);
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
  std::optional<uint64_t> offset = take_hex(rest, ' ');
  std::optional<uint64_t> major = offset ? take_hex(rest, ':') : std::nullopt;
  std::optional<uint64_t> minor = major ? take_hex(rest, ' ') : std::nullopt;
  std::optional<uint64_t> inode =
      minor ? base::parse_u64(base::take_until(rest, ' ')) : std::nullopt;
  constexpr uint64_t kMaxDevice = std::numeric_limits<uint32_t>::max();
  if (!inode || *major > kMaxDevice || *minor > kMaxDevice) {
    return malformed("smaps", line);
  }
  const size_t name = rest.find_first_not_of(' ');
  mapping.start_address = *start;
  mapping.end_address = *end;
  mapping.offset_bytes = *offset;
  mapping.device_major = static_cast<uint32_t>(*major);
  mapping.device_minor = static_cast<uint32_t>(*minor);
  mapping.inode_id = *inode;
  mapping.name.assign(name == std::string_view::npos ? std::string_view()
                                                     : rest.substr(name));
  return base::Ok{};
}

void SmapsParser::learn(std::string_view body) {
  layout_.clear();
  while (!body.empty()) {
    const std::string_view from = body;
    const std::string_view line = base::take_line(body);
    const std::string_view label = padded_label(line);
    Line known;
    if (line.starts_with(kVmFlagsLabel)) {
      known.kind = LineKind::VmFlags;
    } else if (line.size() + 1 == kKibLine && line.ends_with(" kB") &&
               !label.empty()) {
      known.kind = LineKind::Kib;
    } else if (line.size() + 1 == kFlagLine && label == kThpLabel) {
      known.kind = LineKind::Flag;
    } else {
      layout_.clear();  // a shape we have no short cut for
      return;
    }
    if (known.kind != LineKind::VmFlags) {
      known.label_low = load_u64(from.data());
      known.label_high = load_u64(from.data() + 8);
      known.field = static_cast<int8_t>(field_of_label(label));
    }
    layout_.push_back(known);
  }
}

// Returns the length of the body if it has the learned layout, 0 otherwise.
size_t SmapsParser::parse_known_body(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (const Line& line : layout_) {
    if (line.kind == LineKind::VmFlags) {
      const auto left = static_cast<size_t>(end - at);
      if (left < kVmFlagsLabel.size() ||
          std::memcmp(at, kVmFlagsLabel.data(), kVmFlagsLabel.size()) != 0) {
        return 0;
      }
      const void* newline = std::memchr(at, '\n', left);
      if (!newline) return 0;
      const char* stop = static_cast<const char*>(newline);
      at += kVmFlagsLabel.size();
      mapping_.vm_flags = parse_vm_flags({at, static_cast<size_t>(stop - at)});
      at = stop + 1;
      continue;
    }
    const bool is_kib = line.kind == LineKind::Kib;
    if (end - at < static_cast<ptrdiff_t>(is_kib ? kKibLine : kFlagLine)) {
      return 0;
    }
    uint64_t number = 0;
    if (load_u64(at) != line.label_low || load_u64(at + 8) != line.label_high ||
        !read_padded_number(at + kLabelWidth, number)) {
      return 0;
    }
    at += kLabelWidth + kNumberWidth;
    if (is_kib) {
      if (std::memcmp(at, kKibTail.data(), kKibTail.size()) != 0) return 0;
      at += kKibTail.size();
      if (line.field >= 0) {
        mapping_.fields.set(static_cast<SmapsField>(line.field), number * 1024);
      }
    } else {
      if (*at++ != '\n') return 0;
      mapping_.is_thp_eligible = number != 0;
    }
  }
  return static_cast<size_t>(at - text.data());
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

base::Result<size_t> SmapsParser::parse(std::string_view text, bool at_end,
                                        const MappingVisitor& visit) {
  size_t taken = 0;
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
    const bool is_closed =
        after < text.size() ? is_head(text.substr(after)) : at_end;
    if (length == 0 || !is_closed) {
      const size_t end = end_of_body(text, body, at_end);
      if (end == std::string_view::npos) break;
      length = end - body;
      status = parse_body_by_line(text.substr(body, length));
      if (!status) {
        // The mapping now holds fields the known layout would not overwrite.
        layout_.clear();
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
