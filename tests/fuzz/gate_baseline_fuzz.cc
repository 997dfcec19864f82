// The baseline of a gate, which people edit: read or refused with a sentence,
// never a throw, and what was read has runs to compare with.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parse/gate_baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tidemark::base::Result<tidemark::model::GateBaseline> baseline =
      tidemark::parse::parse_gate_baseline(text);
  if (!baseline) {
    if (baseline.error().what.empty()) std::abort();
    return 0;
  }
  for (const tidemark::model::GateEntry& entry : baseline->gates) {
    if (entry.name.empty() || entry.runs_bytes.empty()) std::abort();
    if (entry.drift_percent && !(*entry.drift_percent >= 0)) std::abort();
  }
  return 0;
}
