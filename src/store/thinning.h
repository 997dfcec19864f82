// Makes room in a recording: of the oldest samples only some are kept, each the
// highest of its neighbours, so that peaks survive. What changed in a sample
// that goes is moved to the next that stays, so every sample that stays is
// exactly what it was.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/database.h"

namespace tidemark::store {

// Bytes in use, without pages that are free to be written again.
base::Result<uint64_t> used_bytes(Database& database);

// Thins one stretch, the oldest of the densest, by a fourth of what it holds.
// Returns how many ticks went; 0 when there is nothing left to take. Must run
// outside a transaction. Ticks from `newest` on are not touched.
base::Result<uint64_t> thin_once(Database& database, int64_t newest);

}  // namespace tidemark::store
