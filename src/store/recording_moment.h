// Between the files that put a moment together; see recording_reader.h.
#pragma once

#include <cstdint>
#include <map>

#include "model/process.h"
#include "model/sample.h"
#include "store/recording_reader.h"

namespace tidemark::store {

// One of the two instants that are asked for together, the later one first.
struct Recording::Reader::Moment {
  int64_t tick = 0;
  model::Sample sample;
  std::map<int64_t, model::Process> processes;
};

}  // namespace tidemark::store
