// The processes that a filter means: the same in every view.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/process_filter.h"
#include "analysis/top_snapshot.h"
#include "base/result.h"
#include "model/process.h"
#include "model/trace.h"

namespace tidemark::view::tui {

class ProcessChoice {
 public:
  // As typed; Misused, with what would be right, for what is no filter.
  static base::Result<ProcessChoice> make(const std::string& text);

  // Whom it means of these.
  void look_at(const analysis::TopSnapshot& snapshot);

  const std::string& text() const { return text_; }
  // Sorted by pid.
  const std::vector<model::ProcessId>& processes() const { return processes_; }
  bool has(int32_t pid) const;
  // Of one that may have ended, or was never read: then its name, its command
  // and its control group tell.
  bool has_task(const model::TraceTask& task) const;

 private:
  std::string text_;
  analysis::ProcessFilter filter_;
  std::vector<model::ProcessId> processes_;
  std::vector<int32_t> read_pids_;  // sorted
};

}  // namespace tidemark::view::tui
