// The layout of a recording. docs/recording-format.md explains it to people
// who query one; the views are the public interface, the tables are ours.
//
// Tables hold KiB and units of 4 KiB, because they fit in fewer bytes; views
// hold bytes and nanoseconds. Each source has a section of its own, told by the
// prefix of its tables (proc_, machine_, cgroup_), so that others can join:
// traces do with trace_ (trace_schema.h), virtual machines with vm_.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/database.h"

namespace tidemark::store {

inline constexpr int64_t kApplicationId = 0x74646d72;  // "tdmr"
inline constexpr int64_t kSchemaVersion = 2;
// The first in which sums over all processes are their best values, whatever of
// them was read: those of files before it count what was not read as nothing.
inline constexpr int64_t kBestSumsVersion = 2;

// Rows that change are kept by the tick they changed in, sixteen ticks to an
// epoch, and the epoch comes first in their key: what is written together lies
// together, so a commit touches few pages, and a process's rows are still one
// seek per epoch away. With the process first each changed process would dirty
// a page of its own every tick.
inline constexpr int64_t kTicksPerEpoch = 16;

// At each so many ticks everything known is written again, so that the state at
// any moment is found in the rows since the base before it.
inline constexpr int64_t kTicksPerBase = 1024;

// SQLite keeps the text of each statement in the file; indentation and remarks
// are for readers of ours.
std::string squeezed_sql(std::string_view sql);

// Makes the tables and views in one transaction: a file is empty or whole.
base::Status create_schema(Database& database);

// Refuses what is not a recording, newer than we are, or cut short, with a
// sentence each.
base::Status check_schema(Database& database);

// Whether a section that joins later is there, by its tables: all of them or
// none. Malformed, naming it, where a part is missing.
base::Result<bool> has_section(Database& database,
                               std::span<const char* const> tables,
                               std::string_view what);

}  // namespace tidemark::store
