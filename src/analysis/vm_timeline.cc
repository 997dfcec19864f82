// Reports of all scans would not fit into memory for a long recording of many
// VMs, and which of them are drawn is known only when all heights are. So the
// scans are walked twice: for the heights, then for what is drawn.
#include "analysis/vm_timeline.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "analysis/timeline_report.h"
#include "model/recording.h"
#include "model/timeline.h"

namespace tidemark::analysis {
namespace {

// What decides whether a tick is drawn: the extremes of both survive.
struct VmHeight {
  uint64_t bands_bytes = 0;
  uint64_t balloon_bytes = 0;
};

struct OpenSpan {
  VmSpan span;
  bool is_open = false;
};

// A VM while its course is made.
struct CourseMaker {
  VmCourse course;
  bool was_there = false;
  size_t last_scan = 0;  // that it was seen in
  std::vector<VmHeight> heights;
  std::vector<size_t> drawn;  // scans
  size_t next_drawn = 0;
  std::array<OpenSpan, kVmSpanKindCount> open;
};

// What was imported has no clock but the wall's.
uint64_t elapsed_of(std::span<const model::VmScan> scans, size_t index) {
  const bool has_clock =
      scans.back().started_monotonic_ns > scans.front().started_monotonic_ns;
  const auto time = has_clock ? &model::VmScan::started_monotonic_ns
                              : &model::VmScan::started_realtime_ns;
  const uint64_t start = scans.front().*time;
  return scans[index].*time - std::min(scans[index].*time, start);
}

std::vector<size_t> drawn_of(std::span<const model::VmScan> scans,
                             const std::vector<VmHeight>& heights,
                             size_t column_count) {
  model::Timeline timeline;
  std::vector<model::RecordedTick> ticks(scans.size());
  timeline.points.resize(scans.size());
  for (size_t i = 0; i < scans.size(); ++i) {
    ticks[i].monotonic_ns = elapsed_of(scans, i);
    if (i >= heights.size()) continue;
    timeline.points[i].pss_bytes = heights[i].bands_bytes;
    timeline.points[i].resident_bytes = heights[i].balloon_bytes;
  }
  return choose_drawn(timeline, ticks, column_count);
}

// A band that a report does not have: there is none of it, or nobody knows.
std::optional<uint64_t> missing_bytes(const VmRow& row, VmBandKind kind) {
  bool is_none = false;
  if (kind == VmBandKind::Helper) is_none = bool{row.helpers_bytes};
  // What is resident is in the other bands of the guest.
  if (kind == VmBandKind::GuestUnsplit)
    is_none = bool{row.vm.ram.resident_bytes};
  if (kind == VmBandKind::Untold) {
    is_none = row.vm.ram.means != model::RamMeans::None;
  }
  if (is_none) return 0;
  return std::nullopt;
}

// Nothing of it is in what is drawn. That a guest has no caches is worth a row
// all the same; that some helper is none of this VM is not.
bool is_nothing(const VmTimelineBand& band) {
  const bool keeps_zeros =
      band.kind < VmBandKind::GuestUnsplit || band.kind == VmBandKind::Monitor;
  return std::ranges::none_of(band.bytes, [&](std::optional<uint64_t> bytes) {
    return bytes && (keeps_zeros || *bytes > 0);
  });
}

VmTimelineBand& band_of(VmCourse& course, const VmBand& band) {
  const auto found =
      std::ranges::find_if(course.bands, [&](const VmTimelineBand& known) {
        return known.kind == band.kind && known.name == band.name;
      });
  if (found != course.bands.end()) return *found;
  // In stack order, those of a kind as they came.
  const auto place = std::ranges::upper_bound(course.bands, band.kind, {},
                                              &VmTimelineBand::kind);
  return *course.bands.insert(place, {band.kind, band.name, band.known, {}});
}

// Nothing but its time where the VM was not there.
VmTick tick_of(const VmRow* found, uint64_t elapsed_ns) {
  VmTick tick;
  tick.elapsed_ns = elapsed_ns;
  if (found == nullptr) return tick;
  const VmRow& row = *found;
  tick.bands_bytes = row.bands_sum.known_bytes();
  tick.cost_bytes = row.cost.known_bytes();
  tick.is_lower_bound = row.cost.is_lower_bound();
  if (row.ram_bands) tick.held_bytes = row.ram_bands->held_bytes;
  if (row.guest) tick.limit_bytes = row.guest->limit_bytes;
  tick.rss_bytes = row.monitor_rss_bytes;
  tick.balloon_bytes = row.vm.guest.balloon_bytes;
  tick.configured_bytes = configured_bytes(row.vm);
  tick.swapped_bytes = row.vm.ram.swapped_bytes.value;
  return tick;
}

void add_bands(VmCourse& course, const VmRow& row) {
  const size_t index = course.ticks.size() - 1;
  for (const VmBand& band : row.bands) {
    VmTimelineBand& known = band_of(course, band);
    known.bytes.resize(index);
    known.bytes.push_back(band.bytes);
  }
  for (VmTimelineBand& band : course.bands) {
    if (band.bytes.size() > index) continue;
    band.bytes.resize(index);
    band.bytes.push_back(missing_bytes(row, band.kind));
  }
}

bool are_same(const std::vector<VmFinding>& a,
              const std::vector<VmFinding>& b) {
  return std::ranges::equal(a, b, [](const VmFinding& x, const VmFinding& y) {
    return x.kind == y.kind && x.title == y.title && x.details == y.details;
  });
}

void add_findings(VmCourse& course, const std::vector<VmFinding>& findings) {
  const bool is_known =
      course.findings.empty()
          ? findings.empty()
          : are_same(course.findings.back().findings, findings);
  if (is_known) return;
  course.findings.push_back({course.ticks.size() - 1, findings});
}

// Reasons of one kind that follow each other are one span, unless the reason
// is another; that of statistics tells their age and always is.
void continue_span(CourseMaker& maker, VmSpanKind kind,
                   const std::string& because, uint64_t elapsed_ns) {
  OpenSpan& open = maker.open[static_cast<size_t>(kind)];
  const bool is_same =
      because.empty() == !open.is_open &&
      (open.span.because == because || kind == VmSpanKind::Stale);
  if (open.is_open && is_same) {
    open.span.because = because;
    open.span.to_ns = elapsed_ns;
    return;
  }
  if (open.is_open) {
    open.span.to_ns = elapsed_ns;
    maker.course.spans.push_back(std::move(open.span));
  }
  open.is_open = !because.empty();
  open.span = {kind, elapsed_ns, elapsed_ns, because, false};
}

std::string unread_because(const VmRow& row) {
  if (!row.cost.has_unknown) return "";
  for (const model::VmProcess& process : row.vm.processes)
    if (!process.own) return process.own.unknown_because;
  return row.vm.ram.resident_bytes.unknown_because;
}

void add_spans(CourseMaker& maker, const VmRow* row, uint64_t elapsed_ns) {
  std::array<std::string, kVmSpanKindCount> because;
  const auto reason = [&](VmSpanKind kind) -> std::string& {
    return because[static_cast<size_t>(kind)];
  };
  if (row == nullptr) {
    reason(VmSpanKind::Absent) = "it was not there";
  } else {
    reason(VmSpanKind::Unread) = unread_because(*row);
    const VmSpanKind kind = row->is_unsettled ? VmSpanKind::Unsettled
                            : row->is_stale   ? VmSpanKind::Stale
                                              : VmSpanKind::Untold;
    reason(kind) = row->guest ? row->ram_bands.unknown_because
                              : row->guest.unknown_because;
  }
  for (size_t i = 0; i < kVmSpanKindCount; ++i)
    continue_span(maker, static_cast<VmSpanKind>(i), because[i], elapsed_ns);
}

class VmTimelineMaker {
 public:
  VmTimelineMaker(std::span<const model::VmScan> scans,
                  const VmTimelineOptions& options)
      : scans_(scans), options_(options) {}

