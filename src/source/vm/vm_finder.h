// Finds virtual machines among the processes: whoever holds a kvm-vm
// descriptor, and the programs known to run guests, since software emulation
// needs no such descriptor and other users' descriptors may not be listed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/vm.h"
#include "parse/vm_arguments.h"
#include "source/roots.h"

namespace tidemark::source {

struct FoundVm {
  model::ProcessId id;  // of the monitor
  model::VmKind kind = model::VmKind::Other;
  bool holds_kvm = false;
  parse::VmArguments arguments;
  std::vector<int32_t> descendant_pids;  // parents first
};

struct VmSearch {
  std::vector<FoundVm> vms;  // by pid
  // Processes with memory that are in no VM's tree.
  std::vector<int32_t> other_pids;
  uint64_t unseen_count = 0;  // descriptors denied, and no program we know
};

// A monitor below another one is part of its VM: a device process of crosvm
// holds the descriptor too.
base::Result<VmSearch> find_vms(const Roots& roots);

}  // namespace tidemark::source
