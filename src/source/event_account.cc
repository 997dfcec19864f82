#include "source/event_account.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/page_size.h"
#include "model/trace_builder.h"

namespace tidemark::source {

void EventMerge::push(size_t source, PageEvent event) {
  Source& at = sources_[source];
  at.last_ns = std::max(at.last_ns, event.time_ns);
  event.time_ns = at.last_ns;
  at.events.push_back(event);
}

EventMerge::Turn EventMerge::next_turn() {
  Turn turn;
  uint64_t oldest_ns = UINT64_MAX;
  for (Source& source : sources_) {
    if (source.next == source.events.size()) continue;
    const uint64_t its_ns = source.events[source.next].time_ns;
    if (turn.source && its_ns >= oldest_ns) {
      turn.until_ns = std::min(turn.until_ns, its_ns);
      continue;
    }
    turn.until_ns = oldest_ns;
    turn.source = &source;
    oldest_ns = its_ns;
  }
  return turn;
}

base::Result<std::unique_ptr<EventAccount>> EventAccount::make(
    const Roots& roots, const TraceOptions& options, const Setup& setup) {
  std::vector<std::string> notes;
  base::Result<std::vector<MeantCode>> code =
      find_meant_code(roots, setup.tracing, options.filter.module, notes);
  if (!code) return code.error();
  std::unique_ptr<EventAccount> account(
      new EventAccount(roots, options, setup, std::move(*code)));
  account->notes_ = std::move(notes);
  account->tasks_.meet_all(setup.tells_threads_only);
  return base::Result<std::unique_ptr<EventAccount>>(std::move(account));
}

EventAccount::EventAccount(const Roots& roots, const TraceOptions& options,
                           const Setup& setup, std::vector<MeantCode> code)
    : roots_(roots),
      options_(options),
      tells_threads_only_(setup.tells_threads_only),
      page_size_(base::page_bytes()),
      merge_(setup.source_count),
      modules_(roots),
      stacks_(std::move(code)),
      tasks_(roots, options_.filter),
      pages_(options.sample_period) {}

bool EventAccount::is_asked_for(uint32_t order, uint64_t gfp) const {
  const TraceFilter& filter = options_.filter;
  return order >= filter.least_order && order <= filter.most_order &&
         (gfp & filter.wanted_gfp_bits) == filter.wanted_gfp_bits &&
         (gfp & filter.unwanted_gfp_bits) == 0;
}

std::optional<uint32_t> EventAccount::find_stack(
    std::span<const uint64_t> addresses) {
  const std::optional<uint32_t> stack = stacks_.find(addresses);
  if (!stack) ++stacks_full_;
  return stack;
}

uint32_t EventAccount::keep_name(std::string name) {
  names_[next_name_] = std::move(name);
  return next_name_++;
}

std::string EventAccount::take_name(uint32_t name) {
  const auto at = names_.find(name);
  if (at == names_.end()) return {};
  std::string taken = std::move(at->second);
  names_.erase(at);
  return taken;
}

void EventAccount::push_exec(size_t source, uint64_t time_ns, int32_t pid) {
  PageEvent event;
  event.kind = PageEvent::Kind::Exec;
  event.time_ns = time_ns;
  event.pid = pid;
  event.stack = keep_name(tasks_.command_line_of(pid));
  push(source, event);
}

void EventAccount::push_module(size_t source, PageEvent event,
                               const std::string& name) {
  event.stack = event.kind == PageEvent::Kind::ModuleLoad ? modules_.came(name)
                                                          : modules_.went(name);
  push(source, event);
}

void EventAccount::settle(uint64_t before_ns) {
  modules_.look();
  merge_.take(before_ns, [&](const PageEvent& event) { take(event); });
}

int32_t EventAccount::process_of(int32_t pid) const {
  return tells_threads_only_ ? tasks_.process_of(pid) : pid;
}

void EventAccount::take(const PageEvent& event) {
  switch (event.kind) {
    case PageEvent::Kind::Alloc:
      take_alloc(event);
      return;
    case PageEvent::Kind::Free:
      pages_.free({event.frame, event.order});
      return;
    case PageEvent::Kind::Unmap:
      take_unmap(event);
      return;
    case PageEvent::Kind::Remap:
      take_remap(event);
      return;
    case PageEvent::Kind::ModuleLoad:
      modules_.loaded(event.stack, event.other_pid);
      return;
    case PageEvent::Kind::ModuleFree:
      modules_.unloaded(event.stack);
      return;
    default:
      take_task_event(event);
  }
}

void EventAccount::take_alloc(const PageEvent& event) {
  if (!options_.filter.module.empty() && !stacks_.has_wanted(event.stack)) {
    return;
  }
  const uint32_t task = stacks_.is_interrupt(event.stack)
                            ? tasks_.interrupts()
                            : tasks_.find(process_of(event.pid));
  if (!tasks_.is_wanted(task)) return;
  uint32_t stack = event.stack;
  if (stacks_.is_loading(stack)) {
    stack = stacks_.of_load(
        stack, modules_.load_of(event.other_pid, stacks_.is_init(stack)));
  }
  stacks_.use(stack, modules_.time());
  pages_.alloc({event.frame, event.order}, {stack, task}, event.time_ns);
}

// Those whose process ended on the way are never mapped again.
void EventAccount::take_unmap(const PageEvent& event) {
  constexpr size_t kMost = 65536;
  if (moves_.size() == kMost) {
    unmatched_moves_ += moves_.size();
    moves_.clear();
  }
  moves_[{event.other_pid, event.address}] = event.frame;
}

void EventAccount::take_remap(const PageEvent& event) {
  const auto move = moves_.find({event.other_pid, event.address});
  if (move == moves_.end()) {
    ++unmatched_moves_;
    return;
  }
  pages_.move(move->second, event.frame);
  moves_.erase(move);
}

// The name of a process is its first thread's.
void EventAccount::take_rename(const PageEvent& event) {
  const std::string name = take_name(event.stack);
  if (process_of(event.pid) == event.pid) tasks_.renamed(event.pid, name);
}

void EventAccount::take_task_event(const PageEvent& event) {
  switch (event.kind) {
    case PageEvent::Kind::Thread:
      tasks_.thread_started(event.other_pid, process_of(event.pid));
      return;
    case PageEvent::Kind::Fork:
      tasks_.forked(event.pid, process_of(event.other_pid), event.time_ns);
      return;
    case PageEvent::Kind::Rename:
      take_rename(event);
      return;
    case PageEvent::Kind::Exec:
      tasks_.execed(event.pid, take_name(event.stack));
      return;
    case PageEvent::Kind::Exit:
      if (process_of(event.pid) != event.pid && event.other_pid == 0) return;
      tasks_.exited(process_of(event.pid));
      return;
    default:
      return;
  }
}

void EventAccount::go() {
  started_realtime_ns_ = base::realtime_ns();
  started_ns_ = base::monotonic_ns();
}

void EventAccount::end() {
  if (ended_ns_ == 0) ended_ns_ = base::monotonic_ns();
  settle(UINT64_MAX);
}

PageAccount& EventAccount::hand_over(uint64_t time_ns) {
  settle(time_ns);
  ended_ns_ = time_ns;
  is_handed_over_ = true;
  pages_.keep_peak();
  return pages_;
}

// What was handed over is held on.
uint64_t EventAccount::now_or_end_ns() const {
  return ended_ns_ != 0 && !is_handed_over_ ? ended_ns_ : base::monotonic_ns();
}

void EventAccount::look() {
  pages_.look(now_or_end_ns() - started_ns_);
}

LiveTrace::Height EventAccount::height() const {
  const auto bytes = [&](int64_t pages) {
    return pages > 0 ? static_cast<uint64_t>(pages) * options_.sample_period *
                           page_size_
                     : 0;
  };
  return {bytes(pages_.machine().pages), bytes(pages_.machine().peak_pages)};
}

void EventAccount::fill_head(model::Trace& head, model::TraceBackend backend) {
  head.backend = backend;
  head.started_realtime_ns = started_realtime_ns_;
  head.page_size_bytes = page_size_;
  if (pages_.peak_ns() > started_ns_) {
    head.peak_realtime_ns =
        started_realtime_ns_ + pages_.peak_ns() - started_ns_;
  }
  head.folded_pages =
      static_cast<uint64_t>(std::max<int64_t>(folded_pages_, 0));
  head.faults.lost_events = lost_events_;
  head.faults.unmatched_migrations = unmatched_moves_;
  head.faults.table_full += stacks_full_;
  head.notes = notes_;
  modules_.add_losses(head.notes);
}

model::Trace EventAccount::read(model::TraceBackend backend) {
  std::vector<bool> used_stacks;
  std::vector<bool> used_tasks;
  const auto use = [](std::vector<bool>& used, uint32_t index) {
    if (used.size() <= index) used.resize(index + 1);
    used[index] = true;
  };
  for (const PageAccount::Node& node : pages_.nodes()) {
    use(used_stacks, node.owner.stack);
    use(used_tasks, node.owner.task);
  }
  model::TraceBuilder builder;
  const std::vector<uint32_t> stack_of = stacks_.build(
      roots_, used_stacks,
      ended_ns_ != 0 ? FrameNames::Patience::None : FrameNames::Patience::Some,
      modules_, builder, notes_);
  const std::vector<uint32_t> task_of = tasks_.build(used_tasks, builder);
  const uint64_t now_ns = now_or_end_ns();
  pages_.build({stack_of, task_of}, now_ns, builder);
  fill_head(builder.head(), backend);
  builder.head().elapsed_ns = now_ns - started_ns_;
  return builder.finish();
}

}  // namespace tidemark::source
