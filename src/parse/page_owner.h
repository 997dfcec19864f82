// Parses dumps of /sys/kernel/debug/page_owner and the files of
// page_owner_stacks.
//
// A dump is hundreds of megabytes of few distinct stacks. So a record keeps its
// stack as one view of the text, whoever reads it looks the whole stack up, and
// frames are taken apart only for stacks that were not met before.
//
// Forms since 4.10 are read: with and without pid, tgid, comm, times and names
// of flags, PFN decimal or hexadecimal. Dumps are kept in files, mailed and
// cut, so nothing in one is an error: what cannot be read is counted and left
// out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "model/page_owner.h"

namespace tidemark::parse {

using PageOwnerVisitor = std::function<void(const model::PageOwnerRecord&)>;

// What of a dump was not read.
struct PageOwnerFaults {
  uint64_t broken_records = 0;  // begun, but cut off or unreadable
  uint64_t stray_lines = 0;     // that belong to no record
  bool operator==(const PageOwnerFaults&) const = default;
};

class PageOwnerParser {
 public:
  // Longer records are broken: the kernel makes them in one page.
  static constexpr size_t kLongestRecordBytes = size_t{64} << 10;

  // Takes whole records off the front of `text` and visits each. Returns how
  // many bytes were taken; the caller keeps the rest and calls again with more
  // behind it. Little more than kLongestRecordBytes are ever left. With
  // `at_end` everything is taken; a last line without its newline is then
  // a cut.
  size_t parse(std::string_view text, bool at_end,
               const PageOwnerVisitor& visit);

  const PageOwnerFaults& faults() const { return faults_; }

 private:
  bool take_record(std::string_view& rest, bool at_end,
                   const PageOwnerVisitor& visit);
  bool take_stray_line(std::string_view& rest, bool at_end);
  bool give_up_record(std::string_view& rest, bool at_end);

  model::PageOwnerRecord record_;
  PageOwnerFaults faults_;
  // The line at the front began in an earlier text and was counted there.
  bool is_within_line_ = false;
  // The lines at the front belong to a record that was given up.
  bool is_within_broken_ = false;
};

// One line of a stack, with or without its leading blank.
struct StackFrame {
  std::string_view symbol;  // empty: only an address was known
  uint64_t address = 0;     // 0: only the symbol is told
  uint64_t offset = 0;
  std::string_view module;  // empty: the kernel's image
  bool operator==(const StackFrame&) const = default;
};
StackFrame parse_stack_frame(std::string_view line);

// Takes the next frame's line off a stack; empty when there is none.
std::optional<StackFrame> take_stack_frame(std::string_view& stack);

// show_stacks, show_stacks_handles and show_handles, whole: they hold a line
// for each frame of each distinct stack, some hundred kilobytes.
PageOwnerFaults parse_page_owner_stacks(
    std::string_view text,
    const std::function<void(const model::PageOwnerStack&)>& visit);

}  // namespace tidemark::parse
