// Reads for `top` what takes too long for every second, in a thread of its own:
// objects and VMs on slow clocks, the ledger and what would come back when they
// are asked for. The clocks slow down by what a reading costs, so that all of
// them together stay below a few per cent of a core.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/top_slow.h"
#include "analysis/vm_report.h"
#include "base/result.h"
#include "source/roots.h"
#include "source/vm/vm_source.h"

namespace tidemark::watch {

class TopSlowReader {
 public:
  // The roots must outlive it. `news` is called by its thread whenever there is
  // something new to take.
  TopSlowReader(const source::Roots& roots, std::function<void()> news);
  TopSlowReader(const TopSlowReader&) = delete;
  TopSlowReader& operator=(const TopSlowReader&) = delete;
  // Waits for a step of a reading that is under way: one of the ledger may take
  // half a second.
  ~TopSlowReader();

  void want(const analysis::TopNeeds& needs);
  analysis::TopSlow current();

 private:
  // When it is due next; empty: not until something else is wanted.
  using Due = std::optional<uint64_t>;

  void run();
  // Makes the first reading that is due; false: none is.
  bool read_one(const analysis::TopNeeds& needs);
  Due next_due(const analysis::TopNeeds& needs) const;
  Due objects_due(const analysis::TopNeeds& needs) const;
  Due vms_due(const analysis::TopNeeds& needs) const;
  Due ledger_due(const analysis::TopNeeds& needs) const;
  Due come_back_due(const analysis::TopNeeds& needs) const;

  base::Result<analysis::ObjectReport> read_objects();
  base::Result<analysis::TopVms> read_vms(bool asks_guests);
  base::Result<analysis::TopLedger> read_ledger(analysis::LedgerBy by);
  base::Result<analysis::TopComeBack> read_come_back(
      const std::vector<model::ProcessId>& ending);

  template <typename T, typename Read>
  void update(analysis::SlowReading<T> analysis::TopSlow::*reading,
              const Read& read);

  const source::Roots& roots_;
  std::function<void()> news_;

  // Of the thread alone.
  analysis::TopNeeds served_;  // what the last readings were made for
  bool has_ledger_ = false;
  std::unique_ptr<source::VmSource> vm_source_;
  bool asks_guests_ = false;
  analysis::VmHistory vm_history_;
  analysis::TopVmHistory vm_points_;
  uint64_t needs_since_ns_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  analysis::TopNeeds needs_;
  analysis::TopSlow slow_;
  std::atomic<bool> is_stopping_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tidemark::watch
