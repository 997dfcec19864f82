#include "view/json/vms.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "view/json/vm.h"

namespace tidemark::view {
namespace {

using analysis::VmCourse;
using analysis::VmTick;
using analysis::VmTimeline;
using analysis::VmTimelineBand;
using analysis::VmTotalTick;
using base::JsonWriter;

void write_number(JsonWriter& json, uint64_t value) {
  json.number(value);
}
void write_number(JsonWriter& json, const std::optional<uint64_t>& value) {
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

// One value of each element, null where it is unknown.
template <typename List, typename Value>
void write_values(JsonWriter& json, std::string_view name, const List& list,
                  const Value& value) {
  json.key(name);
  json.begin_array();
  for (const auto& element : list)
    write_number(json, value(element));
  json.end_array();
}

void write_course_ticks(JsonWriter& json, const VmCourse& course) {
  const auto column = [&](std::string_view name, auto member) {
    write_values(json, name, course.ticks,
                 [&](const VmTick& tick) { return tick.*member; });
  };
  json.key("ticks");
  json.begin_object();
  column("elapsed_ns", &VmTick::elapsed_ns);
  column("bands_bytes", &VmTick::bands_bytes);
  column("cost_bytes", &VmTick::cost_bytes);
  column("could_come_back_bytes", &VmTick::held_bytes);
  column("limit_bytes", &VmTick::limit_bytes);
  column("rss_bytes", &VmTick::rss_bytes);
  column("balloon_bytes", &VmTick::balloon_bytes);
  column("configured_bytes", &VmTick::configured_bytes);
  column("swapped_bytes", &VmTick::swapped_bytes);
  json.key("lower_bounds");  // ticks at which the costs are such
  json.begin_array();
  for (size_t i = 0; i < course.ticks.size(); ++i)
    if (course.ticks[i].is_lower_bound) json.number(uint64_t{i});
  json.end_array();
  json.end_object();
}

void write_course_band(JsonWriter& json, const VmTimelineBand& band) {
  json.begin_object();
  json.member("band", analysis::vm_band_token(band.kind));
  json.member("name", band.name);
  json.member("known_by", band.known);
  write_values(json, "bytes", band.bytes,
               [](const std::optional<uint64_t>& bytes) { return bytes; });
  json.end_object();
}

void write_span(JsonWriter& json, const analysis::VmSpan& span) {
  json.begin_object();
  json.member("unknown", analysis::vm_span_token(span.kind));
  json.member("from_ns", span.from_ns);
  json.member("to_ns", span.to_ns);
  json.member("because", span.because);
  json.member("lasts", span.lasts);
  json.end_object();
}

void write_findings(JsonWriter& json, const analysis::VmFindings& found) {
  json.begin_object();
  json.member("tick_index", found.tick_index);
  json.key("findings");
  json.begin_array();
  for (const analysis::VmFinding& finding : found.findings)
    write_vm_finding(json, finding);
  json.end_array();
  json.end_object();
}

void write_course(JsonWriter& json, const VmCourse& course) {
  const model::Vm& vm = course.last.vm;
  json.begin_object();
  json.member("pid", vm.id.pid);
  json.member("start_ticks", vm.id.start_ticks);
  json.member("name", vm.name);
  json.member("kind", model::vm_kind_token(vm.kind));
  if (!vm.uuid.empty()) json.member("uuid", vm.uuid);
  json.member("cgroup", vm.cgroup_path);
  json.member("backing", vm.ram.backing);
  json.member("found_by", model::ram_means_token(vm.ram.means));
  json.member("deflates_on_oom", course.last.deflates_on_oom);
  json.member("free_page_reporting", vm.guest.reports_free_pages);
  json.member("peak_index", course.peak_index);
  write_course_ticks(json, course);
  const auto list = [&](const char* name, const auto& elements,
                        const auto& write) {
    json.key(name);
    json.begin_array();
    for (const auto& element : elements)
      write(json, element);
    json.end_array();
  };
  list("bands", course.bands, write_course_band);
  list("spans", course.spans, write_span);
  list("findings", course.findings, write_findings);
  json.end_object();
}

void write_total_ticks(JsonWriter& json, const VmTimeline& timeline) {
  const auto amount = [&](std::string_view name, auto member) {
    write_values(json, name, timeline.total, [&](const VmTotalTick& tick) {
      return (tick.*member).known_bytes();
    });
  };
  const auto number = [&](std::string_view name, auto member) {
    write_values(json, name, timeline.total,
                 [&](const VmTotalTick& tick) { return tick.*member; });
  };
  json.key("total");
  json.begin_object();
  number("elapsed_ns", &VmTotalTick::elapsed_ns);
  amount("cost_bytes", &VmTotalTick::cost);
  amount("could_come_back_bytes", &VmTotalTick::held);
  amount("configured_bytes", &VmTotalTick::configured);
  number("vm_count", &VmTotalTick::vm_count);
  number("answering_count", &VmTotalTick::answering_count);
  json.end_object();
}

}  // namespace

std::string vms_json(const VmTimeline& timeline, JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.vms/1");
  json.member("recording", timeline.path);
  json.member("start", base::rfc3339(timeline.start_realtime_ns));
  json.member("elapsed_ns", timeline.elapsed_ns);
  json.member("scan_count", timeline.scan_count);
  json.member("unseen_process_count", timeline.unseen_count);
  write_total_ticks(json, timeline);
  json.key("vms");
  json.begin_array();
  for (const VmCourse& course : timeline.vms)
    write_course(json, course);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string sections_json(
    const std::vector<analysis::MemstatsSection>& sections,
    JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.memstats_sections/1");
  json.key("sections");
  json.begin_array();
  for (const analysis::MemstatsSection& section : sections) {
    json.begin_object();
    json.member("name", section.name);
    json.member("stacked", section.is_stacked);
    write_values(json, "seconds", section.points,
                 [](const auto& point) { return point.seconds; });
    json.key("bytes");
    json.begin_array();
    for (const analysis::MemstatsPoint& point : section.points)
      json.number(point.bytes);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
