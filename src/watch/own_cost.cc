#include "watch/own_cost.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/page_size.h"
#include "source/process_source.h"

namespace tidemark::watch {

void OwnCost::add_to(const source::Roots& roots,
                     analysis::TopSnapshot& snapshot) {
  const uint64_t now = base::monotonic_ns();
  const uint64_t cpu = base::own_cpu_ns();
  if (time_ns_ != 0 && now > time_ns_) {
    snapshot.own_cpu_millionths =
        (cpu - cpu_ns_) * 1'000'000 / (now - time_ns_);
  }
  time_ns_ = now;
  cpu_ns_ = cpu;
  if (!roots.is_live) return;
  const source::CgroupHierarchy no_cgroups;
  source::ProcessReader reader(roots, no_cgroups, {});
  const base::Result<model::Statm> own = reader.read_statm(::getpid());
  if (own) snapshot.own_bytes = own->resident_pages * base::page_bytes();
}

}  // namespace tidemark::watch
