#include "source/tree_camera.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"

namespace tidemark::source {
namespace {

// One walk of the page tables: the sum of the mappings stands for the rollup.
ProcessDetail picture_detail() {
  ProcessDetail detail;
  detail.rollup = false;
  detail.mappings = true;
  detail.threads = true;
  detail.cgroup = false;
  return detail;
}

}  // namespace

TreeCamera::TreeCamera(const Roots& roots)
    : reader_(roots, no_cgroups_, picture_detail()) {}

model::Capture TreeCamera::take(const std::vector<int32_t>& pids,
                                const MemoryGroup* group) {
  model::Capture capture;
  model::Sample& sample = capture.sample;
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.reader_is_root = ::geteuid() == 0;
  if (group != nullptr) capture.charged_before_bytes = group->charged_bytes();
  for (int32_t pid : pids) {
    base::Result<model::Process> process = reader_.read(pid);
    if (!process || process->state == model::ProcessState::Gone) continue;
    sample.processes.push_back(std::move(*process));
  }
  if (group != nullptr) {
    capture.charged_after_bytes = group->charged_bytes();
    capture.stat = group->stat();
  }
  sample.ended_monotonic_ns = base::monotonic_ns();
  return capture;
}

}  // namespace tidemark::source
