// Where the machine's memory is, in columns that sum to its RAM. Every column
// is made of figures of the kernel's, which are kept with it; `other` is what
// no column names. It is signed, and never cut at zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/category.h"
#include "model/reading.h"
#include "model/sample.h"

namespace tidemark::analysis {

enum class SystemColumn : uint8_t {
  Free,
  FreePerCpu,         // on the lists of the processors
  FreeUninitialised,  // of a kernel that fills its page structs lazily
  Anon,
  File,
  Shmem,
  SlabUsed,
  SlabSlack,
  PageTables,
  Stacks,
  Vmalloc,
  PerCpu,
  Sockets,
  HugeTlb,
  Compressed,  // zram and zswap
  Balloon,
  Wired,  // taken at boot, before there was an allocator
};
inline constexpr size_t kSystemColumnCount = 17;

struct SystemColumnName {
  std::string_view token;  // of JSON and CSV
  std::string_view head;   // of a table
  std::string_view meaning;
};
const SystemColumnName& system_column_name(SystemColumn column);
// The kind of memory it is, as counters tell it.
model::Category system_column_category(SystemColumn column);

// One figure that enters a column, with its sign.
struct SystemTerm {
  std::string_view what;  // as the file calls it
  std::string_view file;
  int64_t bytes = 0;
  bool operator==(const SystemTerm&) const = default;
};

struct SystemValue {
  model::Reading<int64_t> bytes;  // the sum of the terms
  std::vector<SystemTerm> terms;
  std::string remark;  // what to know when reading it; may be empty
  bool operator==(const SystemValue&) const = default;
};

struct SystemReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  // All RAM there is; MemTotal where the physical map is hidden.
  uint64_t total_bytes = 0;
  std::string_view total_source;
  uint64_t mem_total_bytes = 0;
  std::array<SystemValue, kSystemColumnCount> columns;
  int64_t other_bytes = 0;
  int64_t other_change_bytes = 0;  // since the first report of a series

  const SystemValue& at(SystemColumn column) const {
    return columns[static_cast<size_t>(column)];
  }
};

// Empty when meminfo lacks MemTotal or MemFree. The known columns and
// other_bytes sum to total_bytes exactly; what an unknown column holds is in
// other_bytes, or in the column its remark names.
std::optional<SystemReport> make_system_report(const model::Sample& sample);

// Columns that are not known, by token, with the reason.
std::vector<std::pair<std::string, std::string>> unknown_columns(
    const SystemReport& report);

}  // namespace tidemark::analysis
