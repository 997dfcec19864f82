// Writes what has changed of one process since it was written last: its
// mappings in process_mapping_rows.cc, all else in process_rows.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/best_known.h"
#include "model/process.h"
#include "store/database.h"
#include "store/interned.h"

namespace tidemark::store {

// The statements all processes share.
struct ProcessStatements {
  Statement process;
  Statement end;
  Statement identity;
  Statement counter;
  Statement status;
  Statement detail;
  Statement mapping;
  Statement change;
  Statement keyframe;
  static base::Result<ProcessStatements> prepare(Database& database);
};

struct RowContext {
  ProcessStatements& statements;
  Interned& interned;
  int64_t tick = 0;
  uint64_t page_size_bytes = 4096;
  const std::vector<model::DeviceNumber>& memory_devices;
};

// A mapping that lives as far as the file knows.
struct StoredMapping {
  int64_t no = 0;
  int64_t trait = 0;
};

// What the file says of a process after a transaction was lost.
struct StoredProcess {
  int64_t id = 0;
  int64_t next_mapping_no = 1;
  int64_t image = 0;
  int64_t last_tick = 0;  // the file's last
  std::vector<StoredMapping> mappings;
};

class ProcessRows {
 public:
  explicit ProcessRows(int64_t id) : id_(id) {}
  // Goes on with one that the file knows. `lost` is what was written of it and
  // is not in the file: its last reading stands until the next one, since the
  // process does not shrink because the disk was full.
  static ProcessRows resumed(StoredProcess stored, ProcessRows lost);

  int64_t id() const { return id_; }

  // Everything of this tick. The process row itself is the caller's.
  base::Status write(const model::Process& process, const RowContext& context);

  // At a base: forgets what is in the file already, so that the next write puts
  // it down again, also of a process that is not read in detail then.
  void begin_base();
  base::Status write_base(const RowContext& context);

  // Of this tick, in KiB: the best values.
  const model::BestShares& categories() const { return categories_; }
  std::optional<int64_t> last_detail_tick() const { return last_detail_; }
  bool has_memory() const { return has_memory_; }
  bool has_mappings() const { return !live_.empty(); }
  bool is_scanned() const { return is_scanned_; }

 private:
  struct LiveMapping {
    model::Mapping mapping;
    int64_t no = 0;
    int64_t trait = 0;
    model::RegionKind kind = model::RegionKind::Anonymous;
    bool is_changed = false;
  };
  struct Identity {
    int32_t parent_pid = 0;
    std::string comm;
    std::string executable;
    std::string command_line;
    std::string cgroup_path;
    std::optional<uint32_t> user_id;
    uint64_t argument_address = 0;
    bool operator==(const Identity&) const = default;
  };
  using CounterRow = std::array<std::optional<int64_t>, 4>;
  using StatusRow = std::array<std::optional<int64_t>, 16>;

  base::Status write_identity(const model::Process& process,
                              const RowContext& context);
  base::Status write_counters(const model::Process& process,
                              const RowContext& context);
  base::Status write_status(const model::Process& process,
                            const RowContext& context);
  base::Status write_plan(const model::Process& process,
                          const RowContext& context);
  base::Status write_plan_row(model::DetailTier tier, int64_t step,
                              const RowContext& context);
  base::Status write_mappings(const model::Process& process,
                              const RowContext& context);
  // It has ended and waits for its parent: all its memory is gone.
  base::Status write_emptied(const RowContext& context);
  // After a loss: what is known is put down anew, what the file had is ended.
  base::Status write_resumed(const RowContext& context);
  // What is new, changed and gone; marks it. True when the shape of the address
  // space is another than before.
  bool merge(const std::vector<model::Mapping>& mappings);
  bool merge_from(size_t old_index, const std::vector<model::Mapping>& mappings,
                  size_t new_index);
  base::Status retrait(const model::Process& process,
                       const RowContext& context);
  base::Status write_births(const RowContext& context);
  base::Status write_changes(const RowContext& context);
  base::Status write_change(const LiveMapping& live, const RowContext& context);
  base::Status write_death(const StoredMapping& dead,
                           const RowContext& context);
  base::Status write_deaths(const RowContext& context);
  void split_categories();
  void update_categories(const model::Process& process,
                         const RowContext& context);

  int64_t id_;
  int64_t next_no_ = 1;
  bool has_memory_ = false;
  std::optional<Identity> identity_;
  int64_t image_ = 0;
  std::optional<CounterRow> counters_;
  std::optional<StatusRow> status_;

  std::optional<model::DetailTier> planned_tier_;
  bool has_unknown_plan_ = false;      // the file has one, we do not know it
  bool is_resumed_ = false;            // live_ is not in the file
  std::vector<StoredMapping> stored_;  // to be ended, when it is
  bool has_kinds_ = false;             // all of live_
  int64_t planned_from_ = 0;
  int64_t planned_step_ = 1;

  std::vector<LiveMapping> live_;
  std::vector<LiveMapping> next_;  // kept for its memory
  std::vector<LiveMapping> dead_;
  model::Reading<std::vector<model::Thread>> threads_;
  bool has_keyframe_ = false;
  uint64_t rows_since_keyframe_ = 0;
  std::optional<int64_t> last_detail_;
  model::BestProcess best_{base::kKib};
  model::BestShares categories_{};
  bool is_scanned_ = false;  // its last detail was a scan of pages
};

}  // namespace tidemark::store
