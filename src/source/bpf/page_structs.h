// The kernel's own notes on each page of RAM (bpf/pages.bpf.c): which file or
// slab cache it belongs to, and whether anybody holds it. Read in blocks, as
// they are; everything goes away with this object.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/page_census.h"

namespace tidemark::source {

class PageStructs {
 public:
  // Denied without the rights, Unsupported where the kernel or this build lacks
  // what it takes.
  static base::Result<PageStructs> open();
  PageStructs(PageStructs&&) noexcept;
  PageStructs& operator=(PageStructs&&) noexcept;
  PageStructs(const PageStructs&) = delete;
  PageStructs& operator=(const PageStructs&) = delete;
  ~PageStructs();

  // Of the frames from `first_frame` on, one for each element. Those in a hole
  // stay unknown. `flags` are those of the same pages: free ones are not looked
  // at.
  base::Status read(uint64_t first_frame, std::span<const uint64_t> flags,
                    std::span<model::PageStruct> structs);

  // The bare copy without a look at it: what a benchmark compares with.
  base::Status copy(uint64_t first_frame, uint64_t count);

  base::Result<std::vector<model::CachedFile>> name_files(
      std::span<const uint64_t> addresses);
  base::Result<std::vector<model::SlabCacheName>> name_caches(
      const std::vector<uint64_t>& addresses);
  // Of all tasks that live.
  base::Result<std::vector<model::KernelStack>> kernel_stacks();

 private:
  struct State;
  explicit PageStructs(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::source
