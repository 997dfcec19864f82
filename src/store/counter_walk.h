// The kernel's counters of processes in the order of time. The tables hold them
// by epoch and process, in two rows that change apart.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "base/number_map.h"
#include "base/result.h"
#include "model/best_known.h"
#include "model/process.h"
#include "store/database.h"

namespace tidemark::store {

class CounterWalk {
 public:
  // Of those processes, or of all; from the epoch of `first` to `last`.
  static base::Result<CounterWalk> prepare(Database& database,
                                           uint64_t page_size_bytes,
                                           const std::set<int64_t>& chosen,
                                           int64_t first, int64_t last);

  // What was known of a process before the first tick.
  void begin(int64_t process, const model::Process& known);

  // What changed up to the tick, in order; each once.
  using Visitor =
      std::function<void(int64_t process, int64_t tick,
                         const std::optional<model::ResidentCounters>&)>;
  base::Status until(int64_t tick, const Visitor& visit);

 private:
  struct Row {
    int64_t process = 0;
    int64_t tick = 0;
    bool is_status = false;
    model::Process known;  // its status and state, or its statm
  };
  struct Cursor {
    static constexpr int64_t kNoEpoch = std::numeric_limits<int64_t>::max();
    Statement rows;
    int epoch_column = 0;
    int64_t epoch = kNoEpoch;  // of the row it is at
    base::Status step();
  };
  CounterWalk() = default;
  base::Status load_epoch(int64_t epoch, Cursor& cursor);

  uint64_t page_size_bytes_ = 4096;
  const std::set<int64_t>* chosen_ = nullptr;
  int64_t last_ = 0;
  Cursor counters_;
  Cursor states_;
  std::vector<Row> rows_;  // of the epoch, in order
  size_t next_row_ = 0;
  base::NumberMap<model::Process> known_;
};

// The counters of one process at a tick, looked up alone; those of before the
// base of the tick are not looked for.
base::Result<std::optional<model::ResidentCounters>> counters_at(
    Database& database, uint64_t page_size_bytes, int64_t process,
    int64_t tick);

}  // namespace tidemark::store
