// Writes moments of a recording as a plain database: no keys to follow and no
// changes to add up, each row tells all it has to tell. Bytes throughout; NULL
// is unknown; addresses are hexadecimal text, because the upper half does not
// fit in SQLite's integers.
#pragma once

#include <string>

#include "base/result.h"
#include "model/moment.h"
#include "model/recording.h"
#include "store/database.h"

namespace tidemark::store {

class FlatWriter {
 public:
  // The file must not exist.
  static base::Result<FlatWriter> create(const std::string& path,
                                         const model::RecordingInfo& info);

  base::Status add(const model::Moment& moment);
  base::Status finish();

 private:
  explicit FlatWriter(Database database) : database_(std::move(database)) {}
  base::Status prepare(const model::RecordingInfo& info);
  base::Status add_process(const model::Moment& moment, size_t index,
                           const std::string& time);
  base::Status add_mappings(const model::Moment& moment, size_t index,
                            const std::string& time);

  Database database_;
  Statement process_;
  Statement mapping_;
  Statement machine_;
  Statement note_;
};

}  // namespace tidemark::store
