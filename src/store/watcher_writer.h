// Writes moments of a recording as a database of memory-watcher 0.1, for its
// own tools: its tables and types, KiB, local times without a zone.
//
// Its keys are hashes that collide; ours are plain numbers, which its tools
// take as well. Every column must be filled there, so what is unknown is zero,
// as it would be in a file of its own. A measurement is a moment at which the
// mappings of the process were read, or could not be.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "base/time_zone.h"
#include "model/moment.h"
#include "store/database.h"

namespace tidemark::store {

class WatcherWriter {
 public:
  // The file must not exist.
  static base::Result<WatcherWriter> create(const std::string& path,
                                            base::TimeZone zone);

  base::Status add(const model::Moment& moment);
  base::Status finish();
  uint64_t measurement_count() const { return measurement_count_; }

 private:
  using RangeKey =
      std::tuple<int64_t, uint64_t, uint64_t, std::string, std::string>;

  WatcherWriter(Database database, base::TimeZone zone)
      : database_(std::move(database)), zone_(std::move(zone)) {}
  base::Status prepare();
  base::Result<int64_t> process_key(const model::Process& process);
  base::Result<int64_t> range_key(int64_t process,
                                  const model::Mapping& mapping);
  base::Status add_process(const model::Process& process,
                           const model::Moment& moment,
                           const std::string& time);
  base::Status add_measurement(int64_t key, int64_t process_key,
                               const model::Process& process,
                               const model::Moment& moment,
                               const std::string& time);
  base::Status add_machine(const model::Machine& machine,
                           const std::string& time);

  Database database_;
  base::TimeZone zone_;
  Statement process_;
  Statement range_;
  Statement measurement_;
  Statement data_;
  Statement machine_;
  std::map<std::pair<int32_t, uint64_t>, int64_t> processes_;
  std::map<RangeKey, int64_t> ranges_;
  int64_t next_key_ = 1;  // of all tables
  uint64_t measurement_count_ = 0;
};

}  // namespace tidemark::store
