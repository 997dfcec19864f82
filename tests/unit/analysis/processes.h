// Processes, groups and samples for tests of analyses, in KiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unit/quantities.h"

#include "model/sample.h"

namespace tidemark::test {

inline model::Process process_named(int32_t pid, int32_t parent,
                                    std::string_view comm) {
  model::Process process;
  process.id = {pid, 100};
  process.stat.pid = pid;
  process.stat.parent_pid = parent;
  process.stat.comm = comm;
  process.stat.state = 'S';
  process.stat.thread_count = 1;
  return process;
}

// A process of one thread whose memory is all its own and anonymous.
inline model::Process process_with(int32_t pid, int32_t parent,
                                   std::string_view comm, uint64_t pss_kib) {
  using model::SmapsField;
  model::Process process = process_named(pid, parent, comm);
  process.status.thread_count = 1;
  process.status.page_table_bytes = 0;
  model::SmapsFields fields;
  for (SmapsField field : {SmapsField::Pss, SmapsField::Rss,
                           SmapsField::PssAnon, SmapsField::PrivateDirty}) {
    fields.set(field, pss_kib * kKiB);
  }
  for (SmapsField field :
       {SmapsField::PssFile, SmapsField::PssShmem, SmapsField::SharedClean,
        SmapsField::SwapPss, SmapsField::PrivateHugetlb}) {
    fields.set(field, 0);
  }
  process.rollup = model::known(fields);
  return process;
}

inline model::Process in_cgroup(model::Process process, std::string_view path) {
  process.cgroup_path = path;
  return process;
}

// The process with one more field of its rollup set, in KiB.
inline model::Process having(model::Process process, model::SmapsField field,
                             uint64_t kib) {
  process.rollup.value->set(field, kib * kKiB);
  return process;
}

inline model::Process denied_process(int32_t pid, int32_t parent,
                                     std::string_view comm) {
  model::Process process = process_named(pid, parent, comm);
  process.state = model::ProcessState::Denied;
  process.rollup =
      model::unknown<model::SmapsFields>("denied: Permission denied");
  process.statm = model::Statm{.size_pages = 50, .resident_pages = 10};
  return process;
}

inline model::Process zombie(int32_t pid, int32_t parent,
                             std::string_view comm) {
  model::Process process = process_named(pid, parent, comm);
  process.state = model::ProcessState::Zombie;
  process.stat.state = 'Z';
  return process;
}

inline model::Process kernel_thread(int32_t pid, std::string_view comm) {
  model::Process process = process_named(pid, 2, comm);
  process.state = model::ProcessState::KernelThread;
  process.stat.is_kernel_thread = true;
  return process;
}

inline model::Sample sample_of(std::vector<model::Process> processes) {
  model::Sample sample;
  sample.processes = std::move(processes);
  return sample;
}

}  // namespace tidemark::test
