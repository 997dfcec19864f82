// What a picture of a tree is made of, so that the parts add up to what the
// kernel charged:
//
//   charge = sum of PSS
//          + page cache charged here and not mapped (or: less what is mapped
//            here and charged elsewhere)
//          + shared memory charged here and not mapped
//          + kernel memory
//          + not explained
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/run_report.h"
#include "model/region.h"
#include "model/run.h"

namespace tidemark::analysis {

struct RunComposition {
  uint64_t captured_bytes = 0;
  std::vector<RunPart> parts;  // largest first
  std::vector<RunMapping> mappings;
  int64_t not_explained_bytes = 0;
  uint64_t unreadable_count = 0;
};

// The parts add up to it; those of Rss count shared pages once for each
// process.
RunComposition compose(const model::Capture& capture,
                       const std::vector<model::DeviceNumber>& memory_devices,
                       RunMeasure measure);

}  // namespace tidemark::analysis
