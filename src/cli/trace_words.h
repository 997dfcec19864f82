// Options of a trace that more than one command takes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tidemark::cli {

// A power of two: one page frame in so many is followed.
base::Status take_trace_sample(const std::string& word, uint64_t& period);

// MiB for each CPU.
base::Status take_trace_buffer(const std::string& word, uint64_t& bytes);

}  // namespace tidemark::cli
