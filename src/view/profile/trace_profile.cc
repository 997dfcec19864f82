#include "view/profile/trace_profile.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "analysis/trace_tree.h"
#include "base/escape.h"
#include "base/json.h"
#include "view/profile/pprof.h"
#include "view/text/folded.h"

namespace tidemark::view {
namespace {

using model::Trace;
using model::TraceFrame;
using model::TraceLeaf;
using model::TraceTask;

uint64_t pages_of(const TraceLeaf& leaf, const TraceProfileOptions& options) {
  return options.at_peak ? leaf.machine_peak_pages : leaf.pages;
}

std::string name_of(const TraceFrame& frame) {
  return frame.symbol.empty() ? fmt::format("0x{:x}", frame.address)
                              : frame.symbol;
}

std::string name_of(const TraceTask& task) {
  return fmt::format("{} ({})", analysis::task_name(task), task.pid);
}

// One location and one function for each frame, numbered from 1.
void write_frames(const Trace& trace, PprofTexts& strings,
                  std::map<std::string, uint64_t>& mappings,
                  ProtobufWriter& profile) {
  for (size_t i = 0; i < trace.frames.size(); ++i) {
    const TraceFrame& frame = trace.frames[i];
    ProtobufWriter line;
    line.number(1, i + 1);
    ProtobufWriter location;
    location.number(1, i + 1);
    location.number(
        2,
        mappings.try_emplace(frame.module, mappings.size() + 1).first->second);
    location.number(3, frame.address);
    location.message(4, line);
    profile.message(pprof::kLocation, location);
    ProtobufWriter function;
    function.number(1, i + 1);
    function.number(2, strings.index(base::valid_utf8(name_of(frame))));
    profile.message(pprof::kFunction, function);
  }
}

// Null: it is no file of programs.
const model::TraceImage* image_of(const Trace& trace,
                                  const std::string& module) {
  if (!trace.user) return nullptr;
  for (const model::TraceImage& image : trace.user->images) {
    if (image.name == module) return &image;
  }
  return nullptr;
}

void write_sample(const Trace& trace, const TraceLeaf& leaf,
                  PprofTexts& strings, ProtobufWriter& profile) {
  ProtobufWriter sample;
  std::vector<uint64_t> locations;
  for (uint32_t frame : trace.stacks[leaf.stack])
    locations.push_back(frame + 1);
  sample.packed(1, locations);
  std::vector<uint64_t> values = {leaf.pages,
                                  leaf.pages * trace.page_size_bytes};
  if (trace.has_peaks) {
    values.push_back(leaf.machine_peak_pages * trace.page_size_bytes);
  }
  sample.packed(2, values);
  const TraceTask& task = trace.tasks[leaf.task];
  ProtobufWriter name;
  name.number(1, strings.index("task"));
  name.number(2, strings.index(base::valid_utf8(analysis::task_name(task))));
  sample.message(3, name);
  ProtobufWriter pid;
  pid.number(1, strings.index("pid"));
  pid.number(3, static_cast<uint32_t>(task.pid));
  sample.message(3, pid);
  profile.message(pprof::kSample, sample);
}

}  // namespace

std::string trace_folded(const Trace& trace,
                         const TraceProfileOptions& options) {
  std::string text;
  for (const TraceLeaf& leaf : trace.leaves) {
    const uint64_t pages = pages_of(leaf, options);
    if (pages == 0) continue;
    text += folded_frame(name_of(trace.tasks[leaf.task]));
    const model::TraceStack& stack = trace.stacks[leaf.stack];
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
      const TraceFrame& at = trace.frames[*frame];
      text += ";" + folded_frame(name_of(at));
      if (!at.module.empty()) text += "_[" + folded_frame(at.module) + "]";
    }
    text += fmt::format(" {}\n", pages);
  }
  return text;
}

std::string trace_speedscope(const Trace& trace,
                             const TraceProfileOptions& options) {
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", "tidemark");
  json.key("shared");
  json.begin_object();
  json.key("frames");
  json.begin_array();
  // Frames first, then a frame for each task.
  for (const TraceFrame& frame : trace.frames) {
    json.begin_object();
    json.member("name", name_of(frame));
    json.member("file", frame.module.empty() ? "vmlinux" : frame.module);
    json.end_object();
  }
  for (const TraceTask& task : trace.tasks) {
    json.begin_object();
    json.member("name", name_of(task));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.key("profiles");
  json.begin_array();
  json.begin_object();
  json.member("type", "sampled");
  json.member("name", options.at_peak ? "pages at the peak" : "pages held");
  json.member("unit", "bytes");
  uint64_t total = 0;
  for (const TraceLeaf& leaf : trace.leaves)
    total += pages_of(leaf, options) * trace.page_size_bytes;
  json.member("startValue", uint64_t{0});
  json.member("endValue", total);
  json.key("samples");
  json.begin_array();
  for (const TraceLeaf& leaf : trace.leaves) {
    if (pages_of(leaf, options) == 0) continue;
    json.begin_array();
    json.number(static_cast<uint64_t>(trace.frames.size() + leaf.task));
    const model::TraceStack& stack = trace.stacks[leaf.stack];
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
      json.number(static_cast<uint64_t>(*frame));
    json.end_array();
  }
  json.end_array();
  json.key("weights");
  json.begin_array();
  for (const TraceLeaf& leaf : trace.leaves) {
    const uint64_t pages = pages_of(leaf, options);
    if (pages > 0) json.number(pages * trace.page_size_bytes);
  }
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  return json.take();
}

std::string trace_pprof(const Trace& trace,
                        const TraceProfileOptions& options) {
  ProtobufWriter profile;
  PprofTexts strings;
  profile.message(pprof::kSampleType,
                  pprof_value_type(strings, "inuse_pages", "count"));
  profile.message(pprof::kSampleType,
                  pprof_value_type(strings, "inuse_space", "bytes"));
  if (trace.has_peaks) {
    profile.message(pprof::kSampleType,
                    pprof_value_type(strings, "peak_space", "bytes"));
  }
  for (const TraceLeaf& leaf : trace.leaves) {
    const bool was_held = trace.has_peaks && leaf.machine_peak_pages > 0;
    if (leaf.pages > 0 || was_held) {
      write_sample(trace, leaf, strings, profile);
    }
  }
  std::map<std::string, uint64_t> mappings;
  write_frames(trace, strings, mappings, profile);
  for (const auto& [module, id] : mappings) {
    ProtobufWriter mapping;
    mapping.number(1, id);
    const model::TraceImage* image = image_of(trace, module);
    const std::string& file = image ? image->path : module;
    mapping.number(5, strings.index(file.empty() ? std::string("[kernel]")
                                                 : base::valid_utf8(file)));
    if (image) mapping.number(6, strings.index(image->build_id));
    mapping.number(7, 1);  // it has functions
    profile.message(pprof::kMapping, mapping);
  }
  const uint64_t first_type = strings.index(
      options.at_peak && trace.has_peaks ? "peak_space" : "inuse_space");
  strings.write(profile);
  profile.number(pprof::kTimeNanos, trace.started_realtime_ns);
  profile.number(pprof::kDurationNanos, trace.elapsed_ns);
  profile.number(pprof::kDefaultSampleType, first_type);
  return profile.take();
}

}  // namespace tidemark::view
