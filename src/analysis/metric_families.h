// The families there are, and what fills those of the machine, of groups, of
// VMs and of the reader. Names and measures are promises: dashboards and alerts
// of other people hang on them.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/metrics_report.h"
#include "model/metrics.h"

namespace tidemark::analysis {

using Families = std::vector<model::MetricFamily>;

struct FamilyName {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
  model::MetricType type = model::MetricType::Gauge;
};

inline constexpr FamilyName kProgramBytes = {
    "tidemark_program_bytes", "bytes",
    "Memory of all processes of a program; rss by the last tick, the other "
    "measures as old as tidemark_shares_age_seconds. (other) is the sum of "
    "programs without a row."};
inline constexpr FamilyName kProgramPeakBytes = {
    "tidemark_program_peak_bytes", "bytes",
    "Highest sum over the processes of a program since this scraper's last "
    "scrape."};
inline constexpr FamilyName kProgramProcesses = {"tidemark_program_processes",
                                                 "", "Processes of a program."};
inline constexpr FamilyName kProgramUnread = {
    "tidemark_program_unread_processes", "",
    "Processes of a program whose shares are unknown: its pss, uss, swap_pss "
    "and footprint are lower bounds."};
inline constexpr FamilyName kProcessBytes = {
    "tidemark_process_bytes", "bytes",
    "Memory of the processes with the largest RSS; only on request."};
inline constexpr FamilyName kSeries = {"tidemark_series", "",
                                       "Series in this scrape."};
inline constexpr FamilyName kSeriesLimit = {
    "tidemark_series_limit", "", "Series that a scrape may have at most."};
inline constexpr FamilyName kSeriesDropped = {
    "tidemark_series_dropped", "",
    "Series beyond that limit, left out of this scrape."};
inline constexpr FamilyName kScopeRows = {
    "tidemark_scope_rows", "", "Names with series of their own, by scope."};
inline constexpr FamilyName kScopeLimit = {
    "tidemark_scope_limit_rows", "", "Names that may have series, by scope."};

// Adds samples to a new family. Several may be open at a time.
class FamilyWriter {
 public:
  FamilyWriter(Families& families, const FamilyName& name);
  void add(std::vector<model::MetricLabel> labels, double value);
  // With the label `measure` behind the others.
  void add(const std::vector<model::MetricLabel>& labels,
           std::string_view measure, uint64_t bytes);

 private:
  Families& families_;
  size_t index_;
};

void add_reader(const MetricsInput& input, Families& families);
void add_machine(const MetricsInput& input, Families& families);
void add_cgroups(const MetricsInput& input, Families& families);
void add_vms(const MetricsInput& input, size_t limit, Families& families);

}  // namespace tidemark::analysis
