#include "cli/report_parts.h"

#include <algorithm>
#include <utility>

#include "analysis/ps_report.h"
#include "analysis/vm_timeline.h"
#include "cli/recorded_info.h"
#include "cli/trace_recording.h"
#include "view/json/diff.h"
#include "view/json/info.h"
#include "view/json/machine.h"
#include "view/json/peak.h"
#include "view/json/ps.h"
#include "view/json/timeline.h"
#include "view/json/trace.h"
#include "view/json/vms.h"

namespace tidemark::cli {
namespace {

// Three ticks of each: more than most screens have pixels for, and a day of a
// hundred processes is 8 MB of text, which a browser has to read.
constexpr size_t kColumns = 480;

}  // namespace

ReportParts::ReportParts(const store::Recording& recording,
                         const store::ProcessSet& chosen)
    : recording_(recording), chosen_(chosen), peak_(recording, chosen) {}

std::span<const ReportParts::Part> ReportParts::table() {
  static constexpr Part kParts[] = {
      {"timeline", &ReportParts::timeline},
      {"peak", &ReportParts::peak},
      {"info", &ReportParts::info},
      {"machine", &ReportParts::machine},
      {"ps", &ReportParts::ps},
      {"trace", &ReportParts::trace},
      {"vms", &ReportParts::vms},
      {"diff", &ReportParts::diff},
  };
  return kParts;
}

std::vector<std::string> ReportParts::names() {
  std::vector<std::string> names;
  for (const Part& part : table())
    names.emplace_back(part.name);
  return names;
}

base::Result<std::string> ReportParts::json(std::string_view name,
                                            Layout layout) {
  if (name == kKinds) return kinds(layout);
  for (const Part& part : table()) {
    if (part.name == name) return (this->*part.make)(layout);
  }
  return base::fail(base::ErrorKind::Misused,
                    "a report has no part '" + std::string(name) + "'");
}

base::Result<std::vector<size_t>> ReportParts::drawn() {
  base::Result<const model::Timeline*> sums = peak_.timeline();
  if (!sums) return sums.error();
  return analysis::choose_drawn(**sums, recording_.ticks(), kColumns);
}

base::Result<const std::optional<analysis::MachineHistory>*>
ReportParts::history() {
  if (!std::exchange(has_history_, true)) {
    base::Result<std::vector<size_t>> indices = drawn();
    if (!indices) return indices.error();
    analysis::MachineHistoryMaker maker(recording_.ticks(), *indices);
    base::Status status = recording_.walk_machine(
        [&](int64_t tick, const model::Machine& machine) {
          maker.add(tick, machine);
        });
    if (!status) return status.error();
    history_ = maker.take();
    if (history_) history_->path = recording_.path();
  }
  return &history_;
}

base::Result<std::optional<analysis::TimelineCharge>> ReportParts::charge(
    std::span<const int64_t> ticks, const model::Bands& bands) const {
  const std::optional<std::string> path =
      analysis::only_cgroup(recording_.processes(), bands);
  std::optional<analysis::TimelineCharge> charge;
  if (!path) return charge;
  charge.emplace();
  charge->cgroup_path = *path;
  base::Status status = recording_.walk_cgroup(
      *path, [&](int64_t tick, const model::Cgroup& group) {
        // From the first drawn tick on that knows of it; the last wins.
        const auto at = std::ranges::lower_bound(ticks, tick);
        if (at == ticks.end()) return;
        const auto index = static_cast<size_t>(at - ticks.begin());
        std::vector<analysis::ChargePoint>& points = charge->points;
        if (!points.empty() && points.back().tick_index == index) {
          points.pop_back();
        }
        points.push_back({index, group.charged_bytes.value,
                          group.peak_bytes.value, group.limit_bytes});
      });
  if (!status) return status.error();
  if (charge->points.empty()) charge.reset();
  return charge;
}

base::Result<std::string> ReportParts::machine(Layout layout) {
  base::Result<const std::optional<analysis::MachineHistory>*> read = history();
  if (!read) return read.error();
  if (!**read) {
    return base::fail(base::ErrorKind::NotFound,
                      recording_.path() + ": the machine was not recorded");
  }
  return view::machine_json(***read, layout);
}

base::Result<analysis::TimelineInput> ReportParts::timeline_head() {
  base::Result<const model::Timeline*> sums = peak_.timeline();
  if (!sums) return sums.error();
  base::Result<std::vector<size_t>> indices = drawn();
  if (!indices) return indices.error();
  analysis::TimelineInput input;
  input.path = recording_.path();
  input.info = &recording_.info();
  input.ticks = &recording_.ticks();
  input.processes = &recording_.processes();
  input.timeline = *sums;
  input.drawn = std::move(*indices);
  base::Result<std::vector<model::RecordedGap>> gaps = recording_.gaps();
  if (!gaps) return gaps.error();
  input.gaps = std::move(*gaps);
  return input;
}

std::vector<int64_t> ReportParts::drawn_ticks(
    const analysis::TimelineInput& input) const {
  std::vector<int64_t> ticks;
  for (size_t index : input.drawn)
    ticks.push_back(recording_.ticks()[index].id);
  return ticks;
}

base::Result<std::string> ReportParts::timeline(Layout layout) {
  base::Result<analysis::TimelineInput> input = timeline_head();
  if (!input) return input.error();
  const std::vector<int64_t> ticks = drawn_ticks(*input);
  base::Result<model::Bands> bands = recording_.bands(chosen_, ticks);
  if (!bands) return bands.error();
  input->bands = &*bands;
  base::Result<const std::optional<analysis::MachineHistory>*> machines =
      history();
  if (!machines) return machines.error();
  if (**machines) input->machine_events = (**machines)->events;
  base::Result<std::optional<analysis::TimelineCharge>> charged =
      charge(ticks, *bands);
  if (!charged) return charged.error();
  input->charge = std::move(*charged);
  return view::timeline_json(analysis::make_timeline_report(*input), layout);
}

// The stored sums are of all processes.
base::Result<std::string> ReportParts::kinds(Layout layout) {
  if (!chosen_.empty()) return timeline(layout);
  base::Result<analysis::TimelineInput> input = timeline_head();
  if (!input) return input.error();
  base::Result<std::vector<model::Band>> kinds =
      recording_.kinds(drawn_ticks(*input));
  if (!kinds) return kinds.error();
  input->kinds = std::move(*kinds);
  return view::timeline_json(analysis::make_timeline_report(*input), layout);
}

base::Result<std::string> ReportParts::peak(Layout layout) {
  RecordedPeakOptions options;
  options.with_trends = false;
  base::Result<analysis::PeakReport> highest = peak_.report(options);
  if (!highest) return highest.error();
  return view::peak_json(*highest, layout);
}

base::Result<std::string> ReportParts::info(Layout layout) {
  base::Result<analysis::InfoReport> head = recorded_head(recording_);
  if (!head) return head.error();
  return view::info_json(*head, layout);
}

base::Result<std::string> ReportParts::ps(Layout layout) {
  base::Result<size_t> index = peak_.index({});
  if (!index) return index.error();
  base::Result<model::Sample> sample =
      recording_.sample_at(recording_.ticks()[*index].id, chosen_);
  if (!sample) return sample.error();
  if (!sample->machine) {
    return base::fail(base::ErrorKind::NotFound,
                      recording_.path() + ": the machine was not recorded");
  }
  analysis::PsOptions options;
  options.fold = false;
  base::Result<analysis::PsReport> report =
      analysis::make_ps_report(*sample, options, {});
  if (!report) return report.error();
  // Mostly some of the processes were recorded, and the account is of all.
  report->account.reset();
  return view::ps_json(*report, layout);
}

base::Result<std::string> ReportParts::trace(Layout layout) {
  base::Result<model::Trace> trace =
      recorded_trace(recording_, recording_.ticks().size() - 1);
  if (!trace) return trace.error();
  return view::trace_json(*trace, layout);
}

base::Result<std::string> ReportParts::vms(Layout layout) {
  base::Result<std::vector<model::VmScan>> scans = recording_.vm_scans();
  if (!scans) return scans.error();
  if (scans->empty()) {
    return base::fail(base::ErrorKind::NotFound,
                      recording_.path() + ": there are no VMs in it",
                      "`tidemark vm record -o FILE.tdm` records them");
  }
  analysis::VmTimeline timeline = analysis::make_vm_timeline(*scans);
  timeline.path = recording_.path();
  return view::vms_json(timeline, layout);
}

base::Result<std::string> ReportParts::diff(Layout layout) {
  if (!base_) {
    return base::fail(base::ErrorKind::NotFound,
                      "there is nothing to compare the recording with",
                      "tidemark report FILE --base OTHER.tdm");
  }
  base::Result<Side> side =
      recorded_side(recording_, chosen_, "peak", SideCourse::Told);
  if (!side) return side.error();
  return view::diff_json(compare_sides(*base_, std::move(*side)), layout);
}

}  // namespace tidemark::cli