  VmTimeline make() {
    VmTimeline timeline;
    timeline.scan_count = scans_.size();
    if (scans_.empty()) return timeline;
    timeline.start_realtime_ns = scans_.front().started_realtime_ns;
    timeline.elapsed_ns = elapsed_of(scans_, scans_.size() - 1);
    timeline.unseen_count = scans_.back().unseen_count;
    measure();
    choose();
    draw(timeline);
    for (CourseMaker& maker : makers_)
      timeline.vms.push_back(finished(maker));
    std::ranges::stable_sort(
        timeline.vms, std::greater<>(), [](const VmCourse& course) {
          return course.ticks[course.peak_index].bands_bytes.value_or(0);
        });
    return timeline;
  }

 private:
  CourseMaker& maker_of(const model::ProcessId& id) {
    const auto found =
        std::ranges::find_if(makers_, [&](const CourseMaker& maker) {
          return maker.course.last.vm.id == id;
        });
    if (found != makers_.end()) return *found;
    makers_.emplace_back().course.last.vm.id = id;
    return makers_.back();
  }

  void measure() {
    VmHistory history;
    for (size_t i = 0; i < scans_.size(); ++i) {
      const VmReport report = make_vm_report(scans_[i], history);
      for (const VmRow& row : report.rows) {
        CourseMaker& maker = maker_of(row.vm.id);
        maker.heights.resize(i);
        maker.heights.push_back(
            {row.bands_sum.bytes, row.vm.guest.balloon_bytes.value_or(0)});
        maker.last_scan = i;
        // All are known before the first is drawn: one that comes later has
        // been nothing until then, which is not unknown.
        for (const VmBand& band : row.bands)
          band_of(maker.course, band);
      }
      total_heights_.push_back({report.cost.bytes, report.held.bytes});
    }
  }

