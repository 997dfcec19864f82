// What every means does that is told of events one by one: puts those of all
// CPUs in order, finds out whose they are, and books them.
//
// Each CPU tells in order, and late; between CPUs only the time decides. An
// event is therefore held back until no CPU can have an older one to tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "source/event_modules.h"
#include "source/live_trace.h"
#include "source/page_account.h"
#include "source/roots.h"
#include "source/trace_stacks.h"
#include "source/trace_tasks.h"

namespace tidemark::source {

struct PageEvent {
  enum class Kind : uint8_t {
    Alloc,
    Free,
    Unmap,  // a page that moves: the frame it has
    Remap,  // the one it has from then on
    Thread,
    Fork,
    Rename,
    Exec,
    Exit,
    ModuleLoad,
    ModuleFree,
  };
  uint64_t time_ns = 0;  // monotonic
  uint64_t frame = 0;
  uint64_t address = 0;  // Unmap, Remap: where it is mapped
  // The process; of Thread, Fork, Rename and Exec the one that is told of.
  int32_t pid = 0;
  // Fork: the parent; Thread, ModuleLoad, ModuleFree and Alloc: the thread;
  // Unmap, Remap: the thread that moves; Exit: not 0 when it was the last
  // thread.
  int32_t other_pid = 0;
  // Alloc: the stack; Rename, Exec: the name; ModuleLoad, ModuleFree: the
  // number of its stay.
  uint32_t stack = 0;
  uint8_t order = 0;
  Kind kind = Kind::Free;
};

// Events of several sources, each in order, as one.
class EventMerge {
 public:
  explicit EventMerge(size_t source_count) : sources_(source_count) {}

  // An event that seems older than the one before it is taken to be as old:
  // the order in which a CPU tells is right.
  void push(size_t source, PageEvent event);

  // Hands over all that are older than `before_ns`.
  template <typename Take>
  void take(uint64_t before_ns, Take take);

 private:
  struct Source {
    std::vector<PageEvent> events;
    size_t next = 0;
    uint64_t last_ns = 0;
  };
  // The source with the oldest event, none when all are taken; it stays the
  // one until the oldest of the others.
  struct Turn {
    Source* source = nullptr;
    uint64_t until_ns = UINT64_MAX;
  };
  Turn next_turn();
  std::vector<Source> sources_;
};

template <typename Take>
void EventMerge::take(uint64_t before_ns, Take take) {
  while (true) {
    const Turn turn = next_turn();
    if (!turn.source) break;
    Source& source = *turn.source;
    if (source.events[source.next].time_ns >= before_ns) break;
    do {
      take(source.events[source.next++]);
    } while (source.next < source.events.size() &&
             source.events[source.next].time_ns <
                 std::min(turn.until_ns, before_ns));
  }
  for (Source& source : sources_) {
    source.events.erase(
        source.events.begin(),
        source.events.begin() + static_cast<ptrdiff_t>(source.next));
    source.next = 0;
  }
}

class EventAccount {
 public:
  // How long after it happened an event may still be missing from its ring: a
  // virtual CPU can be taken away while it writes one.
  static constexpr uint64_t kLatestNs = 50'000'000;

  struct Setup {
    size_t source_count = 1;
    // Functions of the kernel that trace and stand on top of stacks.
    std::span<const std::string_view> tracing;
    bool tells_threads_only = false;  // and not which process they are of
  };
  // The roots must outlive it.
  static base::Result<std::unique_ptr<EventAccount>> make(
      const Roots& roots, const TraceOptions& options, const Setup& setup);

  // --- while events are read ---
  bool is_asked_for(uint32_t order, uint64_t gfp) const;
  bool is_followed(PageBlock block) const { return pages_.is_followed(block); }
  // Empty when no entry is left, which is counted.
  std::optional<uint32_t> find_stack(std::span<const uint64_t> addresses);
  uint32_t keep_name(std::string name);
  // Reads the arguments at once: it may have ended when its turn comes.
  void push_exec(size_t source, uint64_t time_ns, int32_t pid);
  // Has an eye on modules from here on, which takes some 100 ms.
  void follow_modules() { modules_.begin(notes_); }
  // `event` with its kind, time and thread.
  void push_module(size_t source, PageEvent event, const std::string& name);
  // As soon as it may be: what one that comes calls its functions of init is
  // soon forgotten.
  void look_at_modules() { modules_.look(); }
  void push(size_t source, const PageEvent& event) {
    const bool tells_of_before = source >= first_source_before_;
    const bool is_before = event.time_ns < part_ns_;
    if (tells_of_before == is_before) merge_.push(source, event);
  }
  // Nothing older than this is still to come.
  void settle(uint64_t before_ns);

  // --- the rest of a LiveTrace ---
  void go();
  void end();  // what is not settled yet is
  // What was booked before that time; later events are another's to tell.
  PageAccount& hand_over(uint64_t time_ns);
  // Sources from `first_source` on tell of what was before that time, the
  // others of what was since: what both have seen is told once.
  void part(size_t first_source, uint64_t time_ns) {
    first_source_before_ = first_source;
    part_ns_ = time_ns;
  }
  // What is held now was there when the trace began.
  void keep_folded_pages() { folded_pages_ = pages_.machine().pages; }
  void look();
  LiveTrace::Height height() const;
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  void count_lost(uint64_t events) { lost_events_ += events; }
  uint64_t started_ns() const { return started_ns_; }
  model::Trace read(model::TraceBackend backend);

 private:
  EventAccount(const Roots& roots, const TraceOptions& options,
               const Setup& setup, std::vector<MeantCode> code);
  void take(const PageEvent& event);
  void take_alloc(const PageEvent& event);
  void take_task_event(const PageEvent& event);
  void take_unmap(const PageEvent& event);
  void take_remap(const PageEvent& event);
  void take_rename(const PageEvent& event);
  int32_t process_of(int32_t pid) const;
  std::string take_name(uint32_t name);
  uint64_t now_or_end_ns() const;
  void fill_head(model::Trace& head, model::TraceBackend backend);

  const Roots& roots_;
  TraceOptions options_;
  bool tells_threads_only_;
  uint64_t page_size_ = 4096;
  EventMerge merge_;
  EventModules modules_;
  TraceStacks stacks_;
  TraceTasks tasks_;
  PageAccount pages_;
  std::unordered_map<uint32_t, std::string> names_;  // of events to come
  uint32_t next_name_ = 0;
  // Pages on their way: by thread and address.
  std::map<std::pair<int32_t, uint64_t>, uint64_t> moves_;
  uint64_t unmatched_moves_ = 0;
  uint64_t stacks_full_ = 0;
  uint64_t lost_events_ = 0;
  uint64_t started_realtime_ns_ = 0;
  uint64_t started_ns_ = 0;
  uint64_t ended_ns_ = 0;
  size_t first_source_before_ = SIZE_MAX;
  uint64_t part_ns_ = 0;
  int64_t folded_pages_ = 0;
  bool is_handed_over_ = false;
  std::vector<std::string> notes_;
};

}  // namespace tidemark::source
