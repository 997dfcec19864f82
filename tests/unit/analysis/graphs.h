// Processes with mappings, and graphs of them, in KiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/graph.h"
#include "unit/analysis/processes.h"

namespace tidemark::test {

struct MappingOf {
  std::string name;
  uint64_t inode = 0;
  uint64_t pss_kib = 0;
  uint64_t written_kib = 0;  // of a private mapping of a file
  bool is_shared = false;
  uint64_t size_kib = 1024;
  uint64_t shared_huge_kib = 0;
};

inline model::Process mapping(model::Process process,
                              const std::vector<MappingOf>& all) {
  using model::SmapsField;
  std::vector<model::Mapping> mappings;
  model::SmapsFields sum;
  uint64_t address = uint64_t{1} << 32;
  for (const MappingOf& one : all) {
    model::Mapping& m = mappings.emplace_back();
    m.start_address = address;
    m.end_address = address + one.size_kib * kKiB;
    address = m.end_address + (uint64_t{1} << 28);
    m.permissions = {true, true, false, one.is_shared};
    m.name = one.name;
    m.inode_id = one.inode;
    m.device_major = one.inode == 0 ? 0 : 8;
    m.fields.set(SmapsField::Pss, one.pss_kib * kKiB);
    m.fields.set(SmapsField::Rss, one.pss_kib * kKiB);
    m.fields.set(SmapsField::Anonymous, one.written_kib * kKiB);
    m.fields.set(SmapsField::PrivateDirty, one.written_kib * kKiB);
    m.fields.set(SmapsField::SharedHugetlb, one.shared_huge_kib * kKiB);
    sum.add(m.fields);
  }
  process.rollup = model::known(sum);
  process.mappings = model::known(std::move(mappings));
  return process;
}

inline analysis::GraphInput input_of(std::vector<model::Process> processes,
                                     uint64_t total_kib = 1 << 20,
                                     uint64_t anon_kib = 1 << 19) {
  analysis::GraphInput input;
  input.sample = sample_of(std::move(processes));
  input.sample.machine.emplace();
  input.sample.machine->meminfo.total_bytes = total_kib * kKiB;
  input.sample.machine->meminfo.anon_pages_bytes = anon_kib * kKiB;
  return input;
}

}  // namespace tidemark::test