  void choose() {
    const size_t share =
        4 * options_.column_count / std::max<size_t>(makers_.size(), 1);
    const size_t columns = std::clamp(
        share, std::min(options_.least_column_count, options_.column_count),
        options_.column_count);
    for (CourseMaker& maker : makers_) {
      maker.drawn = drawn_of(scans_, maker.heights, columns);
      maker.heights = {};
    }
    total_drawn_ = drawn_of(scans_, total_heights_, options_.column_count);
  }

  void draw(VmTimeline& timeline) {
    VmHistory history;
    size_t next_total = 0;
    for (size_t i = 0; i < scans_.size(); ++i) {
      VmReport report = make_vm_report(scans_[i], history);
      const uint64_t elapsed_ns = elapsed_of(scans_, i);
      if (next_total < total_drawn_.size() && total_drawn_[next_total] == i) {
        ++next_total;
        timeline.total.push_back({elapsed_ns, report.cost, report.held,
                                  report.configured, report.rows.size(),
                                  report.answering_count});
      }
      for (CourseMaker& maker : makers_) {
        const auto row =
            std::ranges::find(report.rows, maker.course.last.vm.id,
                              [](const VmRow& one) { return one.vm.id; });
        add(maker, i, row == report.rows.end() ? nullptr : &*row);
      }
    }
  }

  void add(CourseMaker& maker, size_t scan, VmRow* row) {
    const uint64_t elapsed_ns = elapsed_of(scans_, scan);
    VmCourse& course = maker.course;
    add_spans(maker, row, elapsed_ns);
    const bool is_drawn = maker.next_drawn < maker.drawn.size() &&
                          maker.drawn[maker.next_drawn] == scan;
    if (is_drawn) {
      ++maker.next_drawn;
      course.ticks.push_back(tick_of(row, elapsed_ns));
      if (row != nullptr) add_bands(course, *row);
      add_findings(course,
                   row != nullptr ? row->findings : std::vector<VmFinding>());
    }
    if (row != nullptr && maker.last_scan == scan) {
      course.last = std::move(*row);
    }
  }

  static VmCourse finished(CourseMaker& maker) {
    VmCourse& course = maker.course;
    for (OpenSpan& open : maker.open) {
      if (!open.is_open) continue;
      open.span.lasts = true;
      course.spans.push_back(std::move(open.span));
    }
    std::ranges::stable_sort(course.spans, {}, &VmSpan::from_ns);
    for (VmTimelineBand& band : course.bands)
      band.bytes.resize(course.ticks.size());
    std::erase_if(course.bands, is_nothing);
    const auto highest = std::ranges::max_element(
        course.ticks, {},
        [](const VmTick& tick) { return tick.bands_bytes.value_or(0); });
    course.peak_index = static_cast<size_t>(highest - course.ticks.begin());
    return std::move(course);
  }

  std::span<const model::VmScan> scans_;
  VmTimelineOptions options_;
  std::vector<CourseMaker> makers_;
  std::vector<VmHeight> total_heights_;
  std::vector<size_t> total_drawn_;
};

}  // namespace

std::string_view vm_span_token(VmSpanKind kind) {
  constexpr std::array<std::string_view, kVmSpanKindCount> kTokens = {
      "absent", "unread", "unsettled", "stale", "untold"};
  return kTokens[static_cast<size_t>(kind)];
}

VmTimeline make_vm_timeline(std::span<const model::VmScan> scans,
                            const VmTimelineOptions& options) {
  return VmTimelineMaker(scans, options).make();
}

}  // namespace tidemark::analysis
