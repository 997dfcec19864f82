// Which frames of RAM a process maps: PAGEMAP_SCAN finds what is present, then
// /proc/PID/pagemap tells the frames. The page of zeros is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace tidemark::source {

class FrameWalk {
 public:
  using Visitor = std::function<void(std::span<const uint64_t> frames)>;
  // Each present page's frame, a page mapped twice twice. `process` is its
  // directory in /proc. Denied without CAP_SYS_ADMIN (frames are hidden then),
  // Gone when it ended, and for kernel threads.
  base::Status walk(const base::Directory& process, const Visitor& visit);

 private:
  base::Status find_present(int pagemap);
  base::Status find_mapped(const base::Directory& process);
  base::Status read_frames(int pagemap, uint64_t first_page, uint64_t last_page,
                           const Visitor& visit);

  struct Pages {
    uint64_t first = 0;
    uint64_t last = 0;  // excluded
  };
  std::vector<Pages> present_;
  std::vector<uint64_t> entries_;
  std::string maps_;
  bool has_scan_ = true;
};

}  // namespace tidemark::source
