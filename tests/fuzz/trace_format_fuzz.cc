// Format files of tracefs, and the fields they tell of read from any record.
// Nothing but a crash or a read behind the record is wrong.
#include <cstdint>
#include <string>

#include "parse/trace_flags.h"
#include "parse/trace_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  (void)parse::parse_trace_flags(text);
  const base::Result<parse::TraceFormat> format =
      parse::parse_trace_format(text);
  if (!format) return 0;
  for (const parse::TraceField& field : format->fields) {
    (void)parse::read_field(text, field);
    (void)parse::read_text_field(text, field);
    (void)parse::read_dynamic_text_field(text, field);
  }
  return 0;
}
