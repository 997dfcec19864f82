// The parts of the page of a recording: the JSON of each of its elements, made
// when it is asked for, so that one of them alone costs no more than itself.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/machine_history.h"
#include "analysis/timeline_report.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/recorded_peak.h"
#include "cli/recorded_side.h"
#include "store/recording.h"

namespace tidemark::cli {

class ReportParts {
 public:
  // The recording must outlive it.
  ReportParts(const store::Recording& recording,
              const store::ProcessSet& chosen);

  // What the peak is compared with.
  void set_base(Side base) { base_ = std::move(base); }

  // All that a page may have, in its order.
  static std::vector<std::string> names();
  // The timeline by kind alone: what can be drawn while the rest of it is read.
  static constexpr std::string_view kKinds = "kinds";

  // NotFound, with a sentence, when the recording has no such part.
  base::Result<std::string> json(std::string_view name,
                                 base::JsonWriter::Layout layout);

 private:
  using Layout = base::JsonWriter::Layout;
  using Make = base::Result<std::string> (ReportParts::*)(Layout);
  struct Part {
    std::string_view name;
    Make make;
  };
  static std::span<const Part> table();

  base::Result<std::string> timeline(Layout layout);
  base::Result<std::string> kinds(Layout layout);
  base::Result<std::string> peak(Layout layout);
  base::Result<std::string> info(Layout layout);
  base::Result<std::string> machine(Layout layout);
  base::Result<std::string> ps(Layout layout);
  base::Result<std::string> trace(Layout layout);
  base::Result<std::string> vms(Layout layout);
  base::Result<std::string> diff(Layout layout);

  // Of the recording's ticks, those that are drawn.
  base::Result<std::vector<size_t>> drawn();
  // With them, but without bands and what happened to the machine.
  base::Result<analysis::TimelineInput> timeline_head();
  std::vector<int64_t> drawn_ticks(const analysis::TimelineInput& input) const;

  // Empty when the machine was not recorded. Read once.
  base::Result<const std::optional<analysis::MachineHistory>*> history();
  // At those ticks, where the processes of the bands are one group.
  base::Result<std::optional<analysis::TimelineCharge>> charge(
      std::span<const int64_t> ticks, const model::Bands& bands) const;

  const store::Recording& recording_;
  store::ProcessSet chosen_;
  RecordedPeak peak_;
  std::optional<Side> base_;
  bool has_history_ = false;
  std::optional<analysis::MachineHistory> history_;
};

}  // namespace tidemark::cli
