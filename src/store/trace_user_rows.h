// What a trace of stacks of programs tells besides the stacks, as rows: files
// with code and their build-ids, and counts by tick. The tables come with the
// first such trace; other recordings, and those from before, have none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/trace.h"
#include "store/database.h"
#include "store/interned.h"

namespace tidemark::store {

class TraceUserRows {
 public:
  // What has changed; nothing for a trace without such stacks. What the file
  // held before is written once more by whoever goes on with it.
  base::Status write(const model::Trace& trace, int64_t tick,
                     Database& database, Interned& interned);

 private:
  base::Status prepare(Database& database);
  base::Status write_images(const model::TraceUser& user, Interned& interned);
  base::Status write_sums(const model::Trace& trace, int64_t tick,
                          Interned& interned);

  std::optional<Statement> image_;
  std::optional<Statement> sum_;
  size_t image_count_ = 0;                    // as last written
  std::map<std::string_view, int64_t> sums_;  // the same
};

// As it was told last up to the tick; with the period of the sample then, which
// the errors follow from. Leaves a trace alone where the file has none.
base::Status read_trace_user(Database& database, int64_t tick,
                             model::Trace& trace);

}  // namespace tidemark::store
