#include "source/system_source.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "source/kernel_files.h"
#include "source/machine_reader.h"

namespace tidemark::source {

SystemSource::SystemSource(const Roots& roots)
    : roots_(roots), cgroups_(CgroupHierarchy::find(roots)) {}

// The lists of the processors are in zoneinfo, everything else in meminfo. A
// compiler that starts between the two readings moved 40 MiB out of the sum, so
// they are read again until free memory stood still, or some times.
base::Result<model::Machine> SystemSource::read_at_rest() const {
  constexpr int kAttempts = 4;
  constexpr uint64_t kStill = uint64_t{1} << 20;
  base::Result<model::Machine> calmest = read_machine(roots_, cgroups_);
  uint64_t least = UINT64_MAX;
  base::Result<model::Machine> current = calmest;
  for (int i = 0; calmest && current && i < kAttempts && least > kStill; ++i) {
    base::Result<model::Machine> after = read_machine(roots_, cgroups_);
    if (!after) break;
    const uint64_t a = current->meminfo.free_bytes.value_or(0);
    const uint64_t b = after->meminfo.free_bytes.value_or(0);
    const uint64_t moved = a > b ? a - b : b - a;
    if (moved < least) {
      least = moved;
      calmest = current;
    }
    current = after;
  }
  return calmest;
}

base::Status SystemSource::collect(model::Sample& sample) {
  sample = {};
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.reader_is_root = ::geteuid() == 0;
  model::KernelReadings kernel;
  // What allocates while it is read comes before meminfo, and what must agree
  // with it right behind: memory moves on between two files.
  kernel.iomem = read_iomem(roots_);
  kernel.vmalloc = read_vmallocinfo(roots_);
  kernel.slab = read_slabinfo(roots_);
  kernel.sockets = read_sockstat(roots_);
  base::Result<model::Machine> machine = read_at_rest();
  if (!machine) return machine.error();
  kernel.counters = read_page_counters(roots_);
  read_pressure(roots_, *machine);
  sample.machine = std::move(*machine);
  sample.kernel = std::move(kernel);
  sample.ended_monotonic_ns = base::monotonic_ns();
  return base::Ok{};
}

}  // namespace tidemark::source
