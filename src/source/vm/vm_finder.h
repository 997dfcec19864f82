// Finds virtual machines among the processes: whoever holds a kvm-vm
// descriptor, and the programs known to run guests, since software emulation
// needs no such descriptor and other users' descriptors may not be listed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/vm.h"
#include "parse/vm_arguments.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"

namespace tidemark::source {

struct FoundVm {
  model::ProcessId id;  // of the monitor
  model::VmKind kind = model::VmKind::Other;
  bool holds_kvm = false;
  std::string comm;
  parse::VmArguments arguments;
  std::vector<int32_t> descendant_pids;  // parents first
};

struct VmSearch {
  std::vector<FoundVm> vms;  // by pid
  // Processes with memory that are in no VM's tree; and those of them that were
  // looked at this time, the others being what they were.
  std::vector<int32_t> other_pids;
  std::vector<int32_t> fresh_other_pids;
  bool is_round = false;      // all were
  uint64_t unseen_count = 0;  // descriptors denied, and no program we know
};

// Listing all descriptors of all processes is most of a search, so it is done
// each ten seconds; in between only new pids are looked at, for some seconds:
// a process becomes a monitor by exec and by opening /dev/kvm. A monitor below
// another one is part of its VM: a device process of crosvm holds the
// descriptor too.
class VmFinder {
 public:
  explicit VmFinder(const Roots& roots);
  base::Result<VmSearch> find(uint64_t now_ns);

 private:
  struct Candidate {
    bool has_memory = false;  // else a thread of the kernel, or a zombie
    bool is_seen = true;      // its descriptors, or what program it is
    bool holds_kvm = false;
    model::VmKind kind = model::VmKind::Other;
    model::ProcessStat stat;
    parse::VmArguments arguments;
    uint64_t first_ns = 0;
    uint64_t looked_ns = 0;

    bool is_vm() const {
      return holds_kvm || (kind != model::VmKind::Other && arguments.starts_vm);
    }
  };

  void look_at(int32_t pid, Candidate& candidate);
  bool has_vm_above(const Candidate& candidate) const;
  std::vector<int32_t> descendants_of(
      int32_t pid,
      const std::map<int32_t, std::vector<int32_t>>& children) const;
  VmSearch result(uint64_t now_ns) const;

  const Roots& roots_;
  CgroupHierarchy no_cgroups_;
  ProcessReader reader_;
  std::map<int32_t, Candidate> candidates_;
  uint64_t round_ns_ = 0;
  bool has_round_ = false;
  std::string buffer_;
};

// Once.
base::Result<VmSearch> find_vms(const Roots& roots);

}  // namespace tidemark::source
