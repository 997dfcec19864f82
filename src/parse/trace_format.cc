#include "parse/trace_format.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "parse/bytes.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

constexpr std::string_view kFile = "format";

// "unsigned long pfn", "char comm[16]", "__data_loc char[] name"
std::string_view name_in(std::string_view declaration) {
  const size_t blank = declaration.find_last_of(" \t*");
  std::string_view name = blank == std::string_view::npos
                              ? declaration
                              : declaration.substr(blank + 1);
  return name.substr(0, name.find('['));
}

// "offset:8" among parts that are separated by semicolons.
std::optional<uint32_t> number_in(std::string_view parts,
                                  std::string_view key) {
  while (!parts.empty()) {
    std::string_view part = base::trim(base::take_until(parts, ';'));
    if (base::take_until(part, ':') != key) continue;
    const std::optional<uint64_t> number = base::parse_u64(part);
    if (!number || *number > std::numeric_limits<uint32_t>::max()) break;
    return static_cast<uint32_t>(*number);
  }
  return std::nullopt;
}

std::optional<TraceField> field_in(std::string_view line) {
  TraceField field;
  field.name = name_in(base::trim(base::take_until(line, ';')));
  const std::optional<uint32_t> offset = number_in(line, "offset");
  const std::optional<uint32_t> size = number_in(line, "size");
  if (field.name.empty() || !offset || !size) return std::nullopt;
  field.offset = *offset;
  field.size_bytes = *size;
  return field;
}

template <typename T>
std::optional<uint64_t> number_at(std::string_view record, uint32_t offset) {
  const std::optional<T> value = read_at<T>(record, offset);
  if (!value) return std::nullopt;
  return uint64_t{*value};
}

}  // namespace

const TraceField* TraceFormat::find(std::string_view field) const {
  const auto at = std::find_if(
      fields.begin(), fields.end(),
      [&](const TraceField& known) { return known.name == field; });
  return at == fields.end() ? nullptr : &*at;
}

base::Result<TraceFormat> parse_trace_format(std::string_view text) {
  TraceFormat format;
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::string_view line = base::trim(base::take_line(text));
    std::string_view value = line;
    const std::string_view key = base::take_until(value, ':');
    if (key == "name") format.name = base::trim(value);
    if (key == "ID") {
      const std::optional<uint64_t> id = base::parse_u64(base::trim(value));
      if (!id || *id > std::numeric_limits<uint32_t>::max()) {
        return malformed(kFile, line);
      }
      format.id = static_cast<uint32_t>(*id);
    }
  }
  if (format.id == 0) return malformed(kFile, "no ID");
  base::Result<std::vector<TraceField>> fields = parse_trace_fields(whole);
  if (!fields) return fields.error();
  format.fields = std::move(*fields);
  return format;
}

base::Result<std::vector<TraceField>> parse_trace_fields(
    std::string_view text) {
  std::vector<TraceField> fields;
  while (!text.empty()) {
    const std::string_view line = base::trim(base::take_line(text));
    std::string_view value = line;
    if (base::take_until(value, ':') != "field") continue;
    std::optional<TraceField> field = field_in(value);
    if (!field) return malformed(kFile, line);
    fields.push_back(std::move(*field));
  }
  return fields;
}

std::optional<uint64_t> read_field(std::string_view record,
                                   const TraceField& field) {
  switch (field.size_bytes) {
    case 1:
      return number_at<uint8_t>(record, field.offset);
    case 2:
      return number_at<uint16_t>(record, field.offset);
    case 4:
      return number_at<uint32_t>(record, field.offset);
    case 8:
      return number_at<uint64_t>(record, field.offset);
    default:
      return std::nullopt;
  }
}

std::string_view read_text_field(std::string_view record,
                                 const TraceField& field) {
  if (field.offset > record.size()) return {};
  const std::string_view text = record.substr(field.offset, field.size_bytes);
  return text.substr(0, text.find('\0'));
}

// The lower half of it is the place, the upper one the length.
std::string_view read_dynamic_text_field(std::string_view record,
                                         const TraceField& field) {
  const std::optional<uint64_t> told = field.size_bytes == sizeof(uint32_t)
                                           ? read_field(record, field)
                                           : std::nullopt;
  if (!told) return {};
  const auto place = static_cast<uint32_t>(*told);
  return read_text_field(record, {{}, place & 0xffff, place >> 16});
}

}  // namespace tidemark::parse
