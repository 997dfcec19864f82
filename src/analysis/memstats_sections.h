// What memstats_chart draws of its collector's records, by its arithmetic: five
// sections of the monitor, Private_Dirty of every other process, and a line for
// what the guest may use. Kept for those who compare with old charts; its flaws
// are those of the original (docs/reading/vm.md), but where that would end,
// this goes on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/memstats.h"

namespace tidemark::analysis {

struct MemstatsPoint {
  uint64_t seconds = 0;  // as in the file
  int64_t bytes = 0;     // the original draws what is below nothing too
  bool operator==(const MemstatsPoint&) const = default;
};

struct MemstatsSection {
  std::string name;  // as in the original's legend
  bool is_stacked = true;
  std::vector<MemstatsPoint> points;  // where there is something to draw
};

// In the order of the original: the sections, then the others as they were
// first seen, then the line. Two processes of one name are one section.
std::vector<MemstatsSection> memstats_sections(
    std::span<const model::MemstatsRecord> records);

}  // namespace tidemark::analysis
