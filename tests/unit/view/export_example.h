// A moment for tests of exports: two processes, one with a hostile name and
// mappings, one that could not be read.
#pragma once

#include <string>

#include "model/moment.h"
#include "model/region.h"

namespace tidemark::view {

inline model::Mapping exported_mapping(uint64_t start, std::string name,
                                       uint64_t pss_kib) {
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + 0x2000;
  mapping.permissions = model::permissions_from_letters("rw-p");
  mapping.name = std::move(name);
  mapping.fields.set(model::SmapsField::Rss, 2 * pss_kib * 1024);
  mapping.fields.set(model::SmapsField::Pss, pss_kib * 1024);
  return mapping;
}

inline model::Sample exported_sample() {
  model::Process process;
  process.id = {7, 100};
  process.stat.comm = "a;b\n\"c\",d";
  process.mappings = model::known<std::vector<model::Mapping>>(
      {exported_mapping(0x10000, "[heap]", 8),
       exported_mapping(0xffffffffff600000, "/x;y, z", 4)});
  process.kinds = {model::RegionKind::BrkHeap, model::RegionKind::File};
  model::SmapsFields sum;
  for (const model::Mapping& mapping : *process.mappings)
    sum.add(mapping.fields);
  process.rollup = model::known(sum);
  process.statm = model::Statm{100, 9, 1, 1, 1};
  model::Process denied;
  denied.id = {8, 200};
  denied.stat.comm = "secret";
  denied.state = model::ProcessState::Denied;
  denied.mappings =
      model::unknown<std::vector<model::Mapping>>("denied: /proc/8/smaps");
  model::Sample sample;
  sample.processes = {process, denied};
  sample.machine = model::Machine();
  sample.machine->meminfo.total_bytes = 4096;
  return sample;
}

inline model::Moment exported_moment(const model::Sample& sample) {
  model::Moment moment;
  moment.tick.id = 17;
  moment.tick.realtime_ns = 1'794'729'947'943'000'000;
  moment.sample = &sample;
  moment.detail_ticks = {15, std::nullopt};
  moment.notes = {{{7, 100}, "read less \x1b[2J often"}, {{}, "of all"}};
  return moment;
}

}  // namespace tidemark::view
