#include "watch/cpu_lists.h"

#include <algorithm>
#include <optional>

#include "source/machine_reader.h"

namespace tidemark::watch {

void CpuLists::look() {
  const std::optional<model::ZoneInfo> now = source::read_zoneinfo(roots_);
  if (!now) return;
  const uint64_t pages = now->per_cpu_free_pages;
  least_pages_ = looks_ == 0 ? pages : std::min(least_pages_, pages);
  most_pages_ = std::max(most_pages_, pages);
  sum_pages_ += pages;
  ++looks_;
}

}  // namespace tidemark::watch
