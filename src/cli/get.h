// `get`: the memory of a process or tree, now or repeatedly. The memstat
// personality is the same with other words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace tidemark::cli {

enum class PeakMode { WithSamples, None, Only };

struct GetOptions {
  CommonOptions common;
  std::vector<std::string> targets;
  bool with_descendants = false;
  bool verbose = false;
  bool watch = false;
  bool in_bytes = false;
  bool as_memstat = false;
  bool is_exact = false;
  PeakMode peak = PeakMode::WithSamples;
  uint64_t period_ns = 1'000'000'000;
  std::optional<uint64_t> count;
  std::optional<uint64_t> duration_ns;
};

Command get_command();

base::Result<ExitCode> run_get(const GetOptions& options);

// "-f 10" is 10 Hz as in memstat; "-f 100ms" and "-f 10Hz" say what they mean.
base::Result<uint64_t> parse_frequency(const std::string& word);

// Options of `get` that memstat has too.
void add_memstat_options(OptionTable& table, GetOptions& options);

}  // namespace tidemark::cli
