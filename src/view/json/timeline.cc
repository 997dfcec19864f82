#include "view/json/timeline.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tidemark::view {
namespace {

using analysis::TimelineBand;
using analysis::TimelineEventKind;
using base::JsonWriter;

template <typename Items, typename Number>
void write_column(JsonWriter& json, std::string_view name, const Items& items,
                  const Number& number) {
  json.key(name);
  json.begin_array();
  for (const auto& item : items)
    json.number(number(item));
  json.end_array();
}

// Columns rather than an object per point: they are read by a program, and
// there are many. A column of zeros is left out.
void write_points(JsonWriter& json, const TimelineBand& band) {
  write_column(json, "ticks", band.points, [](const model::BandPoint& point) {
    return static_cast<uint64_t>(point.tick_index);
  });
  const auto column = [&](std::string_view name,
                          uint64_t model::BandShares::*member) {
    bool is_zero = true;
    for (const model::BandPoint& point : band.points)
      is_zero &= point.shares.*member == 0;
    if (is_zero) return;
    write_column(json, name, band.points, [&](const model::BandPoint& point) {
      return point.shares.*member;
    });
  };
  column("pss_bytes", &model::BandShares::pss_bytes);
  column("private_bytes", &model::BandShares::private_bytes);
  column("rss_bytes", &model::BandShares::rss_bytes);
  column("swap_bytes", &model::BandShares::swap_bytes);
  column("bounded_bytes", &model::BandShares::bounded_bytes);
  column("estimated_bytes", &model::BandShares::estimated_bytes);
}

void write_bands(JsonWriter& json, std::string_view name,
                 const std::vector<TimelineBand>& bands) {
  json.key(name);
  json.begin_array();
  for (const TimelineBand& band : bands) {
    json.begin_object();
    json.member("label", band.label);
    if (band.category) {
      json.member("category", model::category_token(*band.category));
    }
    if (band.process) json.member("process", *band.process);
    if (band.pid) json.member("pid", *band.pid);
    if (!band.cgroup_path.empty()) json.member("cgroup", band.cgroup_path);
    if (band.others_count > 0) json.member("others_count", band.others_count);
    write_points(json, band);
    json.end_object();
  }
  json.end_array();
}

void write_events(JsonWriter& json, const analysis::TimelineReport& report) {
  json.key("events");
  json.begin_array();
  for (const analysis::TimelineEvent& event : report.events) {
    json.begin_object();
    json.member("kind", analysis::timeline_event_token(event.kind));
    json.member("elapsed_ns", event.elapsed_ns);
    if (event.kind == TimelineEventKind::Missed) {
      json.member("duration_ns", event.duration_ns);
    }
    if (event.count != 1 || event.kind == TimelineEventKind::Missed) {
      json.member("count", event.count);
    }
    json.member("text", event.text);
    json.end_object();
  }
  json.end_array();
  json.member("untold_event_count", report.untold_event_count);
}

void write_charge(JsonWriter& json, const analysis::TimelineCharge& charge) {
  using analysis::ChargePoint;
  json.key("charge");
  json.begin_object();
  json.member("cgroup", charge.cgroup_path);
  write_column(json, "ticks", charge.points, [](const ChargePoint& point) {
    return static_cast<uint64_t>(point.tick_index);
  });
  const auto column = [&](std::string_view name,
                          std::optional<uint64_t> ChargePoint::*member) {
    json.key(name);
    json.begin_array();
    for (const ChargePoint& point : charge.points) {
      if (const std::optional<uint64_t>& bytes = point.*member) {
        json.number(*bytes);
      } else {
        json.null();
      }
    }
    json.end_array();
  };
  column("charged_bytes", &ChargePoint::charged_bytes);
  column("peak_bytes", &ChargePoint::peak_bytes);
  column("limit_bytes", &ChargePoint::limit_bytes);
  json.end_object();
}

void write_traced(JsonWriter& json,
                  const std::vector<analysis::TimelineTick>& ticks) {
  const auto is_traced = [](const analysis::TimelineTick& tick) {
    return tick.traced_bytes.has_value();
  };
  if (std::ranges::none_of(ticks, is_traced)) return;
  json.key("traced_bytes");
  json.begin_array();
  for (const analysis::TimelineTick& tick : ticks) {
    if (tick.traced_bytes) {
      json.number(*tick.traced_bytes);
    } else {
      json.null();
    }
  }
  json.end_array();
}

}  // namespace

std::string timeline_json(const analysis::TimelineReport& report,
                          JsonWriter::Layout layout) {
  using analysis::TimelineTick;
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.timeline/1");
  json.member("recording", report.path);
  json.member("targets", report.targets);
  json.member("host", report.host);
  json.member("kernel", report.kernel);
  json.member("start", base::rfc3339(report.start_realtime_ns));
  json.member("period_ns", report.period_ns);
  json.member("elapsed_ns", report.elapsed_ns);
  json.member("tick_count", report.tick_count);
  json.member("missed_count", report.missed_count);
  json.member("peak_index", static_cast<uint64_t>(report.peak_index));
  json.key("ticks");
  json.begin_object();
  const std::vector<TimelineTick>& ticks = report.ticks;
  write_column(json, "id", ticks,
               [](const TimelineTick& tick) { return tick.id; });
  write_column(json, "elapsed_ns", ticks,
               [](const TimelineTick& tick) { return tick.elapsed_ns; });
  write_column(json, "resident_bytes", ticks,
               [](const TimelineTick& tick) { return tick.resident_bytes; });
  write_column(json, "pss_bytes", ticks,
               [](const TimelineTick& tick) { return tick.pss_bytes; });
  write_column(json, "process_count", ticks, [](const TimelineTick& tick) {
    return uint64_t{tick.process_count};
  });
  write_column(json, "undetailed_count", ticks, [](const TimelineTick& tick) {
    return uint64_t{tick.undetailed_count};
  });
  write_column(json, "scanned_count", ticks, [](const TimelineTick& tick) {
    return uint64_t{tick.scanned_count};
  });
  write_column(json, "bounded_bytes", ticks,
               [](const TimelineTick& tick) { return tick.bounded_bytes; });
  write_column(json, "estimated_bytes", ticks,
               [](const TimelineTick& tick) { return tick.estimated_bytes; });
  write_traced(json, ticks);
  json.end_object();
  write_bands(json, "kinds", report.kinds);
  write_bands(json, "processes", report.processes);
  write_bands(json, "objects", report.objects);
  write_bands(json, "groups", report.groups);
  write_bands(json, "parts", report.parts);
  write_events(json, report);
  if (report.charge) write_charge(json, *report.charge);
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
