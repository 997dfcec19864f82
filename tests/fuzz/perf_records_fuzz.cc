// Records of a perf ring. What a record is said to hold must lie inside it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "parse/perf_records.h"

namespace {

void expect_inside(std::string_view part, const std::string& whole) {
  if (part.empty()) return;
  if (part.data() < whole.data() ||
      part.data() + part.size() > whole.data() + whole.size()) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  if (size < 8 || size > 0xffff) return 0;
  std::string bytes(data, data + size);
  // Its length is what the ring was asked by; the rest is the fuzzer's.
  const auto length = static_cast<uint16_t>(size);
  std::memcpy(bytes.data() + 6, &length, sizeof length);
  for (bool has_call_chain : {false, true}) {
    const std::optional<parse::PerfRecord> record = parse::parse_perf_record(
        bytes, [=](uint64_t) { return has_call_chain; });
    if (!record) continue;
    expect_inside(record->raw, bytes);
    expect_inside(record->name, bytes);
    expect_inside(record->call_chain, bytes);
  }
  return 0;
}
