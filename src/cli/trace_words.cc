#include "cli/trace_words.h"

#include <bit>
#include <optional>

#include "base/text.h"

namespace tidemark::cli {

base::Status take_trace_sample(const std::string& word, uint64_t& period) {
  constexpr uint64_t kMost = uint64_t{1} << 16;
  const std::optional<uint64_t> number = base::parse_u64(word);
  if (!number || *number == 0 || *number > kMost ||
      !std::has_single_bit(*number)) {
    return base::fail(base::ErrorKind::Misused, "'" + word + "' is no sample",
                      "a power of two: 16 follows one page frame in 16");
  }
  period = *number;
  return base::Ok{};
}

base::Status take_trace_buffer(const std::string& word, uint64_t& bytes) {
  constexpr uint64_t kMostMiB = 1024;
  const std::optional<uint64_t> number = base::parse_u64(word);
  if (!number || *number > kMostMiB) {
    return base::fail(base::ErrorKind::Misused,
                      "'" + word + "' is no buffer size",
                      "0 to 1024 MiB for each CPU; 0 is the smallest there is");
  }
  bytes = *number << 20;
  return base::Ok{};
}

}  // namespace tidemark::cli
