// What every recording says of where and by whom it was made.
#pragma once

#include <cstdint>
#include <string>

#include "model/recording.h"
#include "source/roots.h"

namespace tidemark::cli {

// `targets` in words: what it is a recording of.
model::RecordingInfo recording_head(const source::Roots& roots,
                                    std::string targets, uint64_t period_ns);

// The file with its log.
uint64_t recording_bytes(const std::string& path);
// Somebody writes to it, or was killed while he did.
bool has_log(const std::string& path);

}  // namespace tidemark::cli
