#include "source/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace tidemark::source {

void allow_descriptors(size_t more) {
  constexpr size_t kOthers = 128;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t needed = more + kOthers;
  if (limit.rlim_cur >= needed) return;
  const rlim_t most = limit.rlim_max;
  limit.rlim_cur = needed;
  limit.rlim_max = std::max(most, needed);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  limit.rlim_cur = limit.rlim_max = most;  // what we may without rights
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace tidemark::source
