// What a reading of a trace tells besides who holds what: its numbers as a
// whole, ways to be wrong, remarks, and modules that came or went.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "store/database.h"
#include "store/interned.h"

namespace tidemark::store {

class TraceHeadRows {
 public:
  TraceHeadRows() = default;
  static base::Result<TraceHeadRows> open(Database& database);

  // What changed; in a keyframe everything that a moment is put together from.
  base::Status write(const model::Trace& trace, int64_t tick, bool is_keyframe,
                     Interned& interned);

 private:
  base::Status write_constants(const model::Trace& trace);
  base::Status write_info(std::string_view name, const std::string& value);
  base::Status write_faults(const model::TraceFaults& faults);
  base::Status write_notes(const std::vector<std::string>& notes);
  base::Status write_modules(const std::vector<model::TraceModule>& modules);
  base::Status write_tick(const model::Trace& trace);

  Statement info_row_;
  Statement tick_row_;
  Statement fault_row_;
  Statement note_row_;
  Statement module_row_;

  // Of the reading that is being written.
  Interned* interned_ = nullptr;
  int64_t tick_ = 0;
  bool is_keyframe_ = false;

  // As last written.
  std::map<std::string_view, std::string> info_;
  std::optional<model::TraceFaults> faults_;
  std::optional<std::vector<std::string>> notes_;
  std::vector<model::TraceModule> modules_;
};

}  // namespace tidemark::store
