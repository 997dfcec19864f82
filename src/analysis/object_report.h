// The report of `objects`: memory by what has it, not by who uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/object.h"

namespace tidemark::analysis {

enum class ObjectSelection : uint8_t {
  All,
  Hidden,   // mapped by nobody, and yet with memory
  Process,  // what one process refers to
  One,      // the object with that id
};

struct ObjectOptions {
  ObjectSelection selection = ObjectSelection::All;
  int32_t pid = 0;
  std::string id;
  std::optional<uint64_t> top;  // at most so many rows, the rest in one
  // At most so many of those that only pages told of: a machine has thousands.
  std::optional<uint64_t> top_by_pages;
};

struct ObjectHolder {
  model::ProcessId process;
  std::string name;
  uint64_t map_count = 0;
  uint64_t fd_count = 0;
  model::ObjectRights rights;
};

struct ObjectRow {
  std::string id;
  model::ObjectKind kind = model::ObjectKind::File;
  std::string name;
  bool is_deleted = false;
  bool is_found_by_pages = false;
  model::ObjectRights rights;  // of the chosen process, or of all together
  std::string parent_id;       // empty: none
  uint64_t child_count = 0;
  uint64_t map_count = 0;      // mappings, over all processes
  uint64_t process_count = 0;  // processes that map it
  uint64_t fd_count = 0;       // descriptors, over all processes
  model::Reading<uint64_t> size_bytes;
  model::Reading<uint64_t> alloc_bytes;
  model::Reading<uint64_t> swap_bytes;
  std::vector<ObjectHolder> holders;
};

// A line of meminfo against the objects it is made of: total = named + rest.
// The rest can be negative, when memory was given back while we looked.
struct ObjectAccount {
  uint64_t total_bytes = 0;
  model::Amount named;
  int64_t rest_bytes = 0;
  // What of the rest its pages gave a name; unset: they were not asked.
  std::optional<uint64_t> found_bytes;
};

struct ObjectReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  ObjectSelection selection = ObjectSelection::All;
  model::ObjectMeans means = model::ObjectMeans::Proc;
  std::vector<ObjectRow> rows;  // most memory first
  size_t folded_count = 0;
  model::Amount folded_alloc;
  size_t process_count = 0;  // that could be read
  uint64_t ended_count = 0;  // that ended meanwhile
  std::vector<model::ObjectProcess> unreadable;
  bool reader_is_root = false;
  // Only where all objects were looked for.
  std::optional<ObjectAccount> shmem;
  std::optional<ObjectAccount> file_cache;
  bool pages_were_read = false;
  std::vector<std::string> notes;
};

// NotFound when no object has the id, or no such process was met.
base::Result<ObjectReport> make_object_report(const model::ObjectScan& scan,
                                              const ObjectOptions& options);

}  // namespace tidemark::analysis
