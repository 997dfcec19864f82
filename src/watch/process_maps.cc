#include "watch/process_maps.h"

#include <utility>

#include "analysis/process_use.h"
#include "source/machine_reader.h"
#include "source/process_source.h"

namespace tidemark::watch {

base::Result<analysis::MapsReport> read_process_maps(
    const source::Roots& roots, const model::ProcessId& process,
    analysis::MapsSort sort) {
  source::CollectOptions collect;
  collect.selection.targets = {process};
  collect.detail = {
      .rollup = false, .mappings = true, .threads = true, .cgroup = false};
  collect.machine = false;
  model::Sample sample;
  base::Status status =
      source::ProcessSource(roots, std::move(collect)).collect(sample);
  if (!status) return status.error();
  const model::Process& read = sample.processes.front();
  if (!read.mappings) {
    const bool is_denied = read.state == model::ProcessState::Denied;
    return base::fail(
        is_denied ? base::ErrorKind::Denied : base::ErrorKind::System,
        "cannot read the mappings of process " + std::to_string(read.id.pid) +
            ": " + read.mappings.unknown_because,
        is_denied ? analysis::denied_hint(sample) : "");
  }
  const model::RegionHints hints = model::region_hints(
      read, source::read_memory_devices(roots, read.id.pid));
  return analysis::make_maps_report(sample, read, hints, sort);
}

}  // namespace tidemark::watch
