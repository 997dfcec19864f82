// The report of `maps`: one address space, grouped as people think of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/process_use.h"
#include "model/region.h"
#include "model/sample.h"

namespace tidemark::analysis {

enum class MapsSort { Address, Size, Rss, Pss, Private, Swap };

struct MapsRegion {
  model::RegionKind kind = model::RegionKind::Anonymous;
  model::Category category = model::Category::Anon;
  std::string name;
  int32_t thread_id = 0;
  uint64_t start_address = 0;
  uint64_t end_address = 0;
  CategoryUse sum;
  std::string explanation;  // one sentence for people new to address spaces
  std::vector<model::Mapping> mappings;
};

struct MapsReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  model::ProcessId process;
  std::string name;
  std::string command;
  uint64_t start_address = 0;  // the span its mappings lie in
  uint64_t end_address = 0;
  std::vector<MapsRegion> regions;
  std::vector<CategoryUse> categories;
  CategoryUse total;
  std::optional<uint64_t> status_rss_bytes;  // VmRSS, for comparison
  std::optional<uint64_t> peak_rss_bytes;    // VmHWM
  std::optional<uint64_t> page_table_bytes;
  size_t thread_count = 0;
  size_t unlocated_thread_count = 0;  // ran on a CPU: stack told by shape
};

// The process must have its mappings read.
MapsReport make_maps_report(const model::Sample& sample,
                            const model::Process& process,
                            const model::RegionHints& hints, MapsSort sort);

// What a region of this kind is, in words.
std::string explain_region(const MapsRegion& region);

}  // namespace tidemark::analysis
