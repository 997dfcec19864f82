// Makes events of the records of a trace buffer.
//
// An allocation is followed by a record with its stack, which a trigger leaves
// behind it; interrupts may come in between, with allocations and stacks of
// their own. Only threads are told of, so that those of each process are known
// by their creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "parse/ftrace_page.h"
#include "parse/trace_format.h"
#include "source/event_account.h"
#include "source/module_event_reader.h"
#include "source/page_event_reader.h"

namespace tidemark::source {

class FtraceEvents {
 public:
  FtraceEvents() = default;
  // What the kernel says its records look like.
  static base::Result<FtraceEvents> make(const base::Directory& tracefs);

  // Folders of events, as in "kmem/mm_page_free". Those of pages must be asked
  // for in this order: the end of a page is listened for before its beginning.
  std::vector<std::string_view> page_events() const;
  static std::vector<std::string_view> task_events();
  // None on a kernel without modules.
  std::vector<std::string_view> module_events() const;

  bool sees_moves() const { return reader_.sees_moves(); }
  bool sees_all_of_tasks() const;

  // Before the first record. Where every record has a stack behind it, not only
  // those of allocations, stacks of others are passed over.
  void begin(EventAccount& account, size_t source_count, bool all_have_stacks);
  // To be added to the times of records, whose clock may be another.
  void shift_times(int64_t ns) { shift_ns_ = ns; }
  void take_page(size_t source, std::string_view page);
  // Allocations whose stacks found no room count all the same.
  void end();

 private:
  struct TaskLayout {
    uint32_t id = 0;
    PageEvent::Kind kind = PageEvent::Kind::Fork;
    std::optional<parse::TraceField> pid;
    std::optional<parse::TraceField> name;
    std::optional<parse::TraceField> flags;
    std::optional<parse::TraceField> is_last;
  };
  // An allocation whose stack is still to come.
  struct Waiting {
    std::optional<PageEvent> event;  // none: nobody asks for it
    int level = 0;                   // of interrupts on top of each other
  };

  base::Status read_formats(const base::Directory& tracefs);
  void read_task_formats(const base::Directory& tracefs);
  void take(size_t source, const parse::FtraceRecord& record);
  void take_page_event(size_t source, PageEvent::Kind kind,
                       const parse::FtraceRecord& record);
  void take_stack(size_t source, std::string_view record);
  void take_task(size_t source, const TaskLayout& layout,
                 const parse::FtraceRecord& record);
  void take_module(size_t source, PageEvent::Kind kind,
                   const parse::FtraceRecord& record);
  void wait_for_stack(size_t source, std::optional<PageEvent> event,
                      std::string_view record);
  void push_without_stack(size_t source, const Waiting& waiting);
  int level_of(std::string_view record) const;

  PageEventReader reader_;
  ModuleEventReader modules_;
  parse::FtracePageLayout page_layout_;
  parse::TraceFormat stack_;
  parse::TraceField stack_size_;
  parse::TraceField stack_callers_;
  parse::TraceField type_;
  parse::TraceField flags_;
  parse::TraceField thread_;
  std::vector<TaskLayout> tasks_;
  EventAccount* account_ = nullptr;
  bool all_have_stacks_ = false;
  int64_t shift_ns_ = 0;
  std::vector<std::vector<Waiting>> waiting_;  // of each source
};

}  // namespace tidemark::source
