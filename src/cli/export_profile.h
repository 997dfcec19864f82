// `export` as stacks: a moment of a recording, with its peak where the format
// has a place for both, or the trace of one that has no processes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "store/recording.h"

namespace tidemark::cli {

enum class ProfileFormat : uint8_t { Folded, Pprof, Speedscope };

struct ProfileExport {
  ProfileFormat format = ProfileFormat::Pprof;
  std::string at;  // as find_moment_or_peak() takes it; empty: the peak
  store::ProcessSet processes;
  const CommonOptions& common;
};

base::Result<std::string> export_profile(const store::Recording& recording,
                                         const ProfileExport& wanted);

}  // namespace tidemark::cli
