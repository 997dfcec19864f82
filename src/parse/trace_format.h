// Parses the files named "format" that tracefs has for each event: where its
// fields lie in the record. They differ between kernels and processors, so
// nothing about them is taken for granted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::parse {

struct TraceField {
  std::string name;  // of an array without its brackets
  uint32_t offset = 0;
  uint32_t size_bytes = 0;  // 0: as long as the record
  bool operator==(const TraceField&) const = default;
};

struct TraceFormat {
  std::string name;
  uint32_t id = 0;
  std::vector<TraceField> fields;

  const TraceField* find(std::string_view field) const;
  bool operator==(const TraceFormat&) const = default;
};

// Unknown lines are skipped; a field line that cannot be read, or no id, is an
// error, because a record would be taken for another.
base::Result<TraceFormat> parse_trace_format(std::string_view text);

// Only the fields, of files that are about no event: events/header_page.
base::Result<std::vector<TraceField>> parse_trace_fields(std::string_view text);

// An unsigned number of 1, 2, 4 or 8 bytes. Empty when the record is too short
// for it, or the field of another size.
std::optional<uint64_t> read_field(std::string_view record,
                                   const TraceField& field);

// Characters up to the first zero; what lies behind the record is left out.
std::string_view read_text_field(std::string_view record,
                                 const TraceField& field);

// Text as long as it is, which the record has at its end: the field says where.
std::string_view read_dynamic_text_field(std::string_view record,
                                         const TraceField& field);

}  // namespace tidemark::parse
