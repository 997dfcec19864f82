// One tick of a recording, ready to be written out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/recording.h"
#include "model/sample.h"

namespace tidemark::model {

struct Moment {
  RecordedTick tick;
  const Sample* sample = nullptr;
  uint64_t page_size_bytes = 4096;
  // Of each process of the sample, when its mappings were read; empty: never.
  std::vector<std::optional<int64_t>> detail_ticks;
  std::vector<ObserverNote> notes;

  // Its mappings were read at this very tick.
  bool is_detailed(size_t process) const {
    return process < detail_ticks.size() && detail_ticks[process] == tick.id;
  }
};

// Numbers under the names they have in every export, always all of them and in
// this order; empty where unknown.
using NamedValues =
    std::vector<std::pair<std::string_view, std::optional<int64_t>>>;
NamedValues process_values(const Process& process, uint64_t page_size_bytes);
NamedValues machine_values(const Machine& machine);

}  // namespace tidemark::model
