// Follows all page allocations in the kernel (bpf/trace.bpf.c), where they are
// counted by stack and task. Nothing of ours runs while it does; everything
// goes away with this object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/trace.h"
#include "source/roots.h"

namespace tidemark::source {

// What is left out is never seen: it is left out in the kernel.
struct PageTraceFilter {
  std::optional<int32_t> tree_pid;  // and its descendants
  std::string comm;
  std::optional<uint64_t> cgroup_id;
  uint32_t least_order = 0;
  uint32_t most_order = 64;
  uint32_t wanted_gfp_bits = 0;
  uint32_t unwanted_gfp_bits = 0;
  std::string module;  // with code of it on the stack
};

struct PageTraceOptions {
  PageTraceFilter filter;
  uint64_t sample_period = 1;  // one page frame in so many; a power of two
  // Unwind every stack instead of knowing most again by their return addresses.
  bool unwinds_all = false;
};

class PageTrace {
 public:
  // Denied without the rights, Unsupported where the kernel or this build lacks
  // what it takes. Counting begins with go().
  static base::Result<PageTrace> prepare(const Roots& roots,
                                         const PageTraceOptions& options);
  PageTrace(PageTrace&&) noexcept;
  PageTrace& operator=(PageTrace&&) noexcept;
  PageTrace(const PageTrace&) = delete;
  PageTrace& operator=(const PageTrace&) = delete;
  ~PageTrace();

  void go();
  // Nothing is counted from here on; numbers read later agree with each other.
  void freeze();

  // Takes note of what each leaf holds, so that what only rises can be told.
  void look();

  struct Height {
    uint64_t bytes = 0;
    uint64_t peak_bytes = 0;
  };
  Height height() const;
  // What the tables take in the kernel.
  uint64_t kernel_bytes() const;

  base::Result<model::Trace> read(const Roots& roots);

 private:
  struct State;
  explicit PageTrace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::source
