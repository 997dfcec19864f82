// What waits to be sent, in a file, oldest first. A batch that append() has
// taken is there after a kill or a power cut, until remove(). Bounded: what
// does not fit is refused, and what was taken is never dropped for it.
//
// SQLite and not a file of our own, since its log is what makes a commit whole;
// one commit each few seconds costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/database.h"

namespace tidemark::store {

struct QueuedBatch {
  int64_t id = 0;
  std::string bytes;
};

// Used by one thread at a time.
class PushQueue {
 public:
  // Makes the file where there is none. Malformed when it is something else;
  // fails while another process has it.
  static base::Result<PushQueue> open(const std::string& path,
                                      uint64_t most_bytes);

  // NoSpace when the queue or the disk is full.
  base::Status append(std::string_view bytes);
  // Empty when nothing waits.
  base::Result<std::optional<QueuedBatch>> front();
  base::Status remove(int64_t id);

  uint64_t batch_count() const { return batch_count_; }
  uint64_t bytes() const { return bytes_; }

 private:
  PushQueue(Database database, uint64_t most_bytes);
  base::Status prepare();

  std::unique_ptr<Database> database_;  // statements need it where it was
  Statement append_;
  Statement front_;
  Statement remove_;
  uint64_t most_bytes_;
  uint64_t batch_count_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace tidemark::store
