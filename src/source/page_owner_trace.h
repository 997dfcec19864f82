// Makes a trace of page_owner's records or of its sums by stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_map.h"
#include "model/page_owner.h"
#include "model/trace.h"
#include "model/trace_builder.h"
#include "parse/page_owner.h"

namespace tidemark::source {

struct PageOwnerTrace {
  model::Trace trace;
  model::PageOwnerTotals totals;  // of what was selected
};

// Stacks and tasks are looked up by their whole text: of a million records most
// have ones that were met before.
class PageOwnerTraceMaker {
 public:
  explicit PageOwnerTraceMaker(uint64_t realtime_ns);

  void add(const model::PageOwnerRecord& record);
  void add(const model::PageOwnerStack& stack);
  void note(std::string text);

  const model::PageOwnerTotals& totals() const { return totals_; }

  PageOwnerTrace finish(const parse::PageOwnerFaults& faults);

 private:
  struct Stack {
    uint32_t index = 0;
    model::StackTraits traits;
  };

  const Stack& stack_of(std::string_view text);
  uint32_t task_of(const model::PageOwnerRecord& record);
  model::TraceLeaf& hold(uint32_t stack, uint32_t task, uint64_t pages);
  void turn_times_into_ages(model::Trace& trace) const;
  void add_page_notes();
  void add_fault_notes();

  model::TraceBuilder builder_;
  base::TextMap<Stack> stacks_;
  base::TextMap<uint32_t> tasks_;
  std::vector<uint32_t> frames_;  // of the stack being made
  std::string task_key_;
  model::PageOwnerTotals totals_;
  bool counts_blocks_ = false;
  uint64_t newest_ns_ = 0;      // since boot
  bool has_cut_stack_ = false;  // one as long as the kernel lets it be
};

}  // namespace tidemark::source
