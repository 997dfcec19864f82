#include "view/profile/memory_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/composition.h"
#include "analysis/process_use.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "view/profile/pprof.h"

namespace tidemark::view {
namespace {

// The outermost first.
using Way = std::vector<std::string>;

struct Held {
  uint64_t inuse_bytes = 0;
  uint64_t peak_bytes = 0;
  int32_t pid = 0;
};
using HeldByWay = std::map<Way, Held>;

void add_sample(const model::Sample& sample, uint64_t Held::*target,
                HeldByWay& held) {
  for (const model::Process& process : sample.processes) {
    // One at a time, since a composition adds objects up over processes.
    model::Sample one;
    one.memory_devices = sample.memory_devices;
    one.machine = sample.machine;
    one.processes.push_back(process);
    const std::string name =
        fmt::format("{} ({})", analysis::display_name(process), process.id.pid);
    const std::string group =
        process.cgroup_path.empty() ? "group not known" : process.cgroup_path;
    for (const analysis::Part& part : analysis::compose(one).parts) {
      if (part.bytes.pss == 0) continue;
      Held& at =
          held[{"machine", base::valid_utf8(group), base::valid_utf8(name),
                std::string(model::category_token(part.category)),
                base::valid_utf8(part.name)}];
      at.*target += part.bytes.pss;
      at.pid = process.id.pid;
    }
  }
}

HeldByWay held_by(const MemoryProfile& profile) {
  HeldByWay held;
  add_sample(*profile.inuse, &Held::inuse_bytes, held);
  add_sample(*profile.peak, &Held::peak_bytes, held);
  return held;
}

// Frames of one name are one, wherever they stand.
class FrameNumbers {
 public:
  uint64_t of(const std::string& name) {
    auto [at, is_new] = known_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, uint64_t> known_;
  std::vector<std::string> names_;
};

// What a reader should know: when, and who is not in it.
std::string remark(const char* type, const model::Sample& sample,
                   uint64_t realtime_ns) {
  std::string text = fmt::format("{}: PSS and hugetlb at {}", type,
                                 base::rfc3339(realtime_ns));
  const uint64_t missing = analysis::compose(sample).undetailed_count;
  if (missing > 0) {
    text += fmt::format(
        "; {} of {} processes are not in it: their mappings "
        "were not read",
        missing, sample.processes.size());
  }
  return text;
}

void write_sample(const Way& way, const Held& held, FrameNumbers& frames,
                  PprofTexts& texts, ProtobufWriter& profile) {
  ProtobufWriter sample;
  std::vector<uint64_t> locations;
  for (auto name = way.rbegin(); name != way.rend(); ++name)
    locations.push_back(frames.of(*name) + 1);
  sample.packed(1, locations);
  const uint64_t values[] = {held.inuse_bytes, held.peak_bytes};
  sample.packed(2, values);
  ProtobufWriter pid;
  pid.number(1, texts.index("pid"));
  pid.number(3, static_cast<uint32_t>(held.pid));
  sample.message(3, pid);
  profile.message(pprof::kSample, sample);
}

void write_speedscope_profile(base::JsonWriter& json, const std::string& name,
                              const HeldByWay& held, uint64_t Held::*bytes,
                              FrameNumbers& frames) {
  uint64_t total = 0;
  for (const auto& [way, each] : held)
    total += each.*bytes;
  json.begin_object();
  json.member("type", "sampled");
  json.member("name", name);
  json.member("unit", "bytes");
  json.member("startValue", uint64_t{0});
  json.member("endValue", total);
  json.key("samples");
  json.begin_array();
  for (const auto& [way, each] : held) {
    if (each.*bytes == 0) continue;
    json.begin_array();
    for (const std::string& frame : way)
      json.number(frames.of(frame));
    json.end_array();
  }
  json.end_array();
  json.key("weights");
  json.begin_array();
  for (const auto& [way, each] : held) {
    if (each.*bytes > 0) json.number(each.*bytes);
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string memory_pprof(const MemoryProfile& profile) {
  ProtobufWriter out;
  PprofTexts texts;
  FrameNumbers frames;
  out.message(pprof::kSampleType,
              pprof_value_type(texts, "inuse_space", "bytes"));
  out.message(pprof::kSampleType,
              pprof_value_type(texts, "peak_space", "bytes"));
  for (const auto& [way, held] : held_by(profile))
    write_sample(way, held, frames, texts, out);
  for (size_t i = 0; i < frames.names().size(); ++i) {
    ProtobufWriter line;
    line.number(1, i + 1);
    ProtobufWriter location;
    location.number(1, i + 1);
    location.message(4, line);
    out.message(pprof::kLocation, location);
    ProtobufWriter function;
    function.number(1, i + 1);
    function.number(2, texts.index(frames.names()[i]));
    out.message(pprof::kFunction, function);
  }
  const uint64_t comments[] = {texts.index(remark("inuse_space", *profile.inuse,
                                                  profile.inuse_realtime_ns)),
                               texts.index(remark("peak_space", *profile.peak,
                                                  profile.peak_realtime_ns))};
  out.packed(pprof::kComment, comments);
  out.number(pprof::kDefaultSampleType, texts.index("inuse_space"));
  out.number(pprof::kTimeNanos, profile.inuse_realtime_ns);
  texts.write(out);
  return out.take();
}

std::string memory_speedscope(const MemoryProfile& profile) {
  const HeldByWay held = held_by(profile);
  FrameNumbers frames;
  for (const auto& [way, each] : held) {
    for (const std::string& name : way)
      frames.of(name);
  }
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", "tidemark");
  json.key("shared");
  json.begin_object();
  json.key("frames");
  json.begin_array();
  for (const std::string& name : frames.names()) {
    json.begin_object();
    json.member("name", name);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.key("profiles");
  json.begin_array();
  write_speedscope_profile(
      json, "in use at " + base::rfc3339(profile.inuse_realtime_ns), held,
      &Held::inuse_bytes, frames);
  write_speedscope_profile(json,
                           "peak at " + base::rfc3339(profile.peak_realtime_ns),
                           held, &Held::peak_bytes, frames);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
