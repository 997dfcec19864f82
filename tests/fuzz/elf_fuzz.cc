// The head of any file must give a span or a sentence, and segments or one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parse/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view head(reinterpret_cast<const char*>(data), size);
  (void)tidemark::parse::parse_elf_span(head);
  (void)tidemark::parse::parse_kcore_segments(head);
  (void)tidemark::parse::parse_elf_code_distance(head, 4096);
  return 0;
}
