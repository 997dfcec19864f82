#include "cli/vm_record.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/output_file.h"
#include "cli/recording_head.h"
#include "store/recorder.h"
#include "watch/record_source.h"
#include "watch/record_watch.h"

namespace tidemark::cli {
namespace {

constexpr const char* kVmRecordExample = "tidemark vm record -o FILE.tdm";

// Descendants are followed by the recording itself.
std::vector<model::ProcessId> chosen_processes(const model::VmScan& scan) {
  std::vector<model::ProcessId> chosen;
  for (const model::Vm& vm : scan.vms) {
    for (const model::VmProcess& process : vm.processes) {
      if (process.role != model::VmRole::Child) chosen.push_back(process.id);
    }
  }
  return chosen;
}

std::string vm_words(const model::VmScan& scan) {
  std::string words;
  for (const model::Vm& vm : scan.vms) {
    words += (words.empty() ? "VM " : ", VM ") + vm.name + " (" +
             std::to_string(vm.id.pid) + ")";
  }
  return words;
}

void tell_recorded(const VmRecordOptions& options,
                   const watch::RecordResult& result) {
  print_note(options.common,
             "recorded " +
                 base::counted(result.last.sample_count, "sample", "samples") +
                 " in " + base::long_duration(result.last.elapsed_ns) + " to " +
                 base::visible(options.common.output_path) + " (" +
                 base::long_size(recording_bytes(options.common.output_path)) +
                 ")");
}

// Those that have ended are missing; the recording ends with the last.
base::Status add_vms(source::VmSource& source, model::Sample& sample) {
  base::Result<model::VmScan> scan = source.scan();
  const bool is_over = !scan && scan.error().kind == base::ErrorKind::Gone;
  if (!scan && !is_over) return scan.error();
  if (is_over) {
    model::VmScan none;
    none.started_realtime_ns = sample.started_realtime_ns;
    none.started_monotonic_ns = sample.started_monotonic_ns;
    none.ended_monotonic_ns = sample.started_monotonic_ns;
    sample.vms = std::move(none);
    return base::Ok{};
  }
  sample.vms = std::move(*scan);
  return base::Ok{};
}

}  // namespace

base::Status record_vms(const source::Roots& roots, source::VmSource& source,
                        const VmRecordOptions& options,
                        watch::StopSignals& signals) {
  base::Result<model::VmScan> scan = source.scan();
  if (!scan) return scan.error();
  if (scan->vms.empty()) {
    return base::fail(base::ErrorKind::NotFound, "no VMs are running here");
  }
  base::Status room =
      make_room(options.common.output_path, false, kVmRecordExample);
  if (!room) return room;
  watch::BudgetOptions budget;
  budget.period_ns = options.loop.period_ns;
  model::RecordingInfo info =
      recording_head(roots, vm_words(*scan), options.loop.period_ns);
  info.budget = watch::budget_words(budget);
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(options.common.output_path, info, {});
  if (!recorder) return recorder.error();
  watch::RecordSelection selection;
  selection.targets = chosen_processes(*scan);
  watch::RecordSource recorded(roots, std::move(selection), budget);
  watch::RecordHooks hooks;
  hooks.now_ns = base::monotonic_ns;
  hooks.wait_until = [&](uint64_t until) { return signals.wait_until(until); };
  hooks.add = [&](model::Sample& sample) { return add_vms(source, sample); };
  base::Result<watch::RecordResult> result =
      watch::record(recorded, **recorder, options.loop, hooks);
  if (!result) return result.error();
  tell_recorded(options, *result);
  return base::Ok{};
}

}  // namespace tidemark::cli
