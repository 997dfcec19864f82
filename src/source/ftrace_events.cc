#include "source/ftrace_events.h"

#include <sched.h>

#include <array>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "parse/bytes.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

using Kind = PageEvent::Kind;

// What is told of tasks; a kernel without one of them costs names.
struct TaskEvent {
  const char* name;
  Kind kind;
};
constexpr TaskEvent kTaskEvents[] = {
    {"task/task_newtask", Kind::Fork},
    {"task/task_rename", Kind::Rename},
    {"sched/sched_process_exec", Kind::Exec},
    {"sched/sched_process_exit", Kind::Exit},
};
struct PageEventName {
  const char* name;
  Kind kind;
};
constexpr PageEventName kPageEvents[] = {
    {"kmem/mm_page_free", Kind::Free},
    {"migrate/remove_migration_pte", Kind::Remap},
    {"migrate/set_migration_pte", Kind::Unmap},
    {"kmem/mm_page_alloc", Kind::Alloc},
};

std::optional<parse::TraceField> field_of(const parse::TraceFormat& format,
                                          const char* name) {
  const parse::TraceField* field = format.find(name);
  if (!field) return std::nullopt;
  return *field;
}

}  // namespace

base::Result<FtraceEvents> FtraceEvents::make(const base::Directory& tracefs) {
  FtraceEvents events;
  base::Status status = events.read_formats(tracefs);
  if (!status) return status.error();
  return events;
}

std::vector<std::string_view> FtraceEvents::page_events() const {
  std::vector<std::string_view> names;
  for (const PageEventName& event : kPageEvents) {
    if (reader_.event_id(event.kind) != 0) names.emplace_back(event.name);
  }
  return names;
}

std::vector<std::string_view> FtraceEvents::task_events() {
  std::vector<std::string_view> names;
  for (const TaskEvent& event : kTaskEvents)
    names.emplace_back(event.name);
  return names;
}

std::vector<std::string_view> FtraceEvents::module_events() const {
  if (!modules_.sees_modules()) return {};
  return {ModuleEventReader::kLoad, ModuleEventReader::kFree};
}

bool FtraceEvents::sees_all_of_tasks() const {
  return tasks_.size() == std::size(kTaskEvents);
}

base::Status FtraceEvents::read_formats(const base::Directory& tracefs) {
  base::Result<PageEventReader> reader = PageEventReader::make(tracefs);
  if (!reader) return reader.error();
  reader_ = std::move(*reader);
  modules_ = ModuleEventReader::make(tracefs);
  base::Result<std::string> header =
      base::read_file_at(tracefs, "events/header_page");
  if (!header) return header.error();
  base::Result<parse::FtracePageLayout> layout =
      parse::parse_ftrace_page_layout(*header);
  if (!layout) return layout.error();
  page_layout_ = *layout;
  base::Result<parse::TraceFormat> stack =
      read_trace_format(tracefs, "ftrace/kernel_stack");
  if (!stack) return stack.error();
  stack_ = std::move(*stack);
  const std::pair<const char*, parse::TraceField*> wanted[] = {
      {"common_type", &type_},     {"common_flags", &flags_},
      {"common_pid", &thread_},    {"size", &stack_size_},
      {"caller", &stack_callers_},
  };
  for (const auto& [name, target] : wanted) {
    const parse::TraceField* field = stack_.find(name);
    if (!field) {
      return base::fail(base::ErrorKind::Unsupported,
                        "this kernel's traces have no " + std::string(name));
    }
    *target = *field;
  }
  read_task_formats(tracefs);
  return base::Ok{};
}

void FtraceEvents::read_task_formats(const base::Directory& tracefs) {
  for (const TaskEvent& event : kTaskEvents) {
    base::Result<parse::TraceFormat> format =
        read_trace_format(tracefs, event.name);
    if (!format) continue;
    TaskLayout& layout = tasks_.emplace_back();
    layout.id = format->id;
    layout.kind = event.kind;
    layout.pid = field_of(*format, "pid");
    layout.name = field_of(*format, "newcomm");
    layout.flags = field_of(*format, "clone_flags");
    layout.is_last = field_of(*format, "group_dead");
  }
}

void FtraceEvents::begin(EventAccount& account, size_t source_count,
                         bool all_have_stacks) {
  account_ = &account;
  all_have_stacks_ = all_have_stacks;
  waiting_.resize(source_count);
}

int FtraceEvents::level_of(std::string_view record) const {
  constexpr uint64_t kHardInterrupt = 0x08;
  constexpr uint64_t kSoftInterrupt = 0x10;
  constexpr uint64_t kNotMaskable = 0x40;
  const uint64_t flags = parse::read_field(record, flags_).value_or(0);
  if (flags & kNotMaskable) return 3;
  if (flags & kHardInterrupt) return 2;
  return flags & kSoftInterrupt ? 1 : 0;
}

// Its stack found no room: the pages count all the same.
void FtraceEvents::push_without_stack(size_t source, const Waiting& waiting) {
  if (!waiting.event || waiting.event->kind != Kind::Alloc) return;
  PageEvent event = *waiting.event;
  const std::optional<uint32_t> none = account_->find_stack({});
  if (!none) return;
  event.stack = *none;
  account_->push(source, event);
}

