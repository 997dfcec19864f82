// What the kernel's own code holds, by line or by module, from /proc/allocinfo:
// ranked by size, or by what it grew between two readings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/allocation_site.h"

namespace tidemark::analysis {

enum class AllocinfoGrouping : uint8_t { Line, Module };
enum class AllocinfoSort : uint8_t { Size, Growth, Calls };

struct AllocinfoOptions {
  AllocinfoGrouping group_by = AllocinfoGrouping::Line;
  AllocinfoSort sort_by = AllocinfoSort::Size;
  std::optional<uint64_t> top;  // at most so many rows, the rest in one
};

// Of a module the place is empty, of the kernel's image the module.
struct AllocinfoRow {
  std::string file;
  uint32_t line = 0;
  std::string function;
  std::string module;
  int64_t bytes = 0;
  uint64_t calls = 0;
  uint64_t site_count = 0;  // lines of the file that hold something
  bool is_inexact = false;  // the kernel says that it missed some
  // Since the reading before; empty without one.
  std::optional<int64_t> grown_bytes;
  std::optional<int64_t> grown_calls;
  bool operator==(const AllocinfoRow&) const = default;
};

// listed = held + slab pages + noise, and rows + folded = held.
struct AllocinfoTotals {
  int64_t listed_bytes = 0;  // every line of the file
  int64_t held_bytes = 0;
  // Pages of slabs, whose objects are counted at their own lines: adding them
  // would count that memory twice. They are in no row.
  int64_t slab_page_bytes = 0;
  int64_t noise_bytes = 0;  // lines with bytes and without calls
  uint64_t noise_count = 0;
  uint64_t unused_count = 0;  // lines that hold nothing
  std::optional<int64_t> grown_bytes;
  // RAM in use less what is held: free places in slabs, memory from before
  // profiling began, what is taken past it. Empty when RAM in use is not known.
  std::optional<uint64_t> used_bytes;
  std::optional<int64_t> residue_bytes;
};

struct AllocinfoReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  std::optional<uint64_t> since_realtime_ns;  // of the reading before
  AllocinfoGrouping group_by = AllocinfoGrouping::Line;
  AllocinfoSort sort_by = AllocinfoSort::Size;
  std::vector<AllocinfoRow> rows;
  uint64_t folded_count = 0;
  int64_t folded_bytes = 0;
  std::optional<int64_t> folded_grown_bytes;
  AllocinfoTotals totals;
  std::vector<std::string> notes;
};

// `before` may be null: then nothing is said of growth, and a ranking by it is
// one by size. What has gone since, with its module, is a row that shrank.
AllocinfoReport make_allocinfo_report(const model::AllocationReading& now,
                                      const model::AllocationReading* before,
                                      const AllocinfoOptions& options);

}  // namespace tidemark::analysis
