// Reads virtual machines: their processes out of /proc, each smaps once, and
// what their guests tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/guest_ram.h"
#include "model/vm.h"
#include "source/cgroups.h"
#include "source/file_systems.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/vm/guest_question.h"
#include "source/vm/vm_finder.h"

namespace tidemark::source {

struct VmScanOptions {
  std::vector<std::string> targets;  // pids or names of VMs; empty: all
  bool asks_guests = true;
  QuestionOptions question;
};

class VmSource {
 public:
  VmSource(const Roots& roots, VmScanOptions options);

  // Guests are asked while the host is read, all at once. Processes that end
  // meanwhile are left out. NotFound when a target is no VM.
  base::Result<model::VmScan> scan();

  // Those a scan would read now.
  base::Result<std::vector<FoundVm>> choose();

 private:
  struct Sharing {
    size_t vm_index = 0;
    std::vector<model::RamObject> objects;
  };

  base::Result<VmSearch> search();
  // Its monitor; the objects that are its RAM join `sharing`.
  void read_monitor(const FoundVm& found, model::Vm& vm,
                    std::vector<model::RamObject>& objects);
  // Once more, by the size that only the monitor could tell.
  void find_ram_again(const FoundVm& found, model::Vm& vm);
  void read_children(const FoundVm& found, model::Vm& vm,
                     const std::vector<model::RamObject>& objects);
  void read_sharers(const std::vector<int32_t>& pids,
                    const std::vector<Sharing>& sharings,
                    std::vector<model::Vm>& vms);
  bool add_process(int32_t pid, model::VmRole role,
                   const std::vector<model::RamObject>& objects, model::Vm& vm);
  std::optional<uint64_t> block_bytes(
      int32_t pid, const std::vector<model::RamObject>& objects) const;

  const Roots& roots_;
  VmScanOptions options_;
  CgroupHierarchy cgroups_;
  ProcessReader reader_;
  FileSystems file_systems_;
};

}  // namespace tidemark::source
