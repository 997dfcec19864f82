// What of virtual machines is written when: each reading is compared with the
// one before, and only what has changed gets a row.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "model/vm.h"
#include "store/database.h"
#include "store/interned.h"
#include "store/vm_columns.h"

namespace tidemark::store {

// The rows of one table as they were last written.
class VmChanges {
 public:
  base::Status prepare(Database& database, VmTable table);
  void begin(int64_t tick, bool is_full);
  base::Status write(int64_t thing, VmRow row);
  // Ends what was not written since begin().
  base::Status end_missing();

 private:
  struct Known {
    VmRow row;
    int64_t seen_tick = -1;
  };
  base::Status insert(int64_t thing, const VmRow& row);

  Statement insert_;
  size_t column_count_ = 0;
  int64_t tick_ = 0;
  bool is_full_ = false;
  std::map<int64_t, Known> known_;  // those that have not ended
};

class VmRows {
 public:
  // Makes the section where there is none, in the transaction that is open;
  // goes on from what the file holds. What it held last is not looked up: the
  // next reading is written in full.
  static base::Result<VmRows> open(Database& database);

  base::Status write(const model::VmScan& scan, int64_t tick,
                     Interned& interned);

 private:
  // Pid and start; of a process the VM before them.
  using MachineKey = std::pair<int32_t, uint64_t>;
  using ProcessKey = std::tuple<int64_t, int32_t, uint64_t>;
  using ImageKey = std::pair<int64_t, int64_t>;  // VM, text of the path

  VmRows() = default;
  base::Status prepare(Database& database);
  base::Status load(Database& database);
  base::Status write_tick(const model::VmScan& scan, int64_t tick,
                          bool is_full);
  base::Status write_vm(const model::Vm& vm);
  base::Status write_process(int64_t machine, const model::VmProcess& process);
  base::Status write_image(int64_t machine, const model::VmImage& image);
  base::Result<int64_t> machine_id(const model::ProcessId& id);
  base::Result<int64_t> process_id(int64_t machine, const model::ProcessId& id);
  base::Result<int64_t> image_id(int64_t machine, const std::string& path);
  // `fill` hands the columns over.
  template <typename Fill>
  base::Status change(VmTable table, int64_t thing, const Fill& fill);

  Statement tick_row_;
  Statement machine_row_;
  Statement process_row_;
  Statement image_row_;
  std::array<VmChanges, kVmTableCount> changes_;
  std::map<MachineKey, int64_t> machines_;
  std::map<ProcessKey, int64_t> processes_;
  std::map<ImageKey, int64_t> images_;
  Interned* interned_ = nullptr;
  std::optional<int64_t> full_tick_;
};

}  // namespace tidemark::store
