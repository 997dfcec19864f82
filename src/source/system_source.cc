#include "source/system_source.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "source/kernel_files.h"
#include "source/machine_reader.h"

namespace tidemark::source {

SystemSource::SystemSource(const Roots& roots)
    : roots_(roots), cgroups_(CgroupHierarchy::find(roots)) {}

base::Status SystemSource::collect(model::Sample& sample) {
  sample = {};
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.reader_is_root = ::geteuid() == 0;
  model::KernelReadings kernel;
  // What allocates while it is read comes before meminfo, and what must agree
  // with it right behind. Reading the two again until free memory stood still
  // was tried and is worth nothing: of 252 readings that were off by more than
  // 3 MiB while compilers ran, it stood still in 243. What is missing then are
  // pages of an exiting process, which are in no counter until they are freed.
  kernel.iomem = read_iomem(roots_);
  kernel.vmalloc = read_vmallocinfo(roots_);
  kernel.slab = read_slabinfo(roots_);
  kernel.sockets = read_sockstat(roots_);
  base::Result<model::Machine> machine = read_machine(roots_, cgroups_);
  if (!machine) return machine.error();
  kernel.counters = read_page_counters(roots_);
  read_pressure(roots_, *machine);
  sample.machine = std::move(*machine);
  sample.kernel = std::move(kernel);
  sample.ended_monotonic_ns = base::monotonic_ns();
  return base::Ok{};
}

}  // namespace tidemark::source
