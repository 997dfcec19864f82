// The kernel's events through perf: one ring for each CPU so that their order
// is kept, with the time so that those of several CPUs can be put in order, and
// a second one for what must be looked at as soon as it happens.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "source/event_account.h"
#include "source/live_trace.h"
#include "source/module_event_reader.h"
#include "source/page_event_reader.h"
#include "source/perf_ring.h"
#include "source/roots.h"

namespace tidemark::source {

class PerfFeeds {
 public:
  using Kind = PageEvent::Kind;
  enum class Which : uint8_t { Urgent, Others };

  struct OpenEvent {
    base::Fd fd;
    uint64_t id = 0;  // stands in each of its records
    Kind kind = Kind::Alloc;
  };
  // What comes through one ring, all of it in order.
  struct Feed {
    std::vector<OpenEvent> events;  // the first one owns the ring
    std::optional<PerfRing> ring;
    Which which = Which::Others;
  };

  // All of them, still silent.
  base::Status open(const Roots& roots, const TraceOptions& options);
  // The end of a page is listened for before its beginning.
  void enable() const;
  void disable() const;

  size_t count() const { return feeds_.size(); }
  // The kind of the event that a record is of; empty: of none of the feed's.
  std::optional<Kind> kind_of(size_t feed, uint64_t event_id) const;
  // Hands over the bytes of each record that is there now, as (feed, bytes).
  template <typename Visit>
  void drain(Which which, Visit visit);

  const PageEventReader& reader() const { return reader_; }
  const ModuleEventReader& modules() const { return modules_; }
  bool tells_execs() const { return exec_event_id_ != 0; }
  // Can be read when a ring should be drained.
  int wake_fd() const { return wake_.get(); }
  uint64_t kernel_bytes() const { return cpu_count_ * ring_bytes_; }
  // What was lost since the last record that found room is told by no record,
  // only by a count that kernels before 6.0 do not keep.
  uint64_t lost_events() const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  base::Status read_formats(const Roots& roots);
  perf_event_attr attributes_of(Kind kind) const;
  base::Status open_all(const TraceOptions& options);
  base::Status open_cpu(int number);
  base::Status open_feed(int number, Which which);
  base::Result<OpenEvent> open_event(Kind kind, int cpu);
  static base::Status share_ring(Feed& feed, size_t bytes);
  uint32_t id_of(Kind kind) const;
  base::Status set_filters(const TraceOptions& options) const;
  base::Status watch_rings();

  PageEventReader reader_;
  ModuleEventReader modules_;
  size_t ring_bytes_ = 0;
  bool counts_lost_ = true;
  std::vector<Feed> feeds_;
  uint32_t exec_event_id_ = 0;  // 0: not there
  size_t cpu_count_ = 0;
  std::vector<std::string> notes_;
  base::Fd wake_;
};

template <typename Visit>
void PerfFeeds::drain(Which which, Visit visit) {
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (feeds_[i].which != which) continue;
    feeds_[i].ring->drain([&](std::string_view bytes) { visit(i, bytes); });
  }
}

}  // namespace tidemark::source
