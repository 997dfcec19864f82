// Page allocations from before the first process, as the kernel keeps them in
// its own trace buffer when its command line says so:
//
//   trace_event=kmem:mm_page_alloc,kmem:mm_page_free trace_options=stacktrace
//   trace_clock=mono trace_buf_size=8M
//
// They are taken out once, when a trace of ours begins, and the buffer is given
// back. Without trace_clock=mono times are converted, which is good to some
// microseconds: what happened in just those is told twice or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "source/event_account.h"
#include "source/ftrace_events.h"
#include "source/roots.h"

namespace tidemark::source {

class BootRing {
 public:
  // Empty where the command line asks for none: a buffer that somebody uses now
  // is theirs.
  static std::optional<BootRing> find(const Roots& roots);

  size_t cpu_count() const { return cpus_.size(); }
  // Stops it, books what is in it and shrinks it. Our own events are on by now;
  // those before this moment are taken from here, those after it from there.
  // Uses the account's sources from `first_source` on. That may take a second,
  // so `meanwhile` is called to take what comes in.
  void fold_into(EventAccount& account, size_t first_source,
                 const std::function<void()>& meanwhile);

 private:
  explicit BootRing(base::Directory tracefs) : tracefs_(std::move(tracefs)) {}
  base::Status write(const std::string& file, std::string_view text) const;
  int64_t clock_shift_ns() const;
  uint64_t lost_events() const;
  void read_cpu(const std::string& cpu, size_t source,
                const std::function<void()>& meanwhile);

  base::Directory tracefs_;
  FtraceEvents events_;
  std::vector<std::string> cpus_;  // "cpu0"
};

// Events that a buffer had no room for, of all the CPUs below `per_cpu`.
uint64_t count_lost_events(const base::Directory& buffer,
                           const std::vector<std::string>& cpus);

}  // namespace tidemark::source
