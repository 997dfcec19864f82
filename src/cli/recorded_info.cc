#include "cli/recorded_info.h"

#include <utility>

#include "cli/recorded_peak.h"
#include "cli/recording_head.h"

namespace tidemark::cli {
base::Result<analysis::InfoReport> recorded_head(
    const store::Recording& recording) {
  analysis::InfoInput input;
  input.info = &recording.info();
  input.ticks = &recording.ticks();
  input.processes = &recording.processes();
  base::Result<std::vector<model::RecordedGap>> gaps = recording.gaps();
  if (!gaps) return gaps.error();
  input.gaps = std::move(*gaps);
  base::Result<std::vector<model::RecordedNote>> notes = recording.notes();
  if (!notes) return notes.error();
  input.notes = std::move(*notes);
  analysis::InfoReport report = analysis::make_info_report(input);
  report.path = recording.path();
  report.file_bytes = recording_bytes(recording.path());
  report.is_open = has_log(recording.path());
  base::Result<std::vector<model::ProcessMaxima>> maxima = recording.maxima();
  if (!maxima) return maxima.error();
  report.maxima = std::move(*maxima);
  base::Result<std::optional<model::RecordedTrace>> trace = recording.trace();
  if (!trace) return trace.error();
  report.trace = *trace;
  base::Result<std::optional<model::RecordedVms>> vms = recording.vms();
  if (!vms) return vms.error();
  report.vms = *vms;
  return report;
}

base::Result<analysis::InfoReport> recorded_info(
    const store::Recording& recording) {
  base::Result<analysis::InfoReport> head = recorded_head(recording);
  if (!head) return head.error();
  analysis::InfoReport report = std::move(*head);
  base::Result<std::vector<store::TableSize>> tables = recording.table_sizes();
  if (!tables) return tables.error();
  for (const store::TableSize& table : *tables)
    report.tables.push_back({table.name, table.row_count, table.bytes});
  RecordedPeak peak(recording, {});
  base::Result<std::vector<analysis::Trend>> growing = peak.growing();
  if (!growing) return growing.error();
  report.growing = std::move(*growing);
  base::Result<const model::Timeline*> timeline = peak.timeline();
  if (!timeline) return timeline.error();
  report.timeline = **timeline;
  return report;
}

}  // namespace tidemark::cli
