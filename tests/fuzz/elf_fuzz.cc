// The head of any file must give a span or a sentence.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parse/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)tidemark::parse::parse_elf_span(
      {reinterpret_cast<const char*>(data), size});
  return 0;
}
