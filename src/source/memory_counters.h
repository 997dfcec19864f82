// The counters of all processes and groups, read many times a second: RSS of
// each process and the charge of each group. One file of each stays open, so
// that one costs about 2 us and a reused pid is never taken for the one before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "model/process.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"

namespace tidemark::source {

class MemoryCounters {
 public:
  // What a process is called; asked when it is new, or may be another program.
  using NameOf = std::function<std::string(const model::Process&)>;
  MemoryCounters(const Roots& roots, NameOf name_of);

  // A process or group that cannot be read is left out until it can. Fails
  // when there is not even a list of processes.
  base::Status read();

  struct ProcessRow {
    model::ProcessId id;
    std::string name;
    std::string cgroup_path;
    uint64_t rss_bytes = 0;
    bool has_memory = false;  // it is neither a kernel thread nor a zombie

    base::Fd statm;  // empty when there are no descriptors left
    uint64_t text_pages = 0;
    uint64_t look_count = 0;
    bool is_kernel_thread = false;
  };
  struct GroupRow {
    base::Fd charge;
    uint64_t charged_bytes = 0;
    bool is_known = false;
  };
  const std::map<int32_t, ProcessRow>& processes() const { return processes_; }
  const std::map<std::string, GroupRow>& groups() const { return groups_; }
  const CgroupHierarchy& cgroups() const { return cgroups_; }

 private:
  base::Status read_processes();
  // False when it has ended.
  bool read_process(int32_t pid, ProcessRow& row);
  bool identify(int32_t pid, ProcessRow& row);
  base::Result<model::Statm> read_statm(int32_t pid, const ProcessRow& row);
  void find_groups();
  void read_groups();

  const Roots& roots_;
  CgroupHierarchy cgroups_;
  ProcessReader reader_;
  NameOf name_of_;
  std::string buffer_;
  uint64_t page_bytes_;
  uint64_t reading_count_ = 0;
  std::map<int32_t, ProcessRow> processes_;
  std::map<std::string, GroupRow> groups_;
};

}  // namespace tidemark::source
