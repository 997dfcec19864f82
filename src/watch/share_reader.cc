#include "watch/share_reader.h"

#include <utility>

#include "base/clock.h"
#include "base/page_size.h"
#include "source/vm/vm_source.h"

namespace tidemark::watch {
namespace {

using analysis::ShareReading;
using model::ProcessState;

// What walking a page holds the lock for: measured 10-14 ms for a GiB of pages
// of 4 KiB.
constexpr uint64_t kHoldNsPerPage = 50;

source::ProcessDetail detail_with(bool rollup) {
  source::ProcessDetail detail;
  detail.rollup = rollup;
  return detail;
}

}  // namespace

ShareReader::ShareReader(const source::Roots& roots,
                         const ShareOptions& options)
    : roots_(roots),
      options_(options),
      cgroups_(source::CgroupHierarchy::find(roots)),
      reader_(roots, cgroups_, detail_with(true)),
      light_reader_(roots, cgroups_, detail_with(false)) {
  if (roots.is_live) costs_.page_size_bytes = base::page_bytes();
}

void ShareReader::read_process(int32_t pid, ShareReading& reading) {
  base::Result<model::Statm> statm = reader_.read_statm(pid);
  const bool is_spared =
      statm && statm->resident_pages * kHoldNsPerPage > options_.stall_ns;
  base::Result<model::Process> process =
      is_spared ? light_reader_.read(pid) : reader_.read(pid);
  if (!process || process->state == ProcessState::Gone ||
      process->state == ProcessState::KernelThread ||
      process->state == ProcessState::Zombie) {
    return;
  }
  if (is_spared) {
    process->rollup =
        model::unknown<model::SmapsFields>("reading it would stall it");
    ++reading.spared_count;
  } else if (!process->rollup) {
    ++reading.denied_count;
  }
  reading.processes.push_back({process->id, analysis::program_name(*process),
                               process->cgroup_path,
                               analysis::use_of(*process, costs_)});
}

void ShareReader::read_vms(ShareReading& reading) {
  source::VmScanOptions options;
  source::VmSource source(roots_, options);
  base::Result<model::VmScan> scan = source.scan();
  if (!scan) {
    reading.vms_unknown_because = scan.error().what;
    return;
  }
  reading.vms = analysis::make_vm_report(std::move(*scan), vm_history_);
}

ShareReading ShareReader::read(const std::atomic<bool>& is_ending) {
  const uint64_t begun = base::monotonic_ns();
  ShareReading reading;
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (pids) {
    for (int32_t pid : *pids) {
      if (is_ending) break;
      read_process(pid, reading);
    }
  }
  if (options_.with_vms && !is_ending) read_vms(reading);
  reading.ended_ns = base::monotonic_ns();
  reading.took_ns = reading.ended_ns - begun;
  return reading;
}

}  // namespace tidemark::watch