void FtraceEvents::wait_for_stack(size_t source, std::optional<PageEvent> event,
                                  std::string_view record) {
  std::vector<Waiting>& waiting = waiting_[source];
  const int level = level_of(record);
  // Whoever goes on at this level has done with all above it.
  while (!waiting.empty() && waiting.back().level >= level) {
    push_without_stack(source, waiting.back());
    waiting.pop_back();
  }
  waiting.push_back({event, level});
}

void FtraceEvents::take_stack(size_t source, std::string_view record) {
  std::vector<Waiting>& waiting = waiting_[source];
  if (waiting.empty()) return;
  const Waiting owner = waiting.back();
  waiting.pop_back();
  if (!owner.event) return;
  const uint64_t size = parse::read_field(record, stack_size_).value_or(0);
  std::array<uint64_t, kMostFrames> frames{};
  size_t count = 0;
  while (count < size && count < frames.size()) {
    const std::optional<uint64_t> address = parse::read_at<uint64_t>(
        record, stack_callers_.offset + count * sizeof(uint64_t));
    // Older kernels have one of these behind the last.
    if (!address || *address == ~uint64_t{0}) break;
    frames[count++] = *address;
  }
  PageEvent event = *owner.event;
  const std::optional<uint32_t> stack =
      account_->find_stack(std::span(frames).first(count));
  if (!stack) return;
  event.stack = *stack;
  account_->push(source, event);
}

void FtraceEvents::take_page_event(size_t source, Kind kind,
                                   const parse::FtraceRecord& record) {
  std::optional<PageEvent> event = reader_.read(kind, record.data, *account_);
  if (event) event->time_ns = record.time_ns;
  if (kind == Kind::Alloc) return wait_for_stack(source, event, record.data);
  if (event) account_->push(source, *event);
  if (all_have_stacks_) wait_for_stack(source, std::nullopt, record.data);
}

void FtraceEvents::take_task(size_t source, const TaskLayout& layout,
                             const parse::FtraceRecord& record) {
  const auto number = [&](const std::optional<parse::TraceField>& field) {
    return field ? parse::read_field(record.data, *field) : std::nullopt;
  };
  const auto actor =
      static_cast<int32_t>(parse::read_field(record.data, thread_).value_or(0));
  PageEvent event;
  event.kind = layout.kind;
  event.time_ns = record.time_ns;
  event.pid = static_cast<int32_t>(
      number(layout.pid).value_or(static_cast<uint32_t>(actor)));
  if (layout.kind == Kind::Fork) {
    const bool is_thread =
        (number(layout.flags).value_or(0) & CLONE_THREAD) != 0;
    event.other_pid = actor;
    if (is_thread) {
      event.kind = Kind::Thread;
      std::swap(event.pid, event.other_pid);
    }
  }
  if (layout.kind == Kind::Exec) {
    return account_->push_exec(source, event.time_ns, event.pid);
  }
  if (layout.kind == Kind::Rename && layout.name) {
    event.stack = account_->keep_name(
        std::string(parse::read_text_field(record.data, *layout.name)));
  }
  if (layout.kind == Kind::Exit) {
    const std::optional<uint64_t> is_last = number(layout.is_last);
    if (is_last && *is_last == 0) return;
    event.other_pid = is_last ? 1 : 0;
  }
  account_->push(source, event);
}

void FtraceEvents::take_module(size_t source, Kind kind,
                               const parse::FtraceRecord& record) {
  PageEvent event;
  event.kind = kind;
  event.time_ns = record.time_ns;
  event.other_pid =
      static_cast<int32_t>(parse::read_field(record.data, thread_).value_or(0));
  account_->push_module(source, event, modules_.name_in(kind, record.data));
  if (all_have_stacks_) wait_for_stack(source, std::nullopt, record.data);
}

void FtraceEvents::take(size_t source, const parse::FtraceRecord& record) {
  const std::optional<uint64_t> id = parse::read_field(record.data, type_);
  if (!id) return;
  if (*id == stack_.id) return take_stack(source, record.data);
  for (const PageEventName& event : kPageEvents) {
    if (reader_.event_id(event.kind) == *id) {
      return take_page_event(source, event.kind, record);
    }
  }
  for (Kind kind : {Kind::ModuleLoad, Kind::ModuleFree}) {
    if (modules_.event_id(kind) == *id) {
      return take_module(source, kind, record);
    }
  }
  for (const TaskLayout& layout : tasks_) {
    if (layout.id != *id) continue;
    take_task(source, layout, record);
    if (all_have_stacks_) wait_for_stack(source, std::nullopt, record.data);
    return;
  }
}

void FtraceEvents::take_page(size_t source, std::string_view bytes) {
  parse::FtracePage page(bytes, page_layout_);
  parse::FtraceRecord record;
  while (page.next(record)) {
    record.time_ns += static_cast<uint64_t>(shift_ns_);
    take(source, record);
  }
}

void FtraceEvents::end() {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    for (const Waiting& waiting : waiting_[i])
      push_without_stack(i, waiting);
    waiting_[i].clear();
  }
}

}  // namespace tidemark::source
