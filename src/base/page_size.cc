#include "base/page_size.h"

#include <unistd.h>

namespace tidemark::base {

uint64_t page_bytes() {
  static const auto kBytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return kBytes;
}

}  // namespace tidemark::base
