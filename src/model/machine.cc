#include "model/machine.h"

namespace tidemark::model {

uint64_t kernel_bytes(const GroupStat& stat) {
  const uint64_t sockets = stat.socket_bytes.value_or(0);
  if (stat.kernel_bytes) return *stat.kernel_bytes + sockets;
  // v2 tells the sum since 5.18.
  uint64_t sum = sockets;
  for (const std::optional<uint64_t>& part :
       {stat.slab_bytes, stat.page_tables_bytes, stat.kernel_stack_bytes,
        stat.percpu_bytes, stat.vmalloc_bytes}) {
    sum += part.value_or(0);
  }
  return sum;
}

}  // namespace tidemark::model
