#include "cli/vm_recorded.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/escape.h"
#include "base/text.h"
#include "cli/moments.h"
#include "model/region.h"
#include "store/recording.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

bool is_called(const model::Vm& vm, const std::string& word) {
  return base::parse_pid(word) == vm.id.pid || vm.name == word ||
         vm.uuid == word ||
         (!vm.processes.empty() && vm.processes.front().name == word);
}

void keep_chosen(const std::vector<std::string>& targets, model::VmScan& scan) {
  if (targets.empty()) return;
  std::erase_if(scan.vms, [&](const model::Vm& vm) {
    return std::ranges::none_of(
        targets, [&](const std::string& word) { return is_called(vm, word); });
  });
}

// What a process had in all. An imported file of memstats has only that: of the
// VM the recording keeps the parts that could be told of it, and the whole is
// with the process.
class ProcessTotals {
 public:
  explicit ProcessTotals(const store::Recording& recording)
      : recording_(recording) {}

  // For the format that knows no parts: every process whole, as it was
  // imported.
  base::Status put_back(int64_t tick, model::VmScan& scan) {
    for (model::Vm& vm : scan.vms) {
      if (vm.ram.means != model::RamMeans::Shared) continue;
      base::Status status = collect();
      if (!status) return status;
      for (model::VmProcess& process : vm.processes) {
        const auto found = totals_.find({tick, process.id.pid});
        if (found == totals_.end()) continue;
        process.own = model::known(found->second);
        process.ram = model::unknown<model::SmapsFields>("it is not parted");
      }
    }
    return base::Ok{};
  }

 private:
  // Once, and all: such a file was in memory as a whole when it was imported.
  base::Status collect() {
    if (has_collected_) return base::Ok{};
    has_collected_ = true;
    return recording_.walk_samples(
        recording_.ticks().front().id, recording_.ticks().back().id, {},
        [&](const model::RecordedTick& tick, model::Sample& sample) {
          for (const model::Process& process : sample.processes) {
            if (!process.mappings || process.mappings->size() != 1) continue;
            const model::Mapping& mapping = process.mappings->front();
            if (mapping.name != model::kRollupName) continue;
            totals_[{tick.id, process.id.pid}] = mapping.fields;
          }
          return base::Status(base::Ok{});
        });
  }

  const store::Recording& recording_;
  bool has_collected_ = false;
  std::map<std::pair<int64_t, int32_t>, model::SmapsFields> totals_;
};

base::Result<store::Recording> open_with_vms(const VmRecordedOptions& options) {
  base::Result<store::Recording> recording = open_recording(options.path);
  if (!recording) return recording;
  base::Result<std::optional<model::RecordedVms>> vms = recording->vms();
  if (!vms) return vms.error();
  if (*vms) return recording;
  return base::fail(ErrorKind::NotFound,
                    base::visible(options.path) + ": there are no VMs in it",
                    "`tidemark vm record -o FILE.tdm` records them");
}

base::Error none_called(const VmRecordedOptions& options) {
  std::string words;
  for (const std::string& word : options.targets)
    words += (words.empty() ? "'" : ", '") + base::visible(word) + "'";
  return base::fail(ErrorKind::NotFound, "no VM is called " + words,
                    "`tidemark vm list FILE.tdm` lists those of a recording");
}

}  // namespace

base::Status print_recorded_vms(const VmRecordedOptions& options,
                                VmPrinter& printer) {
  base::Result<store::Recording> recording = open_with_vms(options);
  if (!recording) return recording.error();
  base::Result<size_t> index =
      find_moment(*recording, options.at.empty() ? "end" : options.at);
  if (!index) return index.error();
  const int64_t tick = recording->ticks()[*index].id;
  // What a balloon does is learned from readings before: as many as a watch of
  // two minutes would have seen.
  constexpr int64_t kTeachingTicks = 120;
  std::optional<model::VmScan> last;
  int64_t last_tick = 0;
  base::Status status =
      recording->walk_vms(std::max<int64_t>(tick - kTeachingTicks, 0), tick,
                          [&](int64_t at, model::VmScan scan) -> base::Status {
                            if (last) printer.learn(std::move(*last));
                            last = std::move(scan);
                            last_tick = at;
                            return base::Ok{};
                          });
  if (!status) return status;
  if (!last) {
    return base::fail(ErrorKind::NotFound,
                      base::visible(options.path) +
                          ": no VMs were read at or shortly before that "
                          "moment");
  }
  keep_chosen(options.targets, *last);
  if (last->vms.empty() && !options.targets.empty()) {
    return none_called(options);
  }
  if (printer.wants_totals()) {
    status = ProcessTotals(*recording).put_back(last_tick, *last);
    if (!status) return status;
  }
  return printer.print(std::move(*last));
}

base::Status replay_recorded_vms(const VmRecordedOptions& options,
                                 VmPrinter& printer) {
  base::Result<store::Recording> recording = open_with_vms(options);
  if (!recording) return recording.error();
  ProcessTotals totals(*recording);
  bool has_shown = false;
  uint64_t count = 0;
  base::Status status =
      recording->walk_vms(0, std::numeric_limits<int64_t>::max(),
                          [&](int64_t at, model::VmScan scan) -> base::Status {
                            if (options.count && count >= *options.count)
                              return base::Ok{};
                            keep_chosen(options.targets, scan);
                            if (scan.vms.empty() && !options.targets.empty())
                              return base::Ok{};
                            has_shown = true;
                            ++count;
                            if (printer.wants_totals()) {
                              base::Status put = totals.put_back(at, scan);
                              if (!put) return put;
                            }
                            return printer.print(std::move(scan));
                          });
  if (!status) return status;
  return has_shown || options.targets.empty() ? base::Status(base::Ok{})
                                              : none_called(options);
}

}  // namespace tidemark::cli
